package plan

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

func TestUse(t *testing.T) {
	for _, test := range []struct {
		reason   string
		use      Usage
		children int
		want     string
	}{
		{"a root", Usage{}, MaxChildren, ""},
		{"no children, however deep", Usage{Depth: MaxDepth, Installations: MaxTree}, 0, ""},
		{"the last level", Usage{Depth: MaxDepth - 1}, 1, ""},
		{"too deep", Usage{Depth: MaxDepth}, 1, "nested more than 32 levels deep: a blueprint seems to contain itself"},
		{"too wide", Usage{}, MaxChildren + 1, "there are 1001 subinstallations, at most 1000 are allowed: put some of them"},
		{"too many in all", Usage{Installations: MaxTree}, 1, "more than 5000 subinstallations"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			wantBound(t, test.use.checkChildren(test.children), test.want)
		})
	}
	for _, test := range []struct {
		reason string
		use    Usage
		want   string
	}{
		{"just enough", Usage{Copies: MaxCopies, Bytes: MaxCopied}, ""},
		{"too many copies", Usage{Copies: MaxCopies + 1}, "more than 50000 copies: pass fewer values to"},
		{"too large copies", Usage{Bytes: MaxCopied + 1}, "more than 268435456 bytes: pass fewer or smaller values to"},
	} {
		t.Run(test.reason, func(t *testing.T) { wantBound(t, test.use.check(), test.want) })
	}
}

func wantBound(t *testing.T, err error, want string) {
	t.Helper()
	if errors.Is(err, ErrTree) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestPassedOnManyTimes: a blueprint of a few lines passes one large value to hundreds of children,
// each of which would have a copy.
func TestPassedOnManyTimes(t *testing.T) {
	const many = `
subinstallationExecutions:
- type: GoTemplate
  template: |
    subinstallations:
    {{- range until 400 }}
    - {name: 's{{ . }}', blueprint: {filesystem: {a: x}}, imports: {data: [{name: password, dataRef: password}]}}
    {{- end }}
`
	in := input(t, imports+many)
	in.Imports.Data["password"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"` + strings.Repeat("x", 1<<20) + `"`))}
	opened := 0
	leaf := load(t, "imports: [{name: password, schema: {type: string}}]")
	open := func(context.Context, Input, *v1alpha1.Installation) (Input, error) {
		opened++
		return Input{Blueprint: leaf}, nil
	}
	// Others of the tree have taken nearly all.
	tree := &Tree{Open: open, used: Usage{Bytes: MaxCopied - 16<<20}}
	_, err := tree.grow(t.Context(), in, in.Installation.Name)
	wantBound(t, err, "pass fewer or smaller values to")
	if opened != 15 {
		t.Errorf("%d children were worked out", opened)
	}
}

// TestChildrenAreCounted: a controller looks at one Installation alone.
func TestChildrenAreCounted(t *testing.T) {
	in := input(t, `subinstallations: [{name: a, blueprint: {filesystem: {a: x}}}]`)
	in.Tree.Depth = MaxDepth
	_, err := children(t, in)
	wantBound(t, err, "nested more than 32 levels deep")
}
