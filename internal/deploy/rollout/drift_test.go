package rollout

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestCompareAll compares several objects with one list, and changes nothing.
func TestCompareAll(t *testing.T) {
	second := strings.Replace(configMap, "name: a", "name: b", 1)
	desiredState := wishFor(objects(t, configMap, second, namespace))
	cluster := fakecluster.New()
	r := start(t, &testJob{}, cluster, desiredState, nil)
	mustEnd(t, r)
	cluster.Counts()
	drift, err := Compare(t.Context(), cluster, desiredState, r.Inventory())
	if err != nil || len(drift) != 0 {
		t.Errorf("drift %v, error %v", drift, err)
	}
	if diff := cmp.Diff(map[string]int{"list": 1, "get": 1}, cluster.Counts()); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
	changed := cluster.Find("ConfigMap", "ns", "b")
	changed.Object["data"] = map[string]any{"x": "2"}
	cluster.Put(changed)
	cluster.Remove("Namespace", "", "ns")
	before := cluster.Names()
	drift, err = Compare(t.Context(), cluster, desiredState, r.Inventory())
	if diff := cmp.Diff([]string{"ConfigMap ns/b (data.x)", "Namespace ns (it does not exist)"}, drift); err != nil || diff != "" {
		t.Errorf("error %v, -want +got\n%s", err, diff)
	}
	if diff := cmp.Diff(before, cluster.Names()); diff != "" {
		t.Errorf("the comparison has changed something\n%s", diff)
	}
}

func TestCompareNeedsAnswers(t *testing.T) {
	desiredState := wishFor(objects(t, configMap, strings.Replace(configMap, "name: a", "name: b", 1)))
	r := start(t, &testJob{}, fakecluster.New(), desiredState, nil)
	refused := errors.New("forbidden")
	for _, verb := range []string{"list", "get"} {
		cluster := fakecluster.New()
		cluster.Fault = func(request fakecluster.Request) (fault fakecluster.Fault) {
			if request.Verb == verb {
				fault.Before = refused
			}
			return fault
		}
		if _, err := Compare(t.Context(), cluster, desiredState, r.Inventory()); !errors.Is(err, refused) {
			t.Errorf("%s: error %v", verb, err)
		}
	}
	if _, err := Compare(t.Context(), fakecluster.New(), wishFor(objects(t, tenant)), nil); err == nil {
		t.Error("a kind that is not known is no drift")
	}
}
