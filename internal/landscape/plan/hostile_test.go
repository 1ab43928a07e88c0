package plan

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHostileNames: names come out of templates, and become names of objects, files
// and labels.
func TestHostileNames(t *testing.T) {
	for _, test := range []struct{ reason, name, want string }{
		{"a path", "../../etc/passwd", "deployItems[0].name"},
		{"a hidden path", "a/../../b", "deployItems[0].name"},
		{"an escape sequence", "a\x1b[31mred", "deployItems[0].name"},
		{"a line break", "a\nkind: Secret", "deployItems[0].name"},
		{"longer than a label", strings.Repeat("a", 64), "63"},
		{"capitals, which no object can have in its name", "Web", "deployItems[0].name"},
		{"nothing", "", "give a name"},
		{"as long as a label", strings.Repeat("a", 63), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			quoted := fmt.Sprintf("deployItems: [{name: %q, type: x}]", test.name)
			template, err := yaml.Marshal(quoted)
			if err != nil {
				t.Fatal(err)
			}
			_, err = children(t, input(t, imports+"deployExecutions: [{name: d, type: GoTemplate, template: "+string(template)+"}]"))
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 1000):
				t.Errorf("got %.1000v, want %q", err, test.want)
			}
		})
	}
}

// TestHostileTree: blueprints that contain themselves, with a template that says
// how deep.
func TestHostileTree(t *testing.T) {
	const itself = `
subinstallationExecutions:
- name: s
  type: GoTemplate
  template: |
    subinstallations:
    {{- $text := readFile "blueprint.yaml" | toString }}
    {{- if lt (len (readFile "depth")) %d }}
    {{- range $name := list %s }}
    - name: {{ $name }}
      blueprint:
        filesystem:
          blueprint.yaml: {{ $text | toJson }}
          depth: {{ printf "%%sx" (readFile "depth") | quote }}
    {{- end }}
    {{- end }}
`
	for _, test := range []struct {
		reason string
		deep   int
		names  string
		want   string
	}{
		{"once", 1000, `"a"`, "nested more than 32 levels deep"},
		{"twice", 1000, `"a" "b"`, "nested more than 32 levels deep"},
		{"many times, but never deep", 3, names(100), "more than 5000 subinstallations"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			description := fmt.Sprintf(itself, test.deep, test.names)
			open := func(_ context.Context, _ Input, inst *v1alpha1.Installation) (Input, error) {
				loaded, err := OpenBlueprint(t.Context(), nil, nil, &inst.Spec.Blueprint)
				return Input{Blueprint: loaded}, err
			}
			_, err := (&Tree{Open: open}).Grow(t.Context(), input(t, description, "depth", ""))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.500v, want %q", err, test.want)
			}
		})
	}
}

func names(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%q", fmt.Sprintf("a%d", i)))
	}
	return strings.Join(all, " ")
}

// TestHostileTemplateFiles: files of a blueprint may be as large as the archive.
func TestHostileTemplateFiles(t *testing.T) {
	for _, test := range []struct{ reason, content, want string }{
		{"many values", strings.Repeat("- 1\n", 1_000_000), "more than 750000 values"},
		{"a long text", "a: " + strings.Repeat("x", 9<<20), "longer than 8388608 bytes"},
		{"deep", strings.Repeat("[", 100_000), "max depth"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := children(t, input(t, imports+"subinstallations: [{file: sub.yaml}]", "sub.yaml", test.content))
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 1000 {
				t.Errorf("got %.1000v, want %q", err, test.want)
			}
		})
	}
}
