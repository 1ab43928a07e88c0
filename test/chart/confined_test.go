package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// valuesOf reads a file of values of the chart.
func valuesOf(t *testing.T, name string) map[string]any {
	t.Helper()
	directory, err := Landscaper.Directory()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return values
}

// TestConfined: with the recommended values, the program has no right on what tenants have in the
// whole cluster, and they name nothing that the chart does not have.
func TestConfined(t *testing.T) {
	values, defaults := valuesOf(t, "confined.yaml"), valuesOf(t, "values.yaml")
	for name := range values {
		if _, known := defaults[name]; !known {
			t.Errorf("the chart has no value %s", name)
		}
	}
	// These ask who reads metrics; they show nothing of a tenant.
	everywhere := map[string]bool{"tokenreviews": true, "subjectaccessreviews": true}
	found := rights(t, values)
	for granted := range found {
		if granted.namespace == "*" && !everywhere[granted.resource] {
			t.Errorf("a right in the whole cluster: %v", granted)
		}
	}
	for _, namespace := range []string{"team-a", "team-b"} {
		if !found[right{namespace, "installations", "watch"}] || !found[right{namespace, "secrets", "get"}] {
			t.Errorf("the program cannot work in %s", namespace)
		}
	}
	contains(t, render(t, values), "NetworkPolicy", Release, []string{`"kubernetes.io/metadata.name":"monitoring"`})
	objects := render(t, values)
	for _, object := range objects {
		if object.GetKind() == "ConfigMap" && strings.Contains(object.GetName(), Release) {
			contains(t, objects, "ConfigMap", object.GetName(), []string{"denyPrivate", "team-b"})
		}
	}
}
