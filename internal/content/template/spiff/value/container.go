package value

import (
	"math"
	"slices"
	"sort"
	"strings"
)

// Shape sums up the content of a list or map, so that questions about whole
// trees need no walk.
type Shape struct {
	// Size counts the nodes of the tree, shared parts as often as they occur.
	Size int64
	// Bytes is the length of all texts and keys.
	Bytes int64
	// Depth is the number of levels.
	Depth int32
	// Active is set if the tree may hold something to evaluate: text with
	// brackets, insert keys, key tags.
	Active bool
	// Data is set if the tree holds text from outside.
	Data bool
	// Marked is set if a node of the tree has a marker.
	Marked bool
	// Open is set while the tree holds unfinished nodes.
	Open bool
}

// List is an immutable list. Key is the key field declared for its entries.
type List struct {
	Items []*Node
	Key   string
	Shape Shape
}

// Map is an immutable map. Its keys are sorted bytewise. Data marks maps whose
// keys came from outside: they have no insert keys.
type Map struct {
	Keys  []string
	Items []*Node
	Data  bool
	Shape Shape
}

// NewList makes a list of the given nodes.
func NewList(items []*Node) *List {
	l := &List{Items: items}
	l.Shape = shapeOf(items)
	return l
}

// ListOf makes a list of values.
func ListOf(values ...Value) *List { return NewList(Nodes(values...)) }

// NewMap makes a map of parallel keys and nodes, which must be sorted by key
// and free of duplicates.
func NewMap(keys []string, items []*Node, data bool) *Map {
	m := &Map{Keys: keys, Items: items, Data: data}
	m.Shape = shapeOf(items)
	m.Shape.Data = m.Shape.Data || data
	for _, k := range keys {
		m.Shape.Bytes = saturated(m.Shape.Bytes, int64(len(k)))
	}
	if !data && !m.Shape.Active {
		m.Shape.Active = activeKeys(keys)
	}
	return m
}

// activeKeys finds insert keys, controls, escaped ones and key tags.
func activeKeys(keys []string) bool {
	for _, prefix := range []string{"<<", KeyTag} {
		i := sort.SearchStrings(keys, prefix)
		if i < len(keys) && strings.HasPrefix(keys[i], prefix) {
			return true
		}
	}
	return false
}

// KeyTag marks the key field of a list in one of its entries.
const KeyTag = "key:"

// Len is the number of fields.
func (m *Map) Len() int { return len(m.Keys) }

// Get returns the node of a field, or nil.
func (m *Map) Get(key string) *Node {
	i, found := slices.BinarySearch(m.Keys, key)
	if !found {
		return nil
	}
	return m.Items[i]
}

// Field returns the value of a field, or nil.
func (m *Map) Field(key string) Value {
	if n := m.Get(key); n != nil {
		return n.Value
	}
	return nil
}

// ShapeOf returns the shape of any value.
func ShapeOf(v Value) Shape {
	switch v := v.(type) {
	case *List:
		return v.Shape
	case *Map:
		return v.Shape
	case String:
		return Shape{
			Size: 1, Bytes: int64(len(v.Text)), Data: v.Data, Active: !v.Data && MayHoldExpression(v.Text),
		}
	case Bytes:
		return Shape{Size: 1, Bytes: int64(len(v))}
	case Opaque:
		return v.Weight()
	}
	return Shape{Size: 1}
}

// IsOpen reports whether a value holds unfinished nodes.
func IsOpen(v Value) bool {
	switch v := v.(type) {
	case *List:
		return v.Shape.Open
	case *Map:
		return v.Shape.Open
	}
	return false
}

// MayHoldExpression reports whether a text has brackets at all. It is a cheap first test; the
// evaluator decides.
func MayHoldExpression(s string) bool { return strings.Contains(s, "((") }

// saturated adds without overflow.
func saturated(a, b int64) int64 {
	if a > math.MaxInt64/2-b {
		return math.MaxInt64 / 2
	}
	return a + b
}

func shapeOf(items []*Node) Shape {
	total := Shape{Size: 1}
	for _, n := range items {
		s := ShapeOf(n.Value)
		total.Size = saturated(total.Size, s.Size)
		total.Bytes = saturated(total.Bytes, s.Bytes)
		total.Depth = max(total.Depth, s.Depth)
		total.Active = total.Active || s.Active
		total.Data = total.Data || s.Data
		total.Marked = total.Marked || s.Marked || n.Flags != 0
		total.Open = total.Open || s.Open || n.Work != nil
	}
	total.Depth++
	return total
}

// Builder collects the fields of a map; later fields replace earlier ones.
type Builder struct {
	fields map[string]*Node
	Data   bool
}

// NewBuilder makes a builder for about size fields.
func NewBuilder(size int) *Builder { return &Builder{fields: make(map[string]*Node, size)} }

// Set stores a field.
func (b *Builder) Set(key string, n *Node) { b.fields[key] = n }

// SetValue stores a field with a finished node.
func (b *Builder) SetValue(key string, v Value) { b.fields[key] = New(v) }

// Get returns a field stored before, or nil.
func (b *Builder) Get(key string) *Node { return b.fields[key] }

// Delete removes a field.
func (b *Builder) Delete(key string) { delete(b.fields, key) }

// AddAll stores all fields of m.
func (b *Builder) AddAll(m *Map) {
	for i, k := range m.Keys {
		b.fields[k] = m.Items[i]
	}
	b.Data = b.Data || m.Data
}

// Map finishes the map.
func (b *Builder) Map() *Map {
	keys := make([]string, 0, len(b.fields))
	for k := range b.fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	items := make([]*Node, len(keys))
	for i, k := range keys {
		items[i] = b.fields[k]
	}
	return NewMap(keys, items, b.Data)
}

// MapOf makes a map of alternating keys and values.
func MapOf(pairs ...any) *Map {
	b := NewBuilder(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		b.SetValue(pairs[i].(string), pairs[i+1].(Value))
	}
	return b.Map()
}

// MarkData returns v with all its texts marked as data.
func MarkData(v Value) Value {
	switch v := v.(type) {
	case String:
		v.Data = true
		return v
	case *List:
		marked := NewList(markNodes(v.Items))
		marked.Key = v.Key
		return marked
	case *Map:
		return NewMap(v.Keys, markNodes(v.Items), true)
	}
	return v
}

func markNodes(items []*Node) []*Node {
	marked := make([]*Node, len(items))
	for i, n := range items {
		marked[i] = &Node{Value: MarkData(n.Value), Work: n.Work, Source: n.Source, Line: n.Line, Flags: n.Flags}
	}
	return marked
}
