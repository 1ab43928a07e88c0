package scope

import (
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Template is content that is evaluated where it is used.
type Template struct {
	Content value.Value // unevaluated content
	Printed value.Value // as it stands in the document
	Place   *Level      // where it was defined
}

// TypeName implements value.Value.
func (t *Template) TypeName() string { return "template" }

// Plain implements value.Opaque.
func (t *Template) Plain() value.Value { return t.Printed }

// Weight implements value.Opaque.
func (t *Template) Weight() value.Shape {
	shape := value.ShapeOf(t.Printed)
	shape.Active, shape.Open, shape.Marked = false, false, false
	return shape
}

// Same implements value.Opaque.
func (t *Template) Same(other value.Opaque) bool {
	o, ok := other.(*Template)
	return ok && (o == t || value.Identical(o.Printed, t.Printed))
}

// Definition is the scope in which a lambda or template was written.
func Definition(v value.Value) *Level {
	switch v := v.(type) {
	case *Lambda:
		return v.place
	case *Template:
		return v.Place
	}
	return nil
}
