package spiff

import (
	"context"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// WithTemporary returns the document with another one as a temporary field.
func (d Document) WithTemporary(field string, other Document) (Document, error) {
	b := value.NewBuilder(1)
	switch v := d.content.Value.(type) {
	case *value.Map:
		b.AddAll(v)
	case value.Null:
	default:
		return Document{}, fmt.Errorf("%s must be a map to get the field %s", d.name, field)
	}
	extra := *other.content
	extra.Flags |= value.Temporary
	b.Set(field, &extra)
	content := *d.content
	content.Value = b.Map()
	return Document{name: d.name, content: &content}, nil
}

// Result is the unevaluated content of a document.
func (d Document) Result() *Result {
	return &Result{value: d.content.Value, state: value.NewBuilder(0).Map()}
}

// Empty reports whether the result is nil.
func (r *Result) Empty() bool { return value.IsNull(r.value) || value.IsUndefined(r.value) }

// At returns the part of a result below a path such as "a.b.[0]".
func (r *Result) At(path string) (*Result, error) {
	expr, err := syntax.Parse(path)
	ref, ok := expr.(*syntax.Ref)
	if err != nil || !ok || ref.Tag != "" {
		return nil, fmt.Errorf("%q is not a path", path)
	}
	v := r.value
	for _, s := range ref.Steps {
		if v = stepInto(v, s); v == nil {
			return nil, fmt.Errorf("path %q not found", path)
		}
	}
	return &Result{value: v, state: r.state}, nil
}

func stepInto(v value.Value, s syntax.Step) value.Value {
	switch v := v.(type) {
	case *value.Map:
		if !s.IsIndex {
			return v.Field(s.Key)
		}
	case *value.List:
		for i, n := range v.Items {
			if s.IsIndex && (i == s.Index || i == s.Index+len(v.Items)) {
				return n.Value
			}
			m, ok := n.Value.(*value.Map)
			if !ok || s.IsIndex {
				continue
			}
			if name, ok := m.Field("name").(value.String); ok && name.Text == s.Key {
				return m
			}
		}
	}
	return nil
}

// Select returns a map of parts, named by the last steps of their paths.
func (r *Result) Select(paths []string) (*Result, error) {
	b := value.NewBuilder(len(paths))
	for _, p := range paths {
		part, err := r.At(p)
		if err != nil {
			return nil, err
		}
		b.SetValue(p[strings.LastIndex(p, ".")+1:], part.value)
	}
	return &Result{value: b.Map(), state: r.state}, nil
}

// Split returns the entries of a list result, or the result itself.
func (r *Result) Split() []*Result {
	list, ok := r.value.(*value.List)
	if !ok {
		return []*Result{r}
	}
	parts := make([]*Result, len(list.Items))
	for i, n := range list.Items {
		parts[i] = &Result{value: n.Value, state: r.state}
	}
	return parts
}

// Evaluate computes an expression on a result: its fields are the names.
func (e *Engine) Evaluate(ctx context.Context, expression string, on *Result) (*Result, error) {
	doc, err := FromData("(( "+expression+" ))", "expression")
	if err != nil {
		return nil, err
	}
	bindings, _ := yamlio.ToGo(on.value).(map[string]any)
	return e.Process(ctx, doc, Input{Bindings: bindings}, Options{})
}

// Diff compares documents by structure and describes every difference.
func Diff(a, b []Document) []string {
	var list []string
	for i := 0; i < max(len(a), len(b)); i++ {
		where := ""
		if max(len(a), len(b)) > 1 {
			where = fmt.Sprintf("document %d", i+1)
		}
		switch {
		case i >= len(a):
			list = append(list, where+": added")
		case i >= len(b):
			list = append(list, where+": removed")
		default:
			list = append(list, diff(where, a[i].Data(), b[i].Data())...)
		}
	}
	return list
}

func diff(where string, a, b any) []string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return diffMaps(where, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return diffLists(where, x, y)
		}
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v -> %v", where, a, b)}
}

func join(where, step string) string {
	if where == "" {
		return step
	}
	return where + "." + step
}

func diffMaps(where string, a, b map[string]any) []string {
	keys := make([]string, 0, len(a)+len(b))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	var list []string
	for _, k := range keys {
		x, inA := a[k]
		y, inB := b[k]
		switch {
		case !inA:
			list = append(list, join(where, k)+": added")
		case !inB:
			list = append(list, join(where, k)+": removed")
		default:
			list = append(list, diff(join(where, k), x, y)...)
		}
	}
	return list
}

func diffLists(where string, a, b []any) []string {
	var list []string
	for i := 0; i < max(len(a), len(b)); i++ {
		step := join(where, "["+strconv.Itoa(i)+"]")
		switch {
		case i >= len(a):
			list = append(list, step+": added")
		case i >= len(b):
			list = append(list, step+": removed")
		default:
			list = append(list, diff(step, a[i], b[i])...)
		}
	}
	return list
}
