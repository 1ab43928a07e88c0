package data_test

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

func TestLength(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"bytes of a text", `length("ä")`, `2`},
		{"nothing", `length("") length([]) length({})`, `"000"`},
		{"nil is an entry", `length([nil])`, `1`},
		{"an undefined field does not count", `length({"a"=1, "b"=2})`, `2`},
		{"a lambda is an entry", `length([|x|->x])`, `1`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a number has none", `length(12)`, "argument 1 must be a list, map or string, but is int"},
		{"nil has none", `length(nil)`, "but is nil"},
		{"a lambda has none", `length(|x|->x)`, "but is lambda"},
	})
}

func TestContains(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"an equal entry", `contains([1, "a"], 1)`, `true`},
		{"the entry decides how it is compared", `contains(["1"], 1)`, `true`},
		{"an entry of another type", `contains([[1]], 1)`, `false`},
		{"entries that cannot be compared are passed over", `contains(["a", [1]], [1])`, `true`},
		{"nil is never found", `contains([nil], nil)`, `false`},
		{"a key", `contains({"a"=nil}, "a")`, `true`},
		{"a value is not a key", `contains({"a"="b"}, "b")`, `false`},
		{"a number is not a key", `contains({"1"=1}, 1)`, `false`},
		{"nil is not a key", `contains({}, nil)`, `false`},
		{"a part of a text", `contains("harbour", "bo")`, `true`},
		{"the empty part", `contains("", "")`, `true`},
		{"the text of a number", `contains("a12", 12)`, `true`},
		{"the text of a boolean", `contains("untrue", true)`, `true`},
		{"nil is in no text", `contains("nil", nil)`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a number contains nothing", `contains(12, 1)`, "argument 1 must be a list, map or string"},
		{"nil contains nothing", `contains(nil, 1)`, "argument 1 must be a list, map or string"},
		{"a list is no part of a text", `contains("a", ["a"])`, "argument 2 must be a string, integer or boolean"},
	})
}

func TestIndex(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"the first of several", `index([1, 2, 1], 1)`, `0`},
		{"the last of several", `lastindex([1, 2, 1], 1)`, `2`},
		{"absent", `index([1], 2)`, `-1`},
		{"absent in nothing", `lastindex([], 2)`, `-1`},
		{"nil is absent", `index([nil], nil)`, `-1`},
		{"a position in a text counts bytes", `index("äb", "b")`, `2`},
		{"the last in a text", `lastindex("abab", "ab")`, `2`},
		{"what overlaps", `lastindex("aaa", "aa")`, `1`},
		{"the result is a number to compute with", `index(["a", "b"], "b") + 1`, `2`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a map has no order", `index({"a"=1}, "a")`, "argument 1 must be a list, map or string"},
		{"a float is no part of a text", `index("1.5", 1.5)`, "argument 2 must be a string, integer or boolean"},
	})
}

func TestElement(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"by position", `element(["a", "b"], 1)`, `b`},
		{"by position as text", `element(["a", "b"], "0")`, `a`},
		{"by key", `element({"a b"=1}, "a b")`, `1`},
		{"a field that is nil", `element({"a"=nil}, "a")`, `~`},
		{"what is nested stays whole", `element([{"a"=[1]}], 0).a[0]`, `1`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"behind the end", `element([1], 1)`, "list of 1 entries has no index 1"},
		{"positions do not count from the end", `element([1], -1)`, "has no index -1"},
		{"positions as texts do not count from the end", `element([1], "-1")`, "has no index -1"},
		{"a position that is not a number", `element([1], "x")`, "argument 2 must be an integer or numeric text"},
		{"a float is no position", `element([1], 0.0)`, "argument 2 must be an integer or numeric text"},
		{"a key that is missing", `element({}, "a")`, `map has no field "a"`},
		{"a number is not a key", `element({"1"=1}, 1)`, "argument 2 must be a string"},
		{"nil has no elements", `element(nil, 1)`, "argument 1 must be a list or map"},
		{"nil is no position", `element([1], nil)`, "argument 2 must be"},
		{"a text has no elements", `element("abc", 1)`, "argument 1 must be a list or map"},
	})
}

func TestLists(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"keys in the order of their bytes", `keys({"b"=1, "ä"=1, "B"=1, ""=1})`, `["", B, b, ä]`},
		{"no keys", `keys({})`, `[]`},
		{"compact drops what is empty", `compact([nil, "", [], {}, "a"])`, `[a]`},
		{"compact keeps 0 and false", `compact([0, 0.0, false])`, `[0, 0.0, false]`},
		{"compact looks at the top only", `compact([[nil]])`, `[[~]]`},
		{"uniq keeps the first", `uniq([2, 1, 2, 1])`, `[2, 1]`},
		{"uniq across types: the later one decides", `uniq([7, "7", "07"])`, `[7, "07"]`},
		{"uniq across types, the other way", `uniq(["07", 7])`, `["07"]`},
		{"uniq of numbers by value", `uniq([1, 1.0, 1.5])`, `[1, 1.5]`},
		{"uniq of lists and maps", `uniq([[1], [1], {"a"=1}, {"a"=1}])`, `[[1], {a: 1}]`},
		{"uniq of nil", `uniq([nil, nil])`, `[~]`},
		{"uniq of booleans and texts", `uniq([true, "true", "TRUE"])`, `[true, "TRUE"]`},
		{"intersect keeps the order of the first", `intersect([3, 1, 2], [1, 3])`, `[3, 1]`},
		{"intersect keeps what is double in the first", `intersect([1, 1], [1])`, `[1, 1]`},
		{"intersect of three", `intersect([1, 2, 3], [2, 3], [3, 4])`, `[3]`},
		{"intersect passes nil over", `intersect(nil, [1, 2], nil, [2])`, `[2]`},
		{"intersect of nothing", `intersect()`, `[]`},
		{"intersect of nil only", `intersect(nil)`, `[]`},
		{"intersect of one", `intersect([1])`, `[1]`},
		{"intersect of maps", `intersect([{"a"=1}, {"a"=2}], [{"a"=2}])`, `[{a: 2}]`},
		{"reverse of nothing", `reverse([])`, `[]`},
		{"reverse is its own opposite", `reverse(reverse([1, [2], nil]))`, `[1, [2], ~]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"keys of a list", `keys([])`, "argument 1 must be a map"},
		{"compact of a map", `compact({})`, "argument 1 must be a list"},
		{"uniq of nil", `uniq(nil)`, "argument 1 must be a list"},
		{"intersect with a text", `intersect([1], "1")`, "argument 2 must be a list"},
		{"reverse of a text", `reverse("abc")`, "argument 1 must be a list"},
	})
}

func TestSort(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"texts by bytes", `sort(["b", "ä", "B", ""])`, `["", B, b, ä]`},
		{"integers by value", `sort([10, -1, 9])`, `[-1, 9, 10]`},
		{"nothing", `sort([])`, `[]`},
		{"a list of one element of any kind needs no order", `sort([nil], |a,b|->error("no"))`, `[~]`},
		{"a lambda that gives a boolean", `sort([1, 3, 2], |a,b|->a > b)`, `[3, 2, 1]`},
		{"a lambda that gives a number", `sort([1, 3, 2], |a,b|->b - a)`, `[3, 2, 1]`},
		{"equal entries keep their order", `sort([[1, "a"], [0, "b"], [1, "c"], [0, "d"]], |a,b|->a[0] < b[0])`, `[[0, b], [0, d], [1, a], [1, c]]`},
		{"a lambda that contradicts itself ends as well", `length(sort([1..50], |a,b|->true))`, `50`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"mixed types need a lambda", `sort([1, "a"])`, "all entries must be strings, or all integers"},
		{"floats need a lambda", `sort([1.5, 2.5])`, "all entries must be strings, or all integers"},
		{"nil needs a lambda", `sort([nil])`, "all entries must be strings, or all integers"},
		{"the failure of a lambda", `sort([1, 2], |a,b|->error("no"))`, "no"},
		{"a lambda that gives a text", `sort([1, 2], |a,b|->"x")`, "lambda must give a bool or an integer, not a string"},
		{"a lambda with one parameter", `sort([1, 2], |a|->true)`, "too many arguments"},
		{"no lambda", `sort([1, 2], "desc")`, "argument 2 must be a lambda"},
		{"a map", `sort({})`, "argument 1 must be a list"},
	})
}

func TestMaps(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"the key field leaves the entries", `list_to_map([{"name"="a", "v"=1}, {"name"="b"}])`, `{a: {v: 1}, b: {}}`},
		{"another key field", `list_to_map([{"id"="a", "name"="x"}], "id")`, `{a: {name: x}}`},
		{"the last of two with a key", `list_to_map([{"name"="a", "v"=1}, {"name"="a", "v"=2}])`, `{a: {v: 2}}`},
		{"no entries", `list_to_map([])`, `{}`},
		{"an empty key", `list_to_map([{"name"=""}])`, `{"": {}}`},
		{"pairs", `makemap("a", 1, "b", [2])`, `{a: 1, b: [2]}`},
		{"pairs with keys of any simple kind", `makemap(1, "a", true, "b")`, `{"1": a, "true": b}`},
		{"no pairs", `makemap()`, `{}`},
		{"a list of pairs", `makemap([{"key"=1, "value"=nil}, {"key"="b", "value"=2}])`, `{"1": ~, b: 2}`},
		{"an empty list of pairs", `makemap([])`, `{}`},
		{"deepmerge goes into maps", `deepmerge({"a"={"x"=1, "y"=1}}, {"a"={"y"=2, "z"=3}})`, `{a: {x: 1, "y": 2, z: 3}}`},
		{"deepmerge replaces lists", `deepmerge({"a"=[1, 2]}, {"a"=[3]})`, `{a: [3]}`},
		{"deepmerge replaces a map by nil", `deepmerge({"a"={"x"=1}}, {"a"=nil})`, `{a: ~}`},
		{"deepmerge replaces a text by a map", `deepmerge({"a"="x"}, {"a"={}})`, `{a: {}}`},
		{"deepmerge of a list of maps", `deepmerge([{"a"=1}, {"a"=2}, {"b"=3}])`, `{a: 2, b: 3}`},
		{"deepmerge of nothing", `deepmerge([])`, `{}`},
		{"deepmerge of one", `deepmerge({"a"=1})`, `{a: 1}`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"an entry that is not a map", `list_to_map([1])`, "entry 0 must be a map, not an int"},
		{"an entry without the key field", `list_to_map([{"name"="a"}, {"v"=1}])`, `entry 1 has no string in its key field "name"`},
		{"a key that is a number", `list_to_map([{"name"=1}])`, "entry 0 has no string in its key field"},
		{"a key field that is a number", `list_to_map([], 1)`, "argument 2 must be a string"},
		{"a map is not a list", `list_to_map({})`, "argument 1 must be a list"},
		{"a key without a value", `makemap("a", 1, "b")`, "keys and values must come in pairs"},
		{"a list as key", `makemap([], 1)`, "keys must be simple values, not a list"},
		{"nil as key", `makemap(nil, 1)`, "keys must be simple values, not nil"},
		{"a float as key", `makemap(1.5, 1)`, "keys must be simple values, not a float"},
		{"a pair without a value", `makemap([{"key"="a"}])`, "entry 0 must be a map with the fields key and value"},
		{"an invalid pair", `makemap(["a"])`, "entry 0 must be a map with the fields key and value"},
		{"a single argument must be a list", `makemap("a")`, "argument 1 must be a list"},
		{"deepmerge with a list", `deepmerge({}, [])`, "argument 2 must be a map, not a list"},
		{"deepmerge with nil", `deepmerge(nil)`, "argument 1 must be a map, not nil"},
	})
}

// TestFunctionsLeaveTheirArguments evaluates an argument again after every call.
func TestFunctionsLeaveTheirArguments(t *testing.T) {
	for _, call := range []string{`sort(l)`, `reverse(l)`, `uniq(l)`, `compact(l)`, `intersect(l, [1])`, `l [9]`, `deepmerge(m, {"b"={"c"=9}})`,
		`merge(m, {"a"=9})`, `m {"a"=9}`, `list_to_map(n)`, `makemap("l", l)`, `element(m, "b")`, `map[l|x|->x + 1]`, `sort(l, |a,b|->b < a)`} {
		t.Run(call, func(t *testing.T) {
			document := "l: [3, 1, 2, 1]\nm: {a: 1, b: {c: 2}}\nn: [{name: x, v: 1}]\nr: (( &temporary (" + call + ") ))\n"
			language.Language{}.Renders(t, []language.Row{{"unchanged", document, `{l: [3, 1, 2, 1], m: {a: 1, b: {c: 2}}, n: [{name: x, v: 1}]}`}})
		})
	}
}

// TestListProperties holds what is true of any list, with entries of many kinds.
func TestListProperties(t *testing.T) {
	kinds := []string{`1`, `2`, `-1`, `1.5`, `"1"`, `"a"`, `""`, `nil`, `true`, `[]`, `[1]`, `{}`, `{"a"=1}`, `"true"`}
	properties := []struct{ reason, expression string }{
		{"a list without doubles has no more of them", `uniq(uniq(l)) == uniq(l)`},
		{"what is common with itself is all", `intersect(l, l) == l`},
		{"the order of other lists does not count", `intersect(l, reverse(l)) == l`},
		{"reversed twice it is the same", `reverse(reverse(l)) == l`},
		{"compact leaves nothing to drop", `compact(compact(l)) == compact(l)`},
		{"a part is found where it is", `length(filter[map[l|i,x|->i]|i|->l[i] != nil -and index(l, l[i]) > i]) == 0`},
		{"the last position is not before the first", `length(filter[l|x|->lastindex(l, x) < index(l, x)]) == 0`},
		{"the entries of a slice are those of the list", `(l[0..1] l[2..]) == l`},
	}
	random := language.Random()
	for range 40 {
		entries := make([]string, 3+random.IntN(6))
		for i := range entries {
			entries[i] = kinds[random.IntN(len(kinds))]
		}
		list := "[" + strings.Join(entries, ", ") + "]"
		for _, p := range properties {
			t.Run(p.reason+": "+list, func(t *testing.T) {
				if got, err := (language.Language{}).Process(t, "( $l="+list+" ) "+p.expression); got != true || err != nil {
					t.Errorf("%s is %v, %v", p.expression, got, err)
				}
			})
		}
	}
}

// TestKeysOfAnyKind makes maps of keys that mean something elsewhere.
func TestKeysOfAnyKind(t *testing.T) {
	for _, key := range language.Texts(60) {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			quoted := syntax.Quote(key)
			language.Language{}.Gives(t, []language.Row{
				{"a quoted key is contained", `contains(makemap(` + quoted + `, 1), ` + quoted + `)`, `true`},
				{"a quoted key is found", `element(makemap(` + quoted + `, 7), ` + quoted + `)`, `7`},
				{"a quoted key is an index", `makemap(` + quoted + `, 7)[` + quoted + `]`, `7`},
				{"a quoted key is merged with itself", `keys(deepmerge(makemap(` + quoted + `, 1), {` + quoted + `=2})) == [` + quoted + `]`, `true`},
			})
		})
	}
}
