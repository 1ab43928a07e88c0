package bootstrap

import (
	"strings"
	"testing"
)

// TestObjects: the chart is in the program, without what Helm alone would run, and the
// Deployment comes last.
func TestObjects(t *testing.T) {
	objects, err := Objects("tries", map[string]any{"replicas": 2})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
		if object.GetKind() == "Job" {
			t.Error("a hook of Helm is among the objects")
		}
	}
	last := objects[len(objects)-1]
	if last.GetKind() != "Deployment" || last.GetNamespace() != "tries" || !strings.Contains(strings.Join(kinds, " "), "ClusterRole") {
		t.Errorf("%v", kinds)
	}
	if replicas := last.Object["spec"].(map[string]any)["replicas"]; replicas != int64(2) {
		t.Errorf("the values have no effect: %v", replicas)
	}
	registry, err := Registry("tries")
	if err != nil || len(registry) != 3 || registry[2].GetNamespace() != "tries" {
		t.Errorf("%v, %v", registry, err)
	}
}
