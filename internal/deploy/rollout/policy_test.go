package rollout

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestPolicies shows for each policy what becomes of an object that is missing, that is the item's
// own, and that has another owner: when it is applied, when it is no longer listed, and when the
// item is deleted.
func TestPolicies(t *testing.T) {
	const (
		missing = ""
		own     = "own"
		foreign = "foreign"
		// What becomes of an object: it is as the manifest says, as it was before, or not
		// there.
		applied = "applied"
		kept    = "as before"
		gone    = "gone"
	)
	tests := []struct {
		policy  deployer.ManifestPolicy
		present string
		// after is its state after the job, unlisted after it was dropped from the list, deleted after
		// the item was deleted.
		after, unlisted, deleted string
	}{
		{deployer.ManagePolicy, missing, applied, gone, gone},
		{deployer.ManagePolicy, own, applied, gone, gone},
		{deployer.ManagePolicy, foreign, applied, gone, gone},
		{deployer.KeepPolicy, missing, applied, applied, applied},
		{deployer.KeepPolicy, own, applied, applied, applied},
		{deployer.KeepPolicy, foreign, applied, applied, applied},
		{deployer.ImmutablePolicy, missing, applied, gone, gone},
		{deployer.ImmutablePolicy, own, kept, gone, gone},
		{deployer.ImmutablePolicy, foreign, kept, kept, kept},
		{deployer.FallbackPolicy, missing, applied, gone, gone},
		{deployer.FallbackPolicy, own, applied, gone, gone},
		{deployer.FallbackPolicy, foreign, kept, kept, kept},
		{deployer.IgnorePolicy, missing, gone, gone, gone},
		{deployer.IgnorePolicy, own, kept, kept, kept},
		{deployer.IgnorePolicy, foreign, kept, kept, kept},
	}
	for _, test := range tests {
		for _, strategy := range []deployer.UpdateStrategy{deployer.UpdateStrategyUpdate, deployer.UpdateStrategyPatch, deployer.UpdateStrategyMergeOverwrite, deployer.UpdateStrategyApply} {
			t.Run(strings.Join([]string{string(test.policy), test.present, string(strategy)}, " "), func(t *testing.T) {
				// deploy brings a cluster to the state after the job.
				deploy := func() (*fakecluster.Cluster, *Rollout, DesiredState) {
					cluster := fakecluster.New()
					if test.present != missing {
						cluster.Put(before(t, test.present))
					}
					desiredState := wishFor(objects(t, configMap))
					desiredState.Strategy, desiredState.Objects[0].Policy = strategy, test.policy
					r := start(t, &testJob{}, cluster, desiredState, nil)
					mustEnd(t, r)
					return cluster, r, desiredState
				}
				cluster, r, desiredState := deploy()
				if got := stateOf(cluster, applied, kept, gone); got != test.after {
					t.Errorf("after the job it is %s, want %s", got, test.after)
				}
				desiredState.Objects = nil
				mustEnd(t, start(t, &testJob{}, cluster, desiredState, r.Inventory()))
				if got := stateOf(cluster, applied, kept, gone); got != test.unlisted {
					t.Errorf("no longer listed it is %s, want %s", got, test.unlisted)
				}
				cluster, r, desiredState = deploy()
				removal, err := BeginRemoval(t.Context(), &testJob{}, cluster, Teardown{Name: "test deployer", Owner: desiredState.Owner}, r.Inventory())
				if err != nil {
					t.Fatal(err)
				}
				mustEnd(t, removal)
				if got := stateOf(cluster, applied, kept, gone); got != test.deleted {
					t.Errorf("after the deletion of the item it is %s, want %s", got, test.deleted)
				}
			})
		}
	}
}

// TestBecomesIgnored shows that an object that was deployed and is to be ignored now is left as it
// is, and is not the item's any more: it stays when it is dropped from the list, and when the item
// is deleted.
func TestBecomesIgnored(t *testing.T) {
	for _, policy := range []deployer.ManifestPolicy{deployer.ManagePolicy, deployer.KeepPolicy, deployer.ImmutablePolicy, deployer.FallbackPolicy} {
		t.Run(string(policy), func(t *testing.T) {
			cluster, desiredState := fakecluster.New(), wishFor(objects(t, configMap))
			desiredState.Objects[0].Policy = policy
			first := start(t, &testJob{}, cluster, desiredState, nil)
			mustEnd(t, first)
			if len(first.Inventory()) != 1 {
				t.Fatalf("recorded: %v", first.Inventory())
			}
			desiredState.Objects[0].Policy = deployer.IgnorePolicy
			cluster.Counts()
			second := start(t, &testJob{}, cluster, desiredState, first.Inventory())
			mustEnd(t, second)
			if len(second.Inventory()) != 0 {
				t.Errorf("it is recorded: %v", second.Inventory())
			}
			if counts := cluster.Counts(); counts["update"]+counts["delete"]+counts["apply"]+counts["patch"]+counts["create"] != 0 {
				t.Errorf("requests %v", counts)
			}
			desiredState.Objects = nil
			third := start(t, &testJob{}, cluster, desiredState, second.Inventory())
			mustEnd(t, third)
			removal, err := BeginRemoval(t.Context(), &testJob{}, cluster, Teardown{Name: "test deployer", Owner: desiredState.Owner}, third.Inventory())
			if err != nil {
				t.Fatal(err)
			}
			mustEnd(t, removal)
			if cluster.Find("ConfigMap", "ns", "a") == nil {
				t.Error("it was deleted")
			}
		})
	}
}

// before is the object as it was before the item.
func before(t *testing.T, whose string) *unstructured.Unstructured {
	object := objects(t, strings.Replace(configMap, `x: "1"`, `x: "0"`, 1))[0].Object
	if whose == "own" {
		object.SetLabels(map[string]string{label: "item"})
	} else {
		object.SetLabels(map[string]string{label: "another"})
	}
	return object
}

func stateOf(cluster *fakecluster.Cluster, applied, kept, gone string) string {
	found := cluster.Find("ConfigMap", "ns", "a")
	if found == nil {
		return gone
	}
	if x, _, _ := unstructured.NestedString(found.Object, "data", "x"); x == "0" {
		return kept
	}
	return applied
}
