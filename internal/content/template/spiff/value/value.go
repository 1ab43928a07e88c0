// Package value holds the data model of the language: scalar and structured
// values, the nodes that carry them, their comparison and their truth.
package value

// Value is one of Null, Bool, Int, Float, String, *List, *Map, Undefined, or
// an implementation of Opaque.
type Value interface {
	// TypeName is the name that the function type() gives.
	TypeName() string
}

type (
	// Null is the YAML null.
	Null struct{}
	// Bool is a truth value.
	Bool bool
	// Int is an integer.
	Int int64
	// Float is a floating point number.
	Float float64
	// Undefined is the result of a node that vanishes.
	Undefined struct{}
	// String is a text. Data marks text that came from outside (bindings, state,
	// files) or was derived from it: such text is never read as an expression.
	String struct {
		Text string
		Data bool
	}
	// Bytes is binary content of a YAML document.
	Bytes []byte
)

// Opaque is a value that prints as text: a lambda or a template.
type Opaque interface {
	Value
	// Plain is the printable form: a String, *List or *Map without expressions.
	Plain() Value
	// Weight is the shape of the printable form.
	Weight() Shape
	// Same reports whether the other value has the same definition.
	Same(other Opaque) bool
}

// Text makes a String that the language may evaluate again.
func Text(s string) String { return String{Text: s} }

// Data makes a String that is never evaluated.
func Data(s string) String { return String{Text: s, Data: true} }

// TypeName implements Value.
func (Null) TypeName() string { return "nil" }

// TypeName implements Value.
func (Bool) TypeName() string { return "bool" }

// TypeName implements Value.
func (Int) TypeName() string { return "int" }

// TypeName implements Value.
func (Float) TypeName() string { return "float" }

// TypeName implements Value.
func (String) TypeName() string { return "string" }

// TypeName implements Value.
func (Bytes) TypeName() string { return "string" }

// TypeName implements Value.
func (Undefined) TypeName() string { return "undef" }

// TypeName implements Value.
func (*List) TypeName() string { return "list" }

// TypeName implements Value.
func (*Map) TypeName() string { return "map" }

// TypeName returns the type name of v and "undef" for a missing one.
func TypeName(v Value) string {
	if v == nil {
		return "undef"
	}
	return v.TypeName()
}

// A is the type name with its article, for messages.
func A(v Value) string {
	switch name := TypeName(v); name {
	case "nil":
		return name
	case "undef":
		return "undefined"
	case "int":
		return "an int"
	default:
		return "a " + name
	}
}

// IsUndefined reports whether v is missing or undefined.
func IsUndefined(v Value) bool {
	if v == nil {
		return true
	}
	_, ok := v.(Undefined)
	return ok
}

// IsNull reports whether v is nil in terms of the language.
func IsNull(v Value) bool {
	_, ok := v.(Null)
	return ok
}

// Truth is the truth value used by conditions and predicates.
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil, Null, Undefined:
		return false
	case Bool:
		return bool(v)
	case Int:
		return v != 0
	case String:
		return v.Text != ""
	case Bytes:
		return len(v) > 0
	case *List:
		return len(v.Items) > 0
	case *Map:
		return v.Len() > 0
	}
	return true
}
