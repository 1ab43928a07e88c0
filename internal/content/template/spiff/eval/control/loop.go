package control

import (
	"sort"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// loop is one range of a for control.
type loop struct {
	name, index string
	pairs       []value.Pair
}

// forEach evaluates the body for every combination of the ranges.
func (c *control) forEach() (value.Value, error) {
	v, err := c.operand("for")
	if err != nil {
		return nil, err
	}
	body, ok := c.options["do"]
	if !ok {
		return nil, outcome.Fail("control <<for needs the option <<do")
	}
	loops, err := c.loops(v)
	if err != nil {
		return nil, err
	}
	f := &forLoop{control: c, loops: loops, body: body.Value, fields: value.NewBuilder(0)}
	if key, ok := c.options["mapkey"]; ok {
		f.mapkey = key.Value
	}
	if err := f.iterate(0, c.Level.Scope); err != nil {
		return nil, err
	}
	if f.mapkey != nil {
		return f.fields.Map(), nil
	}
	return value.NewList(f.items), nil
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
	return nil, outcome.Fail("<<for needs a map or list of ranges, not %s", value.A(v))
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
			return nil, outcome.Fail("range %d of <<for must be a map, not %s", i, value.A(n.Value))
		}
		name, ok := m.Field("name").(value.String)
		if !ok {
			return nil, outcome.Fail("range %d of <<for needs the field name", i)
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
		return loop{}, outcome.Fail("range %q of <<for must be a list or map, not %s", name, value.A(values))
	}
	if index == "" {
		index = "index-" + name
	}
	return loop{name: name, index: index, pairs: value.PairsOf(values)}, nil
}

// forLoop runs over all combinations.
type forLoop struct {
	*control
	loops        []loop
	body, mapkey value.Value
	items        []*value.Node
	fields       *value.Builder
}

func (f *forLoop) iterate(level int, s *scope.Level) error {
	if level == len(f.loops) {
		return f.once(s)
	}
	l := f.loops[level]
	for _, p := range l.pairs {
		inner := s.Push([]scope.Local{{Name: l.name, Node: p.Node}, {Name: l.index, Node: value.New(p.Key)}})
		if err := f.iterate(level+1, inner); err != nil {
			return err
		}
	}
	return nil
}

// once evaluates key and body of one combination.
func (f *forLoop) once(s *scope.Level) error {
	level := f.Level
	level.Scope = s
	key := value.String{}
	if f.mapkey != nil {
		k, err := f.Content(f.mapkey, level)
		if err != nil || value.IsUndefined(k) || value.IsNull(k) {
			return err
		}
		var ok bool
		if key, ok = k.(value.String); !ok {
			return outcome.Fail("<<mapkey must be a string, not %s", value.A(k))
		}
		level.Path = level.Path.Field(key.Text)
	} else {
		level.Path = level.Path.Entry(len(f.items), "")
	}
	v, err := f.Content(f.body, level)
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
