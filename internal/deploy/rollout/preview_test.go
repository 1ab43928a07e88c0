package rollout

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
)

// TestPreview: what is new, changed, deleted and kept, and nothing is written.
func TestPreview(t *testing.T) {
	named := func(name string) string { return strings.Replace(configMap, "name: a", "name: "+name, 1) }
	cluster := fakecluster.New()
	first := start(t, &testJob{}, cluster, wishFor(objects(t, named("stays"), named("changes"), named("goes"), named("lost"))), nil)
	mustEnd(t, first)
	changed := cluster.Find("ConfigMap", "ns", "changes")
	changed.Object["data"] = map[string]any{"x": "2"}
	cluster.Put(changed)
	cluster.Remove("ConfigMap", "ns", "lost")
	before := cluster.Names()
	previews, err := preview(t.Context(), cluster, wishFor(objects(t, named("new"), named("changes"), named("stays"))), first.Inventory(), alone{})
	if err != nil {
		t.Fatal(err)
	}
	actions := map[string]diff.Action{}
	for _, found := range previews {
		actions[found.Name] = diff.Of(found, nil).Action
	}
	want := map[string]diff.Action{"new": diff.Create, "changes": diff.Update, "stays": diff.Keep, "goes": diff.Delete, "lost": diff.Keep}
	if difference := cmp.Diff(want, actions); difference != "" {
		t.Error(difference)
	}
	if difference := cmp.Diff(before, cluster.Names()); difference != "" {
		t.Errorf("the preview has changed something\n%s", difference)
	}
}

// TestPreviewOfFallback: with policy fallback, an object of another item changes when that item gives
// it up, has released it, or never.
func TestPreviewOfFallback(t *testing.T) {
	entries := objects(t, configMap)
	entries[0].Policy = deployer.FallbackPolicy
	for _, test := range []struct {
		reason     string
		releasedBy string
		around     Outlook
		want       diff.Action
	}{
		{"the other item still wants it", "", besideOne{}, diff.Keep},
		{"the other item gives it up", "", besideOne{yields: true}, diff.Update},
		{"the other item has released it", "other", besideOne{}, diff.Update},
		{"an item of elsewhere has released it", "other", alone{}, diff.Keep},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			live := entries[0].Object.DeepCopy()
			live.Object["data"] = map[string]any{"x": "of the other item"}
			live.SetLabels(map[string]string{ownership.ManifestLabel: "other"})
			if test.releasedBy != "" {
				live.SetAnnotations(map[string]string{v1alpha1.ReleasedByAnnotation: test.releasedBy})
			}
			cluster.Put(live)
			desired := wishFor(entries)
			desired.Owner.Label = ownership.ManifestLabel
			previews, err := preview(t.Context(), cluster, desired, nil, test.around)
			if err != nil || len(previews) != 1 {
				t.Fatal(previews, err)
			}
			if got := diff.Of(previews[0], nil).Action; got != test.want {
				t.Errorf("action %s, expected %s", got, test.want)
			}
		})
	}
}

// TestPreviewNeedsAnswers: a question without an answer is an error, not no change.
func TestPreviewNeedsAnswers(t *testing.T) {
	refused := errors.New("forbidden")
	for _, verb := range []string{"previewnew", "get"} {
		cluster := fakecluster.New()
		cluster.Fault = func(request fakecluster.Request) (fault fakecluster.Fault) {
			if request.Verb == verb {
				fault.Before = refused
			}
			return fault
		}
		if verb == "get" {
			// Only an object that exists is read.
			cluster.Put(objects(t, configMap)[0].Object.DeepCopy())
		}
		if _, err := preview(t.Context(), cluster, wishFor(objects(t, configMap)), nil, alone{}); !errors.Is(err, refused) {
			t.Errorf("%s: error %v", verb, err)
		}
	}
	if _, err := preview(t.Context(), fakecluster.New(), wishFor(objects(t, tenant)), nil, alone{}); err == nil {
		t.Error("a kind that is not known")
	}
}

// TestPreviewRequests: what the API server is asked about an object. New ones, which are many in a first
// job, cost one request.
func TestPreviewRequests(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*fakecluster.Cluster)
		job    bool
		want   string
		action diff.Action
	}{
		{"a new object", nil, false, "previewnew", diff.Create},
		{"an object of another client", func(c *fakecluster.Cluster) { c.Put(objects(t, configMap)[0].Object.DeepCopy()) }, false, "previewnew get preview", diff.Update},
		{"an object that stays", nil, true, "get", diff.Keep},
		{"an object that was changed by another client", func(c *fakecluster.Cluster) {
			changed := c.Find("ConfigMap", "ns", "a")
			changed.Object["data"] = map[string]any{"x": "other"}
			c.Put(changed)
		}, true, "get preview", diff.Update},
		{"an object that another client has deleted", func(c *fakecluster.Cluster) { c.Remove("ConfigMap", "ns", "a") }, true, "get previewnew", diff.Create},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			desired := wishFor(objects(t, configMap))
			var recorded apply.Inventory
			if test.job {
				first := start(t, &testJob{}, cluster, desired, nil)
				mustEnd(t, first)
				recorded = first.Inventory()
			}
			if test.change != nil {
				test.change(cluster)
			}
			var asked []string
			cluster.Fault = func(request fakecluster.Request) (fault fakecluster.Fault) {
				asked = append(asked, request.Verb)
				return fault
			}
			previews, err := preview(t.Context(), cluster, desired, recorded, alone{})
			if err != nil || len(previews) != 1 {
				t.Fatal(previews, err)
			}
			if got := diff.Of(previews[0], nil).Action; got != test.action || strings.Join(asked, " ") != test.want {
				t.Errorf("%s after %q", got, asked)
			}
		})
	}
}

// TestForecastOfLost: an object that another client has deleted is created again if a value is read
// from it, also where it is read for nothing else.
func TestForecastOfLost(t *testing.T) {
	for _, test := range []struct {
		reason, export string
		present        bool
		want           diff.Action
	}{
		{"a value is read from a missing object", "a", false, diff.Create},
		{"a value is read from an object that exists", "a", true, diff.Keep},
		{"nothing is read from a missing object", "b", false, diff.Keep},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			if test.present {
				cluster.Put(objects(t, configMap)[0].Object)
			}
			desiredState := wishFor(nil)
			desiredState.LookOnly, desiredState.Unchecked = true, objects(t, configMap)
			desiredState.Marked = func(object *unstructured.Unstructured) *unstructured.Unstructured { return object }
			desiredState.Exports = exportsFrom(t, `exports: [{key: k, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap, name: `+test.export+`, namespace: ns}}]`)
			stays := diff.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "a"}
			forecast := ForecastWith(t.Context(), cluster, []diff.Object{stays}, desiredState, alone{})
			if got := diff.Of(forecast.Objects[0], nil).Action; got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
			if read := forecast.Exports["k"] == "1"; read != (test.export == "a") {
				t.Errorf("it exports %v (%v)", forecast.Exports, forecast.Unknown)
			}
		})
	}
}
