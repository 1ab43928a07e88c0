package placement_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
)

func TestWithInherited(t *testing.T) {
	const space = `{"policy":"manage","resource":{"kind":"Namespace","name":"x","uid":"u","apiVersion":"v1"}}`
	const settings = `{"policy":"keep","resource":{"kind":"ConfigMap","namespace":"x","name":"a","apiVersion":"v1"}}`
	const unproven = `{"policy":"manage","resource":{"kind":"Namespace","name":"x","apiVersion":"v1"}}`
	for _, test := range []struct{ reason, annotation, status, want, says string }{
		{"a UID proves nothing: the label of the object decides whose it is", `[` + space + `]`, `{"managedResources":[]}`, `{"managedResources":[` + unproven + `]}`, "Namespace x, which another item had, stays as long as something is in it"},
		{"only Namespaces and definitions are left to other items", `[` + settings + `]`, `{"managedResources":[]}`, `{"managedResources":[]}`, ""},
		{"the record gets what the item has inherited, and keeps all else", `[` + space + `]`, `{"kind":"ProviderStatus","managedResources":[` + settings + `],"release":{"name":"r"}}`,
			`{"kind":"ProviderStatus","managedResources":[` + settings + `,` + unproven + `],"release":{"name":"r"}}`, "Namespace x, which another item had, stays as long as something is in it"},
		{"the record has it already", `[` + space + `]`, `{"managedResources":[` + space + `]}`, `{"managedResources":[` + space + `]}`, "Namespace x, which another item had, stays as long as something is in it"},
		{"the item has inherited nothing", "", `{"managedResources":[` + settings + `]}`, `{"managedResources":[` + settings + `]}`, ""},
		{"an annotation that cannot be read counts as empty", `{`, `{"managedResources":[` + settings + `]}`, `{"managedResources":[` + settings + `]}`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{}
			item.Annotations = map[string]string{v1alpha1.InheritedAnnotation: test.annotation}
			item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(test.status)}
			recorded, err := placement.WithInherited(item)
			if err != nil || string(recorded.Raw) != test.want {
				t.Errorf("%s, %v, want %s", recorded.Raw, err, test.want)
			}
			if says := placement.SayInherited(item); says != test.says {
				t.Errorf("it says %q", says)
			}
		})
	}
	t.Run("a record that cannot be read is an error", func(t *testing.T) {
		item := &v1alpha1.DeployItem{}
		item.Annotations = map[string]string{v1alpha1.InheritedAnnotation: `[` + space + `]`}
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`7`)}
		if recorded, err := placement.WithInherited(item); err == nil {
			t.Errorf("%s", recorded.Raw)
		}
	})
}
