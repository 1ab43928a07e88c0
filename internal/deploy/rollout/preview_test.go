package rollout

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/deploy/target/memory"
	"go.landscaper.dev/internal/diff"
)

// TestPreview: what is new, what changes, what goes and what stays, and nothing is
// written.
func TestPreview(t *testing.T) {
	named := func(name string) string { return strings.Replace(configMap, "name: a", "name: "+name, 1) }
	cluster := memory.New()
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

// TestPreviewNeedsAnswers: what nobody could ask is an error, not no change.
func TestPreviewNeedsAnswers(t *testing.T) {
	refused := errors.New("forbidden")
	for _, verb := range []string{"previewnew", "get"} {
		cluster := memory.New()
		cluster.Fault = func(request memory.Request) (fault memory.Fault) {
			if request.Verb == verb {
				fault.Before = refused
			}
			return fault
		}
		if _, err := preview(t.Context(), cluster, wishFor(objects(t, configMap)), nil, alone{}); !errors.Is(err, refused) {
			t.Errorf("%s: error %v", verb, err)
		}
	}
	if _, err := preview(t.Context(), memory.New(), wishFor(objects(t, tenant)), nil, alone{}); err == nil {
		t.Error("a kind that is not known")
	}
}
