package rollout

import (
	"testing"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestMovedObject: an object moves from item two to item one. Item one takes the object
// over; whatever two does afterwards, be it a job or its end, leaves the very object alone,
// and forgets it.
func TestMovedObject(t *testing.T) {
	for _, policy := range []deployer.ManifestPolicy{deployer.ManagePolicy, deployer.KeepPolicy, deployer.ImmutablePolicy, deployer.FallbackPolicy} {
		for _, strategy := range []deployer.UpdateStrategy{deployer.UpdateStrategyUpdate, deployer.UpdateStrategyPatch, deployer.UpdateStrategyMergeOverwrite, deployer.UpdateStrategyApply} {
			for _, leaves := range []bool{false, true} {
				name := string(policy) + " " + string(strategy) + " loses the object"
				if leaves {
					name = string(policy) + " " + string(strategy) + " goes"
				}
				t.Run(name, func(t *testing.T) { moves(t, policy, strategy, leaves) })
			}
		}
	}
}

func moves(t *testing.T, policy deployer.ManifestPolicy, strategy deployer.UpdateStrategy, leaves bool) {
	cluster := fakecluster.New()
	two, one := wishFor(objects(t, configMap)), wishFor(objects(t, configMap))
	two.Owner.Item, two.Strategy, two.Objects[0].Policy = "two", strategy, policy
	one.Owner.Item, one.Strategy = "one", strategy
	before := start(t, &testJob{}, cluster, two, nil)
	mustEnd(t, before)
	uid := cluster.Find("ConfigMap", "ns", "a").GetUID()
	taken := start(t, &testJob{}, cluster, one, nil)
	mustEnd(t, taken)

	var left apply.Inventory
	if leaves {
		removal, err := BeginRemoval(t.Context(), &testJob{}, cluster, Teardown{Name: "test", Owner: two.Owner}, before.Inventory())
		if err != nil {
			t.Fatal(err)
		}
		mustEnd(t, removal)
		left = removal.Inventory()
	} else {
		two.Objects = nil
		after := start(t, &testJob{}, cluster, two, before.Inventory())
		mustEnd(t, after)
		left = after.Inventory()
	}
	found := cluster.Find("ConfigMap", "ns", "a")
	if found == nil || found.GetUID() != uid {
		t.Fatalf("item one wants the object, and has %v", found)
	}
	if len(left) != 0 {
		t.Errorf("item two remembers %v", left)
	}
	removal, err := BeginRemoval(t.Context(), &testJob{}, cluster, Teardown{Name: "test", Owner: one.Owner}, taken.Inventory())
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, removal)
	if cluster.Find("ConfigMap", "ns", "a") != nil {
		t.Error("the object is left when its new owner is deleted")
	}
}
