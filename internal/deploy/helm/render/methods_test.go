package render

import (
	"testing"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"go.landscaper.dev/internal/content/template/gotemplate/methodtest"
)

// withMethods are the types with methods that a chart gets besides plain values. Charts of all the
// world call these methods, so that Helm's names stay. Nothing but the process that they run in bounds
// what they take.
var withMethods = methodtest.List{
	"render.files":        ".Files of Helm: .Get, .GetBytes, .Glob, .Lines, .AsConfig, .AsSecrets",
	"common.Capabilities": ".Capabilities of Helm",
	"common.KubeVersion":  ".Capabilities.KubeVersion of Helm prints as a version",
	"common.VersionSet":   ".Capabilities.APIVersions.Has of Helm",
	"json.Number":         "numbers beyond 64 bits; its methods take nothing and return what it holds",
}

// TestNoMethods: what a chart gets has no methods but those of Helm.
func TestNoMethods(t *testing.T) {
	chart := chartOf(t, "shop", map[string]string{
		"values.yaml": "name: web\nlarge: 123456789012345678901234567890\nlist: [1, 1.5, null, {a: true}]\n", "file.txt": "text", "templates/a.yaml": "a: b",
	})
	chart.Metadata.Maintainers = []*helmchart.Maintainer{{Name: "a"}}
	chart.Metadata.Annotations = map[string]string{"a": "b"}
	chart.AddDependency(chartOf(t, "child", map[string]string{"values.yaml": "own: 1\n", "file.txt": "text", "templates/b.yaml": "a: b"}))
	chart.Metadata.Dependencies = []*helmchart.Dependency{{Name: "child", Version: "1.0.0", Tags: []string{"a"}, ImportValues: []any{"data"}}}
	in := inputOf(chart, map[string]any{"mine": int64(1), "child": map[string]any{"own": 2.5}})
	values, err := Merge(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	members := members(values, in)
	if len(members) != 2 {
		t.Fatalf("%d templates, want 2", len(members))
	}
	for _, member := range members {
		for name, value := range member.Dot {
			withMethods.Check(t, member.Name+" ."+name, value)
		}
	}
}
