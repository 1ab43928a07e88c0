package model

import (
	"runtime"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// smallCases is how many small cases the allocations of one are measured by.
const smallCases = 100

// mostAllocations is how many allocations a small case may take, with those of the model, which are two
// thirds.
const mostAllocations = 18_000

// TestJobAllocations lets an Installation with one item be created, be asked for another job, and be deleted,
// with nothing going wrong. Its profile has what of it is the work of the controllers
// (docs/performance.md).
func TestJobAllocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(4, world.Rates{}) // one whose deployer is in the process
		h.Calm, h.left = true, 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range smallCases {
			h.liveSmallCase(t)
		}
		runtime.ReadMemStats(&after)
		each := (after.Mallocs - before.Mallocs) / smallCases
		t.Logf("each takes %d allocations, %d KB, %d reconciles, %d reads and %d writes", each, (after.TotalAlloc-before.TotalAlloc)/smallCases>>10,
			h.Counts.Reconciles/smallCases, h.Counts.Reads/smallCases, h.Counts.Writes/smallCases)
		if each > mostAllocations {
			t.Errorf("a small case takes %d allocations", each)
		}
	})
}

// liveSmallCase is the life of an Installation with one item.
func (h *history) liveSmallCase(t *testing.T) {
	key := types.NamespacedName{Namespace: world.Spaces[0], Name: "a"}
	asked := map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}
	wanted := desired.State{Items: []desired.Item{{Config: desired.Config{APIVersion: "example.org/v1", Kind: "Item", Inst: "a", Name: "x", Value: 1, Behave: "fine"}}}}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: asked}}
	inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}
	inst.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(store.Encoded(desired.Filesystem(desired.Describe(wanted.Items))))}
	world.Must(h.Store.Create(inst))
	h.trees.Users.Expect(inst, wanted)
	h.Settle()
	stored, err := h.Store.Get("Installation", key)
	world.Must(err)
	inst = stored.DeepCopyObject().(*v1alpha1.Installation)
	if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("it has not succeeded: %+v", inst.Status)
	}
	inst.Annotations = asked
	world.Must(h.Store.Update(inst, false))
	h.Settle()
	world.Must(h.Store.Remove(inst, nil))
	h.Settle()
	if _, err := h.Store.Get("Installation", key); err == nil || h.Broken != nil {
		t.Fatalf("it is left, or something is wrong: %v", h.Broken)
	}
}
