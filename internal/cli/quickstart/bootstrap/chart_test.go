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

// TestImageOfTheRelease: a program of a release installs the image of its release, unless the user
// names another one; any other program leaves the chart as it is.
func TestImageOfTheRelease(t *testing.T) {
	for _, row := range []struct{ reason, registry, want string }{
		{"a program of a release", "registry.example.org/project", "registry.example.org/project/landscaper:v1.2.3"},
		{"a program that a developer has built", "", "landscaper:"},
	} {
		values := map[string]any{"image": map[string]any{"repository": "landscaper", "tag": ""}}
		ofRelease(values, row.registry, "v1.2.3")
		image := values["image"].(map[string]any)
		if got := image["repository"].(string) + ":" + image["tag"].(string); got != row.want {
			t.Errorf("%s: %s", row.reason, got)
		}
	}
}

// TestNamesImage: a program of no release, such as this test, asks for an image of the user's.
func TestNamesImage(t *testing.T) {
	for _, row := range []struct {
		reason string
		values map[string]any
		want   bool
	}{
		{"no values", nil, false},
		{"a tag of no repository", map[string]any{"image": map[string]any{"tag": "v1.2.3"}}, false},
		{"a text, which the schema of the chart refuses", map[string]any{"image": "mine"}, false},
		{"an image", map[string]any{"image": map[string]any{"repository": "registry.example.org/mine"}}, true},
	} {
		if got := NamesImage(row.values); got != row.want {
			t.Errorf("%s: %t", row.reason, got)
		}
	}
}
