// Package data holds the functions for lists and maps, and those that convert values.
package data

import (
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Collections are the functions for lists and maps.
var Collections = []call.Function{
	{Name: "length", Usage: "length(x)", Result: "int", Min: 1, Max: 1, Run: length,
		Doc: "The number of entries of a list or map, or of bytes of a text.", Example: `length([5, 6])`, Gives: `2`},
	{Name: "contains", Usage: "contains(x, value)", Result: "bool", Min: 2, Max: 2, Run: contains,
		Doc:     "Whether a list has an equal entry, a map has a key, or a text has a part.",
		Example: `contains(["a", "b"], "b")`, Gives: `true`},
	{Name: "index", Usage: "index(x, value)", Result: "int", Min: 2, Max: 2, Run: firstIndex,
		Doc: "The first position of an entry or of a part of a text, -1 if absent.", Example: `index("banana", "an")`, Gives: `1`},
	{Name: "lastindex", Usage: "lastindex(x, value)", Result: "int", Min: 2, Max: 2, Run: lastIndex,
		Doc: "The last position of an entry or of a part of a text, -1 if absent.", Example: `lastindex("banana", "an")`, Gives: `3`},
	{Name: "element", Usage: "element(x, index)", Result: "value", Min: 2, Max: 2, Keeps: true, Run: element,
		Doc:     "The entry of a list (integer or numeric text), or the field of a map.",
		Example: `element({"a"=1}, "a")`, Gives: `1`},
	{Name: "keys", Usage: "keys(map)", Result: "list", Min: 1, Max: 1, Run: keys,
		Doc: "The sorted keys of a map.", Example: `keys({"b"=1, "a"=2})`, Gives: `["a","b"]`},
	{Name: "compact", Usage: "compact(list)", Result: "list", Min: 1, Max: 1, Keeps: true, Run: compact,
		Doc:     "Leaves out nil and empty texts, lists and maps. 0 and false stay.",
		Example: `compact(["a", "", nil, 0])`, Gives: `["a",0]`},
	{Name: "uniq", Usage: "uniq(list)", Result: "list", Min: 1, Max: 1, Keeps: true, Run: uniq,
		Doc: "Leaves out entries that equal an earlier one.", Example: `uniq([1, 2, 1])`, Gives: `[1,2]`},
	{Name: "intersect", Usage: "intersect(list…)", Result: "list", Min: 0, Max: -1, Keeps: true, Run: intersect,
		Doc:     "The entries of the first list that all others have as well. Arguments that are nil are ignored.",
		Example: `intersect([1, 2, 3], [3, 1])`, Gives: `[1,3]`},
	{Name: "reverse", Usage: "reverse(list)", Result: "list", Min: 1, Max: 1, Keeps: true, Run: reverse,
		Doc: "A new list in reverse order.", Example: `reverse([1, 2])`, Gives: `[2,1]`},
	{Name: "list_to_map", Usage: "list_to_map(list [, key])", Result: "map", Min: 1, Max: 2, Keeps: true, Aware: true, Run: listToMap,
		Doc: "Makes a map of a list of maps. The key field is the argument, the one declared by a `key:` tag of the " +
			"list, or `name`; it is removed from the entries.",
		Example: `list_to_map([{"name"="a", "v"=1}])`, Gives: `{"a":{"v":1}}`},
	{Name: "makemap", Usage: "makemap(list) or makemap(key, value, …)", Result: "map", Min: 0, Max: -1, Keeps: true, Run: makeMap,
		Doc:     "Makes a map of pairs, or of a list of maps with the fields `key` and `value`.",
		Example: `makemap("a", 1)`, Gives: `{"a":1}`},
	{Name: "merge", Usage: "merge(map…) or merge(list)", Result: "map", Min: 1, Max: -1, Aware: true,
		Doc: "Processes the first map (or map template) as a template with the others as stubs; later ones win. " +
			"Names that are not found inside are looked up around the call.",
		Example: `merge({"a"=1, "b"=2}, {"a"=7, "c"=8})`, Gives: `{"a":7,"b":2}`},
	{Name: "deepmerge", Usage: "deepmerge(map…) or deepmerge(list)", Result: "map", Min: 1, Max: -1, Keeps: true, Run: deepMerge,
		Doc:     "Unites maps recursively; later ones win, lists are replaced.",
		Example: `deepmerge({"a"={"x"=1}}, {"a"={"y"=2}})`, Gives: `{"a":{"x":1,"y":2}}`},
}

func length(c *call.Call) (value.Value, error) {
	switch v := c.Args[0].(type) {
	case *value.List:
		return value.Int(len(v.Items)), nil
	case *value.Map:
		return value.Int(v.Len()), nil
	case value.String:
		return value.Int(len(v.Text)), nil
	case value.Bytes:
		return value.Int(len(v)), nil
	}
	return nil, c.Wrong(0, "a list, map or string")
}

func contains(c *call.Call) (value.Value, error) {
	if m, ok := c.Args[0].(*value.Map); ok {
		key, ok := c.Args[1].(value.String)
		return value.Bool(ok && m.Get(key.Text) != nil), nil
	}
	at, err := position(c, false)
	return value.Bool(at >= 0), err
}

func firstIndex(c *call.Call) (value.Value, error) {
	at, err := position(c, false)
	return value.Int(at), err
}

func lastIndex(c *call.Call) (value.Value, error) {
	at, err := position(c, true)
	return value.Int(at), err
}

// position finds a value in a list or a part in a text.
func position(c *call.Call, last bool) (int, error) {
	list, ok := c.Args[0].(*value.List)
	if !ok {
		return textPosition(c, last)
	}
	if value.IsNull(c.Args[1]) {
		return -1, nil
	}
	found := -1
	for i, n := range list.Items {
		if same, err := value.Equal(n.Value, c.Args[1]); err != nil || !same {
			continue
		}
		found = i
		if !last {
			break
		}
	}
	return found, nil
}

func textPosition(c *call.Call, last bool) (int, error) {
	s, err := c.Text(0)
	if err != nil {
		return -1, c.Wrong(0, "a list, map or string")
	}
	if value.IsNull(c.Args[1]) {
		return -1, nil
	}
	part, err := c.Simple(1)
	if err != nil {
		return -1, err
	}
	if last {
		return strings.LastIndex(s, part), nil
	}
	return strings.Index(s, part), nil
}

func element(c *call.Call) (value.Value, error) {
	if m, ok := c.Args[0].(*value.Map); ok {
		key, err := c.Text(1)
		if err != nil {
			return nil, err
		}
		if v := m.Field(key); v != nil {
			return v, nil
		}
		return nil, c.Failf("map has no field %s", c.Quote(key))
	}
	list, err := c.List(0)
	if err != nil {
		return nil, c.Wrong(0, "a list or map")
	}
	var i int64
	switch v := c.Args[1].(type) {
	case value.Int:
		i = int64(v)
	case value.String:
		if i, err = strconv.ParseInt(v.Text, 10, 64); err != nil {
			return nil, c.Wrong(1, "an integer or numeric text")
		}
	default:
		return nil, c.Wrong(1, "an integer or numeric text")
	}
	if i < 0 || i >= int64(len(list.Items)) {
		return nil, c.Failf("list of %d entries has no index %d", len(list.Items), i)
	}
	return list.Items[i].Value, nil
}

func keys(c *call.Call) (value.Value, error) {
	m, err := c.Map(0)
	if err != nil {
		return nil, err
	}
	return call.TextList(m.Keys), nil
}

// filterList keeps the entries that pass a test.
func filterList(l *value.List, keep func(value.Value) bool) *value.List {
	var items []*value.Node
	for _, n := range l.Items {
		if keep(n.Value) {
			items = append(items, n)
		}
	}
	return value.NewList(items)
}

func compact(c *call.Call) (value.Value, error) {
	l, err := c.List(0)
	if err != nil {
		return nil, err
	}
	return filterList(l, func(v value.Value) bool {
		switch v.(type) {
		case value.Int, value.Bool:
			return true
		}
		return value.Truth(v)
	}), nil
}

func uniq(c *call.Call) (value.Value, error) {
	l, err := c.List(0)
	if err != nil {
		return nil, err
	}
	seen := newSet()
	result := filterList(l, func(v value.Value) bool {
		if seen.has(v) {
			return false
		}
		seen.add(v)
		return true
	})
	return result, nil
}

// set finds equal values. Texts and integers are found without a walk as long
// as no other kind of value is in the set.
type set struct {
	texts  map[string]bool
	ints   map[value.Int]bool
	values []value.Value
	others bool // values that are neither text nor integer
}

func newSet() *set {
	return &set{texts: map[string]bool{}, ints: map[value.Int]bool{}}
}

func (s *set) add(v value.Value) {
	switch v := v.(type) {
	case value.String:
		s.texts[v.Text] = true
	case value.Int:
		s.ints[v] = true
	default:
		s.others = true
	}
	s.values = append(s.values, v)
}

func (s *set) has(v value.Value) bool {
	switch v := v.(type) {
	case value.String:
		if s.texts[v.Text] || !s.others && len(s.ints) == 0 {
			return s.texts[v.Text]
		}
	case value.Int:
		if s.ints[v] || !s.others && len(s.texts) == 0 {
			return s.ints[v]
		}
	}
	for _, other := range s.values {
		if same, err := value.Equal(v, other); err == nil && same {
			return true
		}
	}
	return false
}

func intersect(c *call.Call) (value.Value, error) {
	var lists []*value.List
	for i, a := range c.Args {
		if value.IsNull(a) {
			continue
		}
		l, err := c.List(i)
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	if len(lists) == 0 {
		return value.NewList(nil), nil
	}
	result := lists[0]
	for _, l := range lists[1:] {
		other := newSet()
		for _, n := range l.Items {
			other.add(n.Value)
		}
		result = filterList(result, other.has)
	}
	return result, nil
}

func reverse(c *call.Call) (value.Value, error) {
	l, err := c.List(0)
	if err != nil {
		return nil, err
	}
	items := make([]*value.Node, len(l.Items))
	for i, n := range l.Items {
		items[len(items)-1-i] = n
	}
	return value.NewList(items), nil
}
