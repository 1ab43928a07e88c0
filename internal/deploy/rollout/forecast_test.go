package rollout

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/landscape/diff"
)

// alone is an item that nothing else happens around.
type alone struct{ planned []diff.Object }

// ClusterOf implements Outlook.
func (alone) ClusterOf(context.Context, string) (target.Cluster, error) {
	return nil, fmt.Errorf("there is no other cluster")
}

// Planned implements Outlook.
func (a alone) Planned(_ target.Cluster, reference corev1.ObjectReference) (diff.Object, bool) {
	for _, object := range a.planned {
		if same(object, reference) {
			return object, true
		}
	}
	return diff.Object{}, false
}

// Yields implements Outlook.
func (alone) Yields(string, corev1.ObjectReference) bool { return false }

// IsTerminating implements Outlook.
func (alone) IsTerminating(string) bool { return false }

// IsNeighbor implements Outlook.
func (alone) IsNeighbor(string) bool { return false }

// besideOne is an item beside another one, which may give objects up.
type besideOne struct {
	alone
	yields bool
}

// Yields implements Outlook.
func (b besideOne) Yields(string, corev1.ObjectReference) bool { return b.yields }

// IsNeighbor implements Outlook.
func (besideOne) IsNeighbor(string) bool { return true }

// TestForecastOfExports: what an item would export after its job, and why that is not known.
func TestForecastOfExports(t *testing.T) {
	const name = "name: a"
	changed := strings.Replace(configMap, `"1"`, `"2"`, 1)
	if changed == configMap {
		t.Fatal("the manifest has another value")
	}
	from := func(path, kind, name string) deployer.Export {
		return deployer.Export{Key: "key", JSONPath: path, FromResource: &deployer.TypedObjectReference{APIVersion: "v1", Kind: kind, Namespace: "ns", Name: name}}
	}
	other := func(data string) diff.Object {
		object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "ns", "name": "other"}, "data": map[string]any{"x": data}}
		return diff.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "other", After: object, Applied: object}
	}
	for _, test := range []struct {
		reason    string
		present   string
		manifest  string
		export    deployer.Export
		around    alone
		want, why string
	}{
		{"the value after the change", configMap, changed, from(".data.x", "ConfigMap", "a"), alone{}, "2", ""},
		{"the value of an object that does not change", configMap, configMap, from(".data.x", "ConfigMap", "a"), alone{}, "1", ""},
		{"the identity of an object that changes is kept", configMap, changed, from(".metadata.uid", "ConfigMap", "a"), alone{}, "uid", ""},
		{"the version of an object that changes", configMap, changed, from(".metadata.resourceVersion", "ConfigMap", "a"), alone{}, "", "ConfigMap ns/a changes, and only then"},
		{"what a controller says about an object that changes", configMap, changed, from(".status.x", "ConfigMap", "a"), alone{}, "", "ConfigMap ns/a changes, and only then"},
		{"the value of a new object is in its manifest", "", changed, from(".data.x", "ConfigMap", "a"), alone{}, "2", ""},
		{"the identity of a new object", "", changed, from(".metadata.uid", "ConfigMap", "a"), alone{}, "", "only the creation of ConfigMap ns/a shows what is at .metadata.uid"},
		{"an object that is dropped from the item", configMap, strings.Replace(configMap, name, "name: b", 1), from(".data.x", "ConfigMap", "a"), alone{}, "", "ConfigMap ns/a is deleted in the same job"},
		{"an object of another owner that does not exist yet", "", strings.Replace(configMap, name, "name: b", 1), from(".data.x", "ConfigMap", "other"), alone{}, "", "there is no ConfigMap ns/other yet"},
		{"an object that an item before it changes", "", configMap, from(".data.x", "ConfigMap", "other"), alone{[]diff.Object{other("planned")}}, "planned", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			desiredState := wishFor(objects(t, test.manifest))
			var recorded *Rollout
			if test.present != "" {
				recorded = start(t, &testJob{}, cluster, wishFor(objects(t, test.present)), nil)
				mustEnd(t, recorded)
			}
			var err error
			if desiredState.Exports, err = export.Compile(&deployer.Exports{Exports: []deployer.Export{test.export}}); err != nil {
				t.Fatal(err)
			}
			inventory := desiredState.inventoryOf(recorded)
			forecast, err := ForecastOf(t.Context(), cluster, desiredState, inventory, test.around)
			if err != nil {
				t.Fatal(err)
			}
			if (forecast.Unknown != nil) != (test.why != "") || forecast.Unknown != nil && !strings.Contains(forecast.Unknown.Error(), test.why) {
				t.Fatalf("unknown: %v", forecast.Unknown)
			}
			if got := fmt.Sprint(forecast.Exports["key"]); test.why == "" && !strings.HasPrefix(got, test.want) {
				t.Errorf("it exports %s", got)
			}
		})
	}
}

// inventoryOf is what a roll-out has recorded, if there was one.
func (DesiredState) inventoryOf(before *Rollout) (found []deployer.ManagedResourceStatus) {
	if before == nil {
		return nil
	}
	return before.Inventory()
}

// TestPreviewOfPolicies: what is dropped from the item, what is ignored from now on, and what an
// API server does not let change.
func TestPreviewOfPolicies(t *testing.T) {
	immutable := func(request fakecluster.Request) (fault fakecluster.Fault) {
		if request.Verb == "preview" {
			fault.Before = apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, request.Name, nil)
		}
		return fault
	}
	changed := strings.Replace(configMap, `"1"`, `"2"`, 1)
	for _, test := range []struct {
		reason   string
		fault    func(fakecluster.Request) fakecluster.Fault
		manifest string
		alter    func(*DesiredState)
		want     diff.Action
	}{
		{"an object that is dropped from the item", nil, strings.Replace(configMap, "name: a", "name: b", 1), nil, diff.Delete},
		{"an object that is ignored from now on", nil, changed, func(w *DesiredState) { w.Objects[0].Policy = deployer.IgnorePolicy }, diff.Keep},
		{"an object that is only created", nil, changed, func(w *DesiredState) { w.Objects[0].Policy = deployer.ImmutablePolicy }, diff.Keep},
		{"an immutable object that is created again", immutable, changed, func(w *DesiredState) { w.Objects[0].Recreate = true }, diff.Replace},
		{"an immutable object", immutable, changed, nil, diff.Unknown},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			before := start(t, &testJob{}, cluster, wishFor(objects(t, configMap)), nil)
			mustEnd(t, before)
			desiredState := wishFor(objects(t, test.manifest))
			if test.alter != nil {
				test.alter(&desiredState)
			}
			cluster.Fault = test.fault
			found, err := preview(t.Context(), cluster, desiredState, before.Inventory(), alone{})
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range found {
				if object.Kind == "" || object.Name == "" {
					t.Errorf("an empty object: %+v", object)
				}
				if object.Name == "a" && diff.Of(object, nil).Action != test.want {
					t.Errorf("got %+v", diff.Of(object, nil))
				}
			}
		})
	}
}
