package value_test

import (
	"math"
	"slices"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/test/language"
)

func TestShape(t *testing.T) {
	flagged := value.New(value.Int(1))
	flagged.Flags = value.Temporary
	open := value.New(nil)
	open.Work = "unfinished"
	tests := []struct {
		reason string
		v      value.Value
		want   value.Shape
	}{
		{"a number", value.Int(5), value.Shape{Size: 1}},
		{"a text has its bytes", value.Text("ä"), value.Shape{Size: 1, Bytes: 2}},
		{"a text with brackets may be an expression", value.Text("a (( b"), value.Shape{Size: 1, Bytes: 6, Active: true}},
		{"a text from outside never is", value.Data("(( b ))"), value.Shape{Size: 1, Bytes: 7, Data: true}},
		{"binary content is never an expression", value.Bytes("(( b ))"), value.Shape{Size: 1, Bytes: 7}},
		{"what prints as text has the shape of that", lambda("a"), value.Shape{Size: 3, Bytes: 7}},
		{"an empty list is one level", list(), value.Shape{Size: 1, Depth: 1}},
		{"lists in lists", list(list(value.Int(1)), value.Int(2)), value.Shape{Size: 4, Depth: 2}},
		{"keys have bytes", fields("ab", value.Text("c")), value.Shape{Size: 2, Bytes: 3, Depth: 1}},
		{"an insert key is something to evaluate", fields("<<", value.Int(1)), value.Shape{Size: 2, Bytes: 2, Depth: 1, Active: true}},
		{"a control is active", fields("a", value.Int(1), "<<if", value.Int(1), "z", value.Int(1)), value.Shape{Size: 4, Bytes: 6, Depth: 1, Active: true}},
		{"the tag of a key field is active", fields("key:id", value.Int(1)), value.Shape{Size: 2, Bytes: 6, Depth: 1, Active: true}},
		{"a key that only begins like one is not", fields("<", value.Int(1), "key", value.Int(1)), value.Shape{Size: 3, Bytes: 4, Depth: 1}},
		{"in a map from outside such keys mean nothing", value.MarkData(fields("<<", value.Text("(( a ))"))),
			value.Shape{Size: 2, Bytes: 9, Depth: 1, Data: true}},
		{"one marker marks the tree", list(value.NewList([]*value.Node{flagged})), value.Shape{Size: 3, Depth: 2, Marked: true}},
		{"one unfinished node opens the tree", list(value.NewList([]*value.Node{open})), value.Shape{Size: 3, Depth: 2, Open: true}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := value.ShapeOf(test.v); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if got := value.IsOpen(test.v); got != test.want.Open {
				t.Errorf("open is %t", got)
			}
		})
	}
}

// TestShapeDoesNotOverflow shares a list so often that its size has no number.
func TestShapeDoesNotOverflow(t *testing.T) {
	v := list(value.Text("0123456789"), value.Int(1))
	for range 80 {
		v = list(v, v, v, v)
	}
	shape := value.ShapeOf(v)
	if shape.Size < math.MaxInt64/4 || shape.Bytes < math.MaxInt64/4 || shape.Depth != 81 {
		t.Errorf("%+v", shape)
	}
}

func TestBuilder(t *testing.T) {
	b := value.NewBuilder(0)
	b.SetValue("b", value.Int(1))
	b.SetValue("a", value.Int(2))
	b.SetValue("b", value.Int(3))
	b.SetValue("gone", value.Int(4))
	b.Delete("gone")
	b.Delete("never there")
	m := b.Map()
	if !slices.Equal(m.Keys, []string{"a", "b"}) || m.Field("b") != value.Int(3) || m.Data {
		t.Errorf("keys %v, b %v, data %t", m.Keys, m.Field("b"), m.Data)
	}
	if m.Get("c") != nil || m.Field("c") != nil || m.Get("") != nil {
		t.Error("a field that is not there is found")
	}
	b.AddAll(value.MarkData(fields("c", value.Int(5))).(*value.Map))
	if all := b.Map(); all.Len() != 3 || !all.Data || m.Len() != 2 {
		t.Errorf("after adding fields from outside: %v, data %t; the map before: %v", all.Keys, all.Data, m.Keys)
	}
}

// TestMapsFindTheirKeys looks every key up, and some between them.
func TestMapsFindTheirKeys(t *testing.T) {
	b := value.NewBuilder(0)
	texts := language.Texts(300)
	for i, key := range texts {
		b.SetValue(key, value.Int(i))
	}
	m := b.Map()
	if !slices.IsSorted(m.Keys) {
		t.Fatal("the keys are not sorted")
	}
	last := map[string]value.Value{}
	for i, key := range texts {
		last[key] = value.Int(i)
	}
	for key, want := range last {
		if got := m.Field(key); got != want {
			t.Errorf("%q is %v, want %v", key, got, want)
		}
		if _, there := last[key+"!?"]; !there && m.Get(key+"!?") != nil {
			t.Errorf("%q is found", key+"!?")
		}
	}
}

func TestMarkData(t *testing.T) {
	inner := value.ListOf(value.Text("(( a ))"))
	inner.Key = "id"
	node := &value.Node{Value: inner, Line: 7, Flags: value.State}
	m := value.NewMap([]string{"<<"}, []*value.Node{node}, false)
	marked := value.MarkData(m).(*value.Map)
	if shape := marked.Shape; !shape.Data || shape.Active || !marked.Data {
		t.Errorf("%+v, data %t", shape, marked.Data)
	}
	got := marked.Get("<<")
	if got.Line != 7 || got.Flags != value.State || got.Value.(*value.List).Key != "id" {
		t.Errorf("line, marker or key field are lost: %+v", got)
	}
	if m.Shape.Data || !m.Shape.Active || inner.Shape.Data {
		t.Error("the value itself is changed")
	}
	for _, v := range []value.Value{value.Null{}, value.Int(1), value.Float(1), value.Bool(true), lambda("a")} {
		if value.MarkData(v) != v {
			t.Errorf("%s is changed", name(v))
		}
	}
}

func TestPairs(t *testing.T) {
	undefined := value.Undefined{}
	tests := []struct {
		reason string
		v      value.Value
		want   []value.Value
	}{
		{"entries by position", list(value.Text("a"), value.Text("b")), []value.Value{value.Int(0), value.Int(1)}},
		{"what is undefined is left out, the others keep their position", list(undefined, value.Text("b")), []value.Value{value.Int(1)}},
		{"fields by key", fields("a", value.Int(1), "b", undefined, "c", value.Null{}), []value.Value{value.Text("a"), value.Text("c")}},
		{"keys from outside are data", value.MarkData(fields("a", value.Int(1))), []value.Value{value.Data("a")}},
		{"a text has no elements", value.Text("abc"), nil},
		{"nil has no elements", value.Null{}, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var got []value.Value
			for _, p := range value.PairsOf(test.v) {
				got = append(got, p.Key)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestDropFlagged(t *testing.T) {
	node := func(v value.Value, flags value.Flags) *value.Node { return &value.Node{Value: v, Flags: flags} }
	inner := value.NewList([]*value.Node{node(value.Int(1), value.Temporary), node(value.Int(2), value.State), node(value.Int(3), 0)})
	inner.Key = "id"
	whole := value.NewMap([]string{"a", "b", "c"}, []*value.Node{node(inner, 0), node(value.Int(4), value.Local), node(value.Int(5), 0)}, true)
	tests := []struct {
		reason string
		flags  value.Flags
		want   value.Value
	}{
		{"on every level", value.Temporary, fields("a", list(value.Int(2), value.Int(3)), "b", value.Int(4), "c", value.Int(5))},
		{"one of several is enough", value.Temporary | value.Local, fields("a", list(value.Int(2), value.Int(3)), "c", value.Int(5))},
		{"no flag drops nothing", 0, whole},
		{"a flag that no entry has drops nothing", value.Dynamic, whole},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := value.DropFlagged(whole, test.flags)
			if !value.Identical(got, test.want) {
				t.Errorf("%v keys are left", got.(*value.Map).Keys)
			}
			if m := got.(*value.Map); !m.Data || m.Field("a").(*value.List).Key != "id" {
				t.Error("the data mark or the key field is lost")
			}
		})
	}
	if whole.Len() != 3 || len(inner.Items) != 3 {
		t.Error("the value itself is changed")
	}
}

func TestFlags(t *testing.T) {
	both := value.Temporary | value.State
	if !both.Has(value.State) || !both.Has(both) || value.State.Has(both) || !both.Has(0) {
		t.Error("Has asks for all flags")
	}
	if !both.Any(value.State|value.Local) || both.Any(value.Local) || both.Any(0) {
		t.Error("Any asks for one of the flags")
	}
}
