package assistant

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

func TestPlanned(t *testing.T) {
	result := &preview.Result{
		Digest: "sha256:1", Follows: []string{"other"}, Warnings: []string{"a\nwarning"},
		Summary: diff.Summary{Create: 1, Update: 1, Delete: 1},
		Waiting: []preview.Waiting{{Path: "shop/late", Reason: "import x is missing"}},
		Items: []preview.Item{
			{Path: "shop/a", Target: "edge", Changes: []diff.Change{
				{Action: diff.Keep, Kind: "ConfigMap", Name: "same"},
				{Action: diff.Create, Kind: "ConfigMap", Name: "new", Namespace: "n", Fields: []diff.Field{{Path: "data.x", After: "1\n2"}}},
				{Action: diff.Update, Kind: "Secret", Name: "key", Fields: []diff.Field{{Path: "data.key", Secret: true}}},
				{Action: diff.Update, Kind: "Deployment", Name: "app", Fields: []diff.Field{{Path: "spec.replicas", Before: 1, After: 2}}},
				{Action: diff.Delete, Kind: "PersistentVolumeClaim", Name: "data", Cluster: "old"},
			}},
			{Path: "shop/b", Unknown: "no\x1b comparer"},
		},
	}
	want := planAnswer{
		Changes: true, Summary: result.Summary.String(), Digest: "sha256:1", Follows: []string{"other"}, Warnings: []string{"a warning"},
		Unknown: []string{"shop/b: no? comparer", "shop/late: import x is missing"},
		Objects: []plannedObject{
			{Action: "delete", Kind: "PersistentVolumeClaim", Name: "data", Item: "shop/a", Target: "edge", Note: "on the earlier cluster old"},
			{Action: "update", Kind: "Secret", Name: "key", Item: "shop/a", Target: "edge", Fields: []string{"data.key: (secret, changed)"}},
			{Action: "update", Kind: "Deployment", Name: "app", Item: "shop/a", Target: "edge", Fields: []string{"spec.replicas: 1 → 2"}},
			{Action: "create", Kind: "ConfigMap", Name: "n/new", Item: "shop/a", Target: "edge", Fields: []string{"data.x:", "+ 1", "+ 2"}},
		},
	}
	if found := cmp.Diff(want, planned(result)); found != "" {
		t.Error(found)
	}
}

// TestPlannedIsBounded: what is lost is named, however much else changes.
func TestPlannedIsBounded(t *testing.T) {
	var changes []diff.Change
	for i := range 3 * maxObjects {
		changes = append(changes, diff.Change{Action: diff.Create, Kind: "ConfigMap", Name: fmt.Sprint("new-", i), Fields: []diff.Field{{Path: "data.x", After: strings.Repeat("line\n", 1000)}}})
	}
	changes = append(changes, diff.Change{Action: diff.Delete, Kind: "Namespace", Name: "last"})
	got := planned(&preview.Result{Items: []preview.Item{{Path: "shop/a", Changes: changes}}})
	if got.Objects[0].Name != "last" || len(got.Objects) != maxObjects || got.MoreObjects != len(changes)-maxObjects {
		t.Errorf("%d objects, %d more, first %q", len(got.Objects), got.MoreObjects, got.Objects[0].Name)
	}
	if text, err := json.Marshal(got); err != nil || len(text) > 4*maxAnswer {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}
