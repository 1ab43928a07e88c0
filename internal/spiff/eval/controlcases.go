package eval

import (
	"sort"
	"strings"

	"go.landscaper.dev/internal/spiff/value"
)

// caseEntry is one entry of <<cases.
type caseEntry struct {
	match, is, result *value.Node
}

// caseList finds the first entry of <<cases that fits.
func (c *control) caseList(v value.Value) (value.Value, error) {
	if len(c.names) > 0 {
		return nil, fail("control <<switch with <<cases cannot have regular fields such as %q", c.names[0])
	}
	entries, err := c.caseEntries()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		fits, err := c.fits(entry, v)
		if err != nil {
			return nil, err
		}
		if fits {
			return c.settleBranch(entry.result)
		}
	}
	return c.fallback(v)
}

// caseEntries reads <<cases. Entries written in place are placed field by
// field, so that only what is needed is evaluated.
func (c *control) caseEntries() ([]caseEntry, error) {
	list, ok := c.options["cases"].Value.(*value.List)
	if !ok {
		v, err := c.operand("cases")
		if err != nil {
			return nil, err
		}
		if list, ok = v.(*value.List); !ok {
			return nil, fail("<<cases must be a list, not %s", value.A(v))
		}
	}
	entries := make([]caseEntry, len(list.Items))
	for i, item := range list.Items {
		m, ok := item.Value.(*value.Map)
		if !ok {
			return nil, fail("case %d must be a map, not %s", i, value.A(item.Value))
		}
		for k, key := range m.Keys {
			n := c.branch(m.Items[k])
			switch key {
			case "case":
				entries[i].is = n
			case "match":
				entries[i].match = n
			case "value":
				entries[i].result = n
			default:
				return nil, fail("case %d has the unknown field %q, known are case, match and value", i, key)
			}
		}
		if entries[i].is == nil && entries[i].match == nil {
			return nil, fail("case %d requires the field case or match", i)
		}
	}
	return entries, nil
}

func (c *control) fits(entry caseEntry, v value.Value) (bool, error) {
	if entry.is != nil {
		want, err := c.settleBranch(entry.is)
		if err != nil {
			return false, err
		}
		if value.Identical(want, v) {
			return true, nil
		}
	}
	if entry.match == nil {
		return false, nil
	}
	match, err := c.settleBranch(entry.match)
	if err != nil {
		return false, err
	}
	l, ok := match.(*lambda)
	if !ok {
		return value.Truth(match), nil
	}
	e := &env{run: c.run, doc: c.level.doc, scope: c.level.scope, site: &site{node: c.node, task: c.task}}
	result, err := e.apply1(l, []*value.Node{value.New(v)})
	return value.Truth(result), err
}

// loop is one range of a for control.
type loop struct {
	name, index string
	pairs       []pair
}

// forEach evaluates the body for every combination of the ranges.
func (c *control) forEach() (value.Value, error) {
	v, err := c.operand("for")
	if err != nil {
		return nil, err
	}
	body, ok := c.options["do"]
	if !ok {
		return nil, fail("control <<for needs the option <<do")
	}
	loops, err := c.loops(v)
	if err != nil {
		return nil, err
	}
	total := 1
	for _, l := range loops {
		if n := len(l.pairs); n > 0 && total > int(c.Limits.List)/n {
			return nil, fail("list is longer than %d entries", c.Limits.List)
		}
		total *= len(l.pairs)
	}
	if err := c.elements(total); err != nil {
		return nil, err
	}
	f := &forLoop{control: c, loops: loops, body: body.Value, fields: value.NewBuilder(total)}
	if key, ok := c.options["mapkey"]; ok {
		f.mapkey = key.Value
	}
	if err := f.iterate(0, c.level.scope); err != nil {
		return nil, err
	}
	if f.mapkey != nil {
		return c.bounded(f.fields.Map())
	}
	return c.bounded(value.NewList(f.items))
}

func (c *control) loops(v value.Value) ([]loop, error) {
	switch ranges := v.(type) {
	case *value.Map:
		return mapLoops(ranges)
	case *value.List:
		return listLoops(ranges)
	case value.Null, value.Undefined:
		return nil, nil
	}
	return nil, fail("<<for needs a map or list of ranges, not %s", value.A(v))
}

// mapLoops reads "name" or "index,name" as keys, in the order of the names.
func mapLoops(ranges *value.Map) ([]loop, error) {
	var loops []loop
	for i, key := range ranges.Keys {
		index, name, ok := strings.Cut(key, ",")
		if !ok {
			name, index = key, ""
		}
		l, err := newLoop(strings.TrimSpace(name), strings.TrimSpace(index), ranges.Items[i].Value)
		if err != nil {
			return nil, err
		}
		loops = append(loops, l)
	}
	sort.SliceStable(loops, func(i, j int) bool {
		if loops[i].name != loops[j].name {
			return loops[i].name < loops[j].name
		}
		return loops[i].index < loops[j].index
	})
	return loops, nil
}

func listLoops(ranges *value.List) ([]loop, error) {
	var loops []loop
	for i, n := range ranges.Items {
		m, ok := n.Value.(*value.Map)
		if !ok {
			return nil, fail("range %d of <<for must be a map, not %s", i, value.A(n.Value))
		}
		name, ok := m.Field("name").(value.String)
		if !ok {
			return nil, fail("range %d of <<for needs the field name", i)
		}
		index, _ := m.Field("index").(value.String)
		l, err := newLoop(name.Text, index.Text, m.Field("values"))
		if err != nil {
			return nil, err
		}
		loops = append(loops, l)
	}
	return loops, nil
}

func newLoop(name, index string, values value.Value) (loop, error) {
	switch values.(type) {
	case *value.List, *value.Map:
	default:
		return loop{}, fail("range %q of <<for must be a list or map, not %s", name, value.A(values))
	}
	if index == "" {
		index = "index-" + name
	}
	return loop{name: name, index: index, pairs: pairsOf(values)}, nil
}

// forLoop runs over all combinations.
type forLoop struct {
	*control
	loops        []loop
	body, mapkey value.Value
	items        []*value.Node
	fields       *value.Builder
}

func (f *forLoop) iterate(level int, s *scope) error {
	if level == len(f.loops) {
		return f.once(s)
	}
	l := f.loops[level]
	for _, p := range l.pairs {
		inner := s.push([]local{{l.name, p.node}, {l.index, value.New(p.key)}})
		if err := f.iterate(level+1, inner); err != nil {
			return err
		}
	}
	return nil
}

// once evaluates key and body of one combination.
func (f *forLoop) once(s *scope) error {
	level := f.level
	level.scope = s
	key := value.String{}
	if f.mapkey != nil {
		k, err := f.content(f.mapkey, level)
		if err != nil || value.IsUndefined(k) || value.IsNull(k) {
			return err
		}
		var ok bool
		if key, ok = k.(value.String); !ok {
			return fail("<<mapkey must be a string, not %s", value.A(k))
		}
		level.path = level.path.field(key.Text)
	} else {
		level.path = level.path.entry(len(f.items), "")
	}
	v, err := f.content(f.body, level)
	if err != nil || value.IsUndefined(v) {
		return err
	}
	if f.mapkey != nil {
		f.fields.Data = f.fields.Data || key.Data
		f.fields.SetValue(key.Text, v)
		return nil
	}
	f.items = append(f.items, value.New(v))
	return nil
}
