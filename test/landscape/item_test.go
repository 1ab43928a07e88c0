package landscape

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func TestOneItem(t *testing.T) {
	for _, test := range []struct {
		reason  string
		objects []string
	}{
		{"a single object", []string{"kind: A\n"}},
		{"several lines", []string{"kind: A\ndata:\n  a: b\n", "\nkind: B"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got struct {
				DeployItems []struct {
					Config struct {
						Manifests []struct{ Manifest map[string]any }
					}
				}
			}
			if err := yaml.UnmarshalStrict([]byte(OneItem(test.objects...)), &map[string]any{}); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(OneItem(test.objects...)), &got); err != nil || len(got.DeployItems) != 1 {
				t.Fatalf("%d items, %v", len(got.DeployItems), err)
			}
			manifests := got.DeployItems[0].Config.Manifests
			if len(manifests) != len(test.objects) || manifests[0].Manifest["kind"] != "A" {
				t.Errorf("got %v", manifests)
			}
		})
	}
}
