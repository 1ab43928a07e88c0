package value

// Flags are the markers of a node.
type Flags uint16

// The markers of the language that stay with a node.
const (
	Temporary Flags = 1 << iota
	Local
	State
	Inject
	Default
	Dynamic
)

// Has reports whether all given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Any reports whether one of the given flags is set.
func (f Flags) Any(flags Flags) bool { return f&flags != 0 }

// Source names the document that a node was read from.
type Source struct{ Name string }

// Node is a place that holds a value: a document field, a list entry, an
// argument. Nodes whose Work is nil are finished and never change again.
type Node struct {
	Value  Value
	Work   any // evaluation in progress, owned by the evaluator
	Source *Source
	Line   int32
	Flags  Flags
}

// New makes a finished node.
func New(v Value) *Node { return &Node{Value: v} }

// Nodes wraps values into finished nodes.
func Nodes(values ...Value) []*Node {
	block := make([]Node, len(values))
	list := make([]*Node, len(values))
	for i, v := range values {
		block[i].Value = v
		list[i] = &block[i]
	}
	return list
}
