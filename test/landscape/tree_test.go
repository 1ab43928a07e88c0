package landscape

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// count walks down the inline blueprints of an Installation, and returns how many
// Installations it stands for.
func count(t *testing.T, raw []byte) int {
	t.Helper()
	content := map[string]string{}
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	description := struct {
		Subinstallations []struct {
			Blueprint struct {
				Filesystem json.RawMessage `json:"filesystem"`
			} `json:"blueprint"`
		} `json:"subinstallations"`
	}{}
	if err := yaml.Unmarshal([]byte(content["blueprint.yaml"]), &description); err != nil {
		t.Fatal(err)
	}
	all := 1
	for _, sub := range description.Subinstallations {
		all += count(t, sub.Blueprint.Filesystem)
	}
	return all
}

func TestTrees(t *testing.T) {
	for _, test := range []struct {
		reason string
		parts  []Part
		want   int
	}{
		{"a chain has its root and its parts", Chain(4), 5},
		{"a level below the root", Nested(3), Nodes(3)},
		{"each of a level has as many below it", Nested(2, 3), 1 + 2 + 6},
		{"budgets are counted for as many nodes as there are", Nested(3, 2, 2), Nodes(3, 2, 2)},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := NewTree("space", "root", test.parts)
			if got := count(t, root.Spec.Blueprint.Inline.Filesystem.RawMessage); got != test.want {
				t.Errorf("%d Installations, want %d", got, test.want)
			}
			if root.Annotations[v1alpha1.OperationAnnotation] != "reconcile" || len(root.Spec.Imports.Targets) != 0 {
				t.Errorf("the root asks for %v with %v", root.Annotations, root.Spec.Imports)
			}
		})
	}
}

func TestConfigMaps(t *testing.T) {
	for _, many := range []int{1, 3} {
		t.Run(string(rune('0'+many))+" items, each with a name and an object of its own", func(t *testing.T) {
			inst := NewInstallation("space", "several", ConfigMaps(many))
			names, content := map[string]bool{}, map[string]string{}
			if err := json.Unmarshal(inst.Spec.Blueprint.Inline.Filesystem.RawMessage, &content); err != nil {
				t.Fatal(err)
			}
			blueprint := v1alpha1.Blueprint{}
			if err := yaml.Unmarshal([]byte(content["blueprint.yaml"]), &blueprint); err != nil {
				t.Fatal(err)
			}
			template := ""
			if err := json.Unmarshal(blueprint.DeployExecutions[0].Template.RawMessage, &template); err != nil {
				t.Fatal(err)
			}
			items := struct {
				DeployItems []struct {
					Name   string `json:"name"`
					Config struct {
						Manifests []struct {
							Manifest struct {
								Metadata struct{ Name, Namespace string } `json:"metadata"`
							} `json:"manifest"`
						} `json:"manifests"`
					} `json:"config"`
				} `json:"deployItems"`
			}{}
			if err := yaml.Unmarshal([]byte(template), &items); err != nil {
				t.Fatal(err)
			}
			for _, item := range items.DeployItems {
				object := item.Config.Manifests[0].Manifest.Metadata
				names[item.Name], names[object.Name] = true, true
				if object.Namespace != "space" {
					t.Errorf("%s is created in namespace %q", object.Name, object.Namespace)
				}
			}
			if len(items.DeployItems) != many || len(names) != 2*many {
				t.Errorf("%d items with the names %v", len(items.DeployItems), names)
			}
		})
	}
}
