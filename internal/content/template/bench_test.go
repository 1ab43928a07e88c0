package template

import (
	"fmt"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

const goItems = `deployItems:
{{- range $i := until 50 }}
{{- $image := index $.cd.component.resources (mod $i 10) }}
- name: item-{{ $i }}
  type: landscaper.gardener.cloud/helm
  target:
    import: cluster
  dependsOn: {{ if gt $i 0 }}[item-{{ sub $i 1 }}]{{ else }}[]{{ end }}
  config:
    chart:
      ref: {{ $image.access.imageReference | quote }}
    values:
{{ include "values.tpl" (dict "name" (printf "%s-%d" $.imports.prefix $i) "replicas" $.imports.replicas "labels" $.imports.labels) | indent 6 }}
{{- end }}
`

const goValues = `name: {{ .name | upper | lower }}
replicas: {{ .replicas }}
{{- with .labels }}
labels:
{{ toYaml . | indent 2 }}
{{- end }}
checksum: {{ .labels | toJson | sha256sum }}`

const spiffItems = `deployItems: (( map[[0..49]|i|-> *item.template] ))
item:
  <<<: (( &temporary ))
  template:
    <<<: (( &template ))
    name: (( "item-" i ))
    type: landscaper.gardener.cloud/helm
    target: {import: cluster}
    dependsOn: (( i > 0 ? ["item-" (i - 1)] :[] ))
    config:
      chart:
        ref: (( cd.component.resources[i % 10].access.imageReference ))
      values:
        name: (( lower(upper(imports.prefix "-" i)) ))
        replicas: (( imports.replicas ))
        labels: (( imports.labels ))
        checksum: (( hash(asjson(imports.labels)) ))
`

func benchBindings() map[string]any {
	var resources []any
	for i := range 200 {
		resources = append(resources, map[string]any{
			"name": fmt.Sprintf("image-%d", i), "version": "1.0.0", "type": "ociImage", "relation": "external",
			"access": map[string]any{"type": "ociRegistry", "imageReference": fmt.Sprintf("registry.example.org/images/image-%d:1.0.0", i)},
			"labels": []any{map[string]any{"name": "l", "value": int64(i)}},
		})
	}
	component := map[string]any{"component": map[string]any{"name": "example.org/shop", "version": "1.0.0", "resources": resources}}
	return map[string]any{
		"imports": map[string]any{"prefix": "shop", "replicas": int64(3), "labels": map[string]any{"app": "shop", "tier": "web", "size": int64(5)}},
		"cd":      component, "components": map[string]any{"components": []any{component, component, component}},
	}
}

func benchmark(b *testing.B, engine v1alpha1.TemplateType, template string) {
	e := &Engine{Files: fileTree(map[string]string{"values.tpl": goValues})}
	in := Input{Phase: DeployExecution, Executor: executor(b, engine, template), Bindings: benchBindings()}
	b.ReportAllocs()
	for b.Loop() {
		out, err := e.Execute(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		var result struct {
			DeployItems []struct {
				Name   string           `json:"name"`
				Config v1alpha1.AnyJSON `json:"config"`
			} `json:"deployItems"`
		}
		if err := out.Decode(&result); err != nil || len(result.DeployItems) != 50 {
			b.Fatal(len(result.DeployItems), err)
		}
	}
}

// BenchmarkGoTemplate50Items renders a blueprint with 50 deploy items.
func BenchmarkGoTemplate50Items(b *testing.B) { benchmark(b, v1alpha1.GOTemplateType, goItems) }

// BenchmarkSpiff50Items renders the same items with spiff.
func BenchmarkSpiff50Items(b *testing.B) { benchmark(b, v1alpha1.SpiffTemplateType, spiffItems) }

// BenchmarkIsolation renders next to nothing: what is left is the copy of the
// bindings and the set of functions.
func BenchmarkIsolation(b *testing.B) {
	for name, bindings := range map[string]map[string]any{"none": {}, "components": benchBindings()} {
		b.Run(name, func(b *testing.B) {
			in := Input{Phase: DeployExecution, Executor: executor(b, v1alpha1.GOTemplateType, "deployItems: []"), Bindings: bindings}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (&Engine{}).Execute(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
