package states

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	"sigs.k8s.io/yaml"
)

const folder = "../../"

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func resources(t *testing.T) []customresourcestate.Resource {
	t.Helper()
	text, err := os.ReadFile(folder + "charts/landscaper/monitoring/kube-state-metrics.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Kind string `json:"kind"`
		customresourcestate.Metrics
	}
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		t.Fatal(err)
	}
	for _, resource := range config.Spec.Resources {
		for i := range resource.Metrics {
			// The reader of the flag does that, too; it needs an API server besides.
			kind := &resource.Metrics[i].Each.Type
			*kind = metric.Type(strings.ToLower(string(*kind)))
		}
	}
	return config.Spec.Resources
}

// metrics are the lines that kube-state-metrics has for an object.
func metrics(t *testing.T, object map[string]any) []string {
	t.Helper()
	var lines []string
	for _, resource := range resources(t) {
		if resource.GroupVersionKind.Kind != object["kind"] {
			continue
		}
		factory, err := customresourcestate.NewCustomResourceMetrics(resource)
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range factory.MetricFamilyGenerators() {
			text := string(family.Generate(&unstructured.Unstructured{Object: object}).ByteSlice())
			lines = append(lines, strings.Split(strings.TrimSpace(text), "\n")...)
		}
	}
	return lines
}

// TestMetrics: what tenants ask about an object is in its metrics.
func TestMetrics(t *testing.T) {
	for _, row := range []struct {
		name, object string
		want         []string
	}{
		{
			"a subinstallation that has failed", `{kind: Installation, metadata: {namespace: team-a, name: db, labels: {landscaper.gardener.cloud/encompassed-by: shop}}, status: {phase: Failed, phaseTransitionTime: "2026-01-02T03:04:05Z"}}`,
			[]string{
				`landscaper_installation_phase{`, `name="db"`, `namespace="team-a"`, `parent="shop"`, `phase="Failed"} 1`, `phase="Succeeded"} 0`,
				`landscaper_installation_phase_transition_time{`, `1.767323045e+09`,
			},
		},
		{
			"a root that waits for an approval", `{kind: Installation, metadata: {namespace: team-a, name: shop}, status: {phase: Succeeded, conditions: [{type: Other, status: "True", reason: X}, {type: Deferred, status: "True", reason: ApprovalRequired}]}}`,
			[]string{`landscaper_installation_deferred{`, `reason="ApprovalRequired"`, `status="True"`},
		},
		{
			"a deploy item", `{kind: DeployItem, metadata: {namespace: team-a, name: shop-x}, spec: {type: landscaper.gardener.cloud/helm, target: {name: edge}}, status: {phase: Progressing}}`,
			[]string{`landscaper_deployitem_phase{`, `phase="Progressing",target="edge",type="landscaper.gardener.cloud/helm"} 1`},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var object map[string]any
			decode(t, []byte(row.object), &object)
			text := strings.Join(metrics(t, object), "\n")
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("there is no %s in\n%s", want, text)
				}
			}
		})
	}
}

// TestPaths: each path is that of a field of the kind.
func TestPaths(t *testing.T) {
	for _, resource := range resources(t) {
		kind := strings.ToLower(resource.GroupVersionKind.Kind)
		text, err := os.ReadFile(folder + "api/crds/landscaper.gardener.cloud_" + kind + "s.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var definition struct {
			Spec struct {
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		decode(t, text, &definition)
		schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		paths := slices.Collect(maps.Values(resource.LabelsFromPath))
		for _, asked := range resource.Metrics {
			switch {
			case asked.Each.StateSet != nil:
				paths = append(paths, asked.Each.StateSet.Path)
			case asked.Each.Gauge != nil:
				paths = append(paths, asked.Each.Gauge.Path)
			case asked.Each.Info != nil:
				paths = append(paths, asked.Each.Info.Path)
			}
		}
		for _, path := range paths {
			if path[0] != "metadata" && !exists(schema, path) {
				t.Errorf("%s has no field %s", resource.GroupVersionKind.Kind, strings.Join(path, "."))
			}
		}
	}
}

func exists(schema map[string]any, path []string) bool {
	for _, part := range path {
		if strings.HasPrefix(part, "[") {
			items, ok := schema["items"].(map[string]any)
			return ok && items != nil
		}
		properties, _ := schema["properties"].(map[string]any)
		next, ok := properties[part].(map[string]any)
		if !ok {
			return false
		}
		schema = next
	}
	return true
}
