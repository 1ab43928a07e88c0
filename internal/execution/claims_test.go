package execution

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
)

// TestRenamedItem: the item of the new name takes the objects over before that of the old
// name goes; without a claim the old item goes first, as always.
func TestRenamedItem(t *testing.T) {
	const same = `{"manifests":[{"policy":"manage","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}}]}`
	const other = `{"manifests":[{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"ns"}}}]}`
	const fallback = `{"manifests":[{"policy":"fallback","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}}]}`
	phases := v1alpha1.DeployItemPhases
	tests := []struct {
		reason, config, target, finished string
		phase                            v1alpha1.DeployItemPhase
		do                               step
		items                            string
	}{
		{"the new item claims an object, and goes first", same, "t", "before", phases.Succeeded, trigger, "new"},
		{"the old item goes when the new item is done", same, "t", "job", phases.Succeeded, trigger, "old"},
		{"the old item stays when the new item has failed", same, "t", "job", phases.Failed, fail, ""},
		{"no claim: the old item goes first", other, "t", "before", phases.Succeeded, trigger, "old"},
		{"on another Target: the old item goes first", same, "u", "before", phases.Succeeded, trigger, "old"},
		{"a fallback takes nothing over: the old item goes first", fallback, "t", "before", phases.Succeeded, trigger, "old"},
		{"a configuration that cannot be read claims nothing", `{`, "t", "before", phases.Succeeded, trigger, "old"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := snapshotWith(jobs("job", "", v1alpha1.ExecutionPhases.Progressing), wants("new"),
				has("new", test.finished, test.finished, test.phase), has("old", "before", "before", phases.Succeeded, goes, func(item *v1alpha1.DeployItem) {
					item.Spec.Target = &v1alpha1.ObjectReference{Name: "t"}
					item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"managedResources":[{"resource":{"apiVersion":"v1","kind":"ConfigMap","name":"a","namespace":"ns"}}]}`)}
				}))
			s.templates[0].Target = &v1alpha1.ObjectReference{Name: test.target}
			s.templates[0].Configuration = &runtime.RawExtension{Raw: []byte(test.config)}
			if d := decide(s); d.do != test.do || itemNames(d.items) != test.items {
				t.Errorf("%s %q, want %s %q", d.do, itemNames(d.items), test.do, test.items)
			}
		})
	}
}
