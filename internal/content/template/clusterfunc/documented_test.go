package clusterfunc

import (
	"bytes"
	"os"
	"regexp"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/base/jsonvalue"
)

// TestDocumentation renders the example of the documentation, with clusters that
// answer at once.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/reference/template-functions.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```gotemplate cluster\n(.*?)```\n\n```yaml\n(.*?)```").FindSubmatch(text)
	if example == nil {
		t.Fatal("no example is found")
	}
	functions := template.FuncMap{}
	for name, function := range Functions(Options{Clusters: &recorded{}}) {
		functions[name] = func(args ...any) (any, error) { return function(t.Context(), args) }
	}
	parsed, err := template.New("execution").Funcs(functions).Parse(string(example[1]))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, map[string]any{"imports": map[string]any{"cluster": target()}}); err != nil {
		t.Fatal(err)
	}
	got, err := jsonvalue.FromYAML(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want, err := jsonvalue.FromYAML(example[2])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
