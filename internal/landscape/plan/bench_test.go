package plan

import (
	"math"
	"runtime"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/model/dataflow"
)

// largeImports are checked by schemas and have an import execution, as blueprints of
// this size do.
const largeImports = `
localTypes:
  labels: {type: object, additionalProperties: {type: string}}
imports:
- {name: count, schema: {type: integer, minimum: 0}}
- {name: prefix, schema: {type: string, pattern: "^[a-z-]+$"}}
- {name: labels, schema: {$ref: "local://labels"}}
- {name: cluster, targetType: kubernetes-cluster}
importExecutions:
- {name: names, type: GoTemplate, template: "bindings: {domain: '{{ .imports.prefix }}.example.org'}"}
`

const largeGoTemplate = largeImports + `
deployExecutions:
- {name: items, type: GoTemplate, file: /items.tpl}
`

const largeItems = `deployItems:
{{- range $i := until (int .imports.count) }}
{{- $image := getResource $.cd "name" "image" }}
- name: item-{{ $i }}
  type: landscaper.gardener.cloud/helm
  target:
    import: cluster
  {{- if gt $i 0 }}
  dependsOn: [item-{{ sub $i 1 }}]
  {{- end }}
  config:
    chart:
      resourceRef: {{ getResourceKey ` + "`cd://resources/chart`" + ` }}
    values:
      host: item-{{ $i }}.{{ $.imports.domain }}
      image: {{ $image.access.imageReference }}
{{ include "labels.tpl" (dict "labels" $.imports.labels "name" (printf "%s-%d" $.imports.prefix $i)) | indent 6 }}
{{- end }}
`

const largeLabels = `labels:
  name: {{ .name }}
{{ toYaml .labels | indent 2 }}`

const largeSpiff = largeImports + `
deployExecutions:
- name: items
  type: Spiff
  template:
    item:
      <<<: (( &temporary &template ))
      name: (( "item-" i ))
      type: landscaper.gardener.cloud/helm
      target: {import: cluster}
      dependsOn: (( i > 0 ? ["item-" (i - 1)] :[] ))
      config:
        chart:
          resourceRef: (( getResourceKey("cd://resources/chart") ))
        values:
          host: (( "item-" i "." imports.domain ))
          image: (( getResource(cd, "name", "image").access.imageReference ))
          labels: (( imports.labels { "name" = imports.prefix "-" i } ))
    deployItems: (( imports.count > 0 ? map[[0 .. imports.count - 1]|i|-> *item] :[] ))
`

const largeDescriptor = `
meta: {schemaVersion: v2}
component:
  name: example.org/large
  version: 1.0.0
  provider: bench
  resources:
  - {name: image, version: 1.0.0, type: ociImage, relation: external, access: {type: ociArtifact, imageReference: "registry.example.org/image:1.0.0"}}
  - {name: chart, version: 1.0.0, type: helmChart, relation: external, access: {type: ociArtifact, imageReference: "registry.example.org/chart:1.0.0"}}
`

func large(t testing.TB, description string, count int) Input {
	t.Helper()
	top, err := descriptor.Decode([]byte(largeDescriptor))
	if err != nil {
		t.Fatal(err)
	}
	from := component.NewSession(component.NewShared(), component.Options{})
	t.Cleanup(func() { _ = from.Close() })
	reference, err := from.SetInline(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	version, err := from.Resolve(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]dataflow.DataImport{}
	for name, text := range map[string]string{"count": strconv.Itoa(count), "prefix": `"bench"`, "labels": `{"app": "bench", "tier": "web", "owner": "team"}`} {
		data[name] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(text))}
	}
	return Input{
		Installation: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst", UID: "uid"}},
		Blueprint:    load(t, description, "items.tpl", largeItems, "labels.tpl", largeLabels),
		Component:    &Component{Session: from, Version: version},
		Imports:      dataflow.Imports{Data: data, Targets: map[string]*v1alpha1.Target{"cluster": target("host")}},
	}
}

var largeBlueprints = map[string]string{"GoTemplate": largeGoTemplate, "Spiff": largeSpiff}

// BenchmarkPlan50DeployItems works out an Installation with 50 deploy items: its
// imports with schemas and an import execution, and its items.
func BenchmarkPlan50DeployItems(b *testing.B) {
	for engine, description := range largeBlueprints {
		b.Run(engine, func(b *testing.B) {
			in := large(b, description, 50)
			b.ReportAllocs()
			for b.Loop() {
				if made, err := children(b, in); err != nil || len(made.DeployItems) != 50 {
					b.Fatal(made, err)
				}
			}
		})
	}
}

// TestGrowth shows that ten times the deploy items cost ten times the memory. What
// a blueprint without items costs does not count.
func TestGrowth(t *testing.T) {
	const most = 1.1
	for engine, description := range largeBlueprints {
		t.Run(engine, func(t *testing.T) {
			none := work(t, description, 0)
			few, many := work(t, description, 50), work(t, description, 500)
			for i, unit := range []string{"allocations", "bytes"} {
				exponent := math.Log10((many[i] - none[i]) / (few[i] - none[i]))
				t.Logf("%.0f %s for 50 items, %.0f for 500: exponent %.3f", few[i]-none[i], unit, many[i]-none[i], exponent)
				if exponent > most || math.IsNaN(exponent) {
					t.Errorf("the %s grow with the exponent %.3f, want at most %.1f", unit, exponent, most)
				}
			}
		})
	}
}

// work counts the allocations and the allocated bytes of one run, the smallest of
// several, because other goroutines allocate now and then.
func work(t *testing.T, description string, count int) [2]float64 {
	t.Helper()
	in := large(t, description, count)
	least := [2]float64{math.Inf(1), math.Inf(1)}
	for range 4 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		made, err := children(t, in)
		runtime.ReadMemStats(&after)
		if err != nil || len(made.DeployItems) != count {
			t.Fatalf("%d items: %+v, %v", count, made, err)
		}
		least[0] = min(least[0], float64(after.Mallocs-before.Mallocs))
		least[1] = min(least[1], float64(after.TotalAlloc-before.TotalAlloc))
	}
	return least
}
