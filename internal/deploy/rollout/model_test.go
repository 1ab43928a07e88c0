package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// history drives the life of one item on a cluster where answers are lost, others
// interfere, and the process dies between any two steps.
type history struct {
	*rapid.T
	cluster *fakecluster.Cluster
	// stored is the inventory as the status of the item has it.
	stored apply.Inventory
	wanted []string
	job    *testJob
	work   work
	// removing says that the item is being deleted.
	removing bool
}

// names are the objects that the item may want.
var modelNames = []string{"a", "b", "c", "d"}

func (h *history) entries() []apply.Entry {
	var entries []apply.Entry
	for _, name := range h.wanted {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetAPIVersion("v1")
		object.SetKind("ConfigMap")
		object.SetNamespace("ns")
		object.SetName(name)
		entries = append(entries, apply.Entry{Policy: deployer.ManagePolicy, Object: object})
	}
	return entries
}

// trouble is what may happen to a request.
func (h *history) trouble(request fakecluster.Request) fakecluster.Fault {
	if request.Verb == "watch" {
		return fakecluster.Fault{}
	}
	lost := fmt.Errorf("%s %s: no answer", request.Verb, request.Name)
	switch rapid.IntRange(0, 9).Draw(h.T, "trouble") {
	case 0:
		return fakecluster.Fault{Before: lost}
	case 1:
		return fakecluster.Fault{After: lost}
	case 2:
		return fakecluster.Fault{Before: apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, request.Name, errors.New("raced"))}
	}
	return fakecluster.Fault{}
}

// crash forgets everything that is only in memory.
func (h *history) crash() {
	if h.work != nil {
		_ = h.work.Close()
	}
	h.work = nil
}

// attempt is one call of the deployer. It reports whether the work is done.
func (h *history) attempt() (done bool) {
	ctx := context.Background()
	if h.work == nil {
		var err error
		if h.removing {
			h.work, err = BeginRemoval(ctx, h.job, h.cluster, Teardown{Name: "test", Owner: wishFor(nil).Owner}, h.stored)
		} else {
			var begun *Rollout
			begun, err = Begin(ctx, h.job, h.cluster, wishFor(h.entries()), h.stored)
			if h.work = begun; err != nil {
				h.work = nil
			}
		}
		if err != nil {
			return false
		}
		h.stored = h.work.Inventory()
	}
	waiting, err := h.work.Continue(ctx)
	if rapid.IntRange(0, 9).Draw(h.T, "crash before the status is written") > 0 {
		h.stored = h.work.Inventory()
	} else {
		h.crash()
		return false
	}
	return err == nil && len(waiting) == 0
}

// interfere is what others do.
func (h *history) interfere() {
	name := rapid.SampledFrom(modelNames).Draw(h.T, "of")
	object := h.cluster.Find("ConfigMap", "ns", name)
	switch rapid.IntRange(0, 3).Draw(h.T, "other client") {
	case 0:
		h.cluster.Remove("ConfigMap", "ns", name)
	case 1:
		if object != nil {
			object.SetFinalizers([]string{"acme.example/hold"})
			h.cluster.Put(object)
		}
	case 2:
		if object != nil && len(object.GetFinalizers()) > 0 {
			h.release(object)
		}
	}
}

// release removes the finalizers; objects that are being deleted end with that.
func (h *history) release(object *unstructured.Unstructured) {
	if object.GetDeletionTimestamp() != nil {
		h.cluster.Remove("ConfigMap", "ns", object.GetName())
		return
	}
	object.SetFinalizers(nil)
	h.cluster.Put(object)
}

// check looks at what must hold at any time.
func (h *history) check() {
	for _, name := range h.cluster.Names() {
		known := slices.ContainsFunc(h.stored, func(entry deployer.ManagedResourceStatus) bool {
			return "ConfigMap ns/"+entry.Resource.Name == name
		})
		object := h.cluster.Find("ConfigMap", "ns", strings.TrimPrefix(name, "ConfigMap ns/"))
		if !known && object.GetLabels()[label] == "item" {
			h.Fatalf("%s was deployed and is forgotten; recorded are %v", name, h.stored)
		}
	}
	if h.cluster.Find("ConfigMap", "ns", "foreign") == nil {
		h.Fatalf("an object of another owner was removed")
	}
}

// settle ends the faults, and lets the work finish.
func (h *history) settle() {
	h.crash()
	h.cluster.Fault = nil
	for _, name := range modelNames {
		if object := h.cluster.Find("ConfigMap", "ns", name); object != nil {
			h.release(object)
		}
	}
	for range 100 {
		if h.attempt() {
			return
		}
		for _, name := range modelNames {
			if object := h.cluster.Find("ConfigMap", "ns", name); object != nil && object.GetDeletionTimestamp() != nil {
				h.release(object)
			}
		}
	}
	h.Fatalf("the work does not end")
}

// TestHistories runs many histories: in each of them nothing that was deployed is
// forgotten, nothing of others is touched, and in the end there is what was wanted.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{T: t, cluster: fakecluster.New(), job: &testJob{}}
		h.cluster.Put(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign", "namespace": "ns"}}})
		for range rapid.IntRange(1, 5).Draw(t, "jobs") {
			h.crash()
			h.wanted = rapid.SliceOfNDistinct(rapid.SampledFrom(modelNames), 0, 4, rapid.ID[string]).Draw(t, "wanted")
			h.cluster.Fault = h.trouble
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				switch rapid.IntRange(0, 5).Draw(t, "step") {
				case 0:
					h.crash()
				case 1:
					h.interfere()
				default:
					h.attempt()
				}
				h.check()
			}
		}
		h.settle()
		h.check()
		for _, name := range modelNames {
			exists, wanted := h.cluster.Find("ConfigMap", "ns", name) != nil, slices.Contains(h.wanted, name)
			if exists != wanted {
				t.Fatalf("%s exists: %t, is wanted: %t", name, exists, wanted)
			}
		}
		h.crash()
		h.removing = true
		h.settle()
		if left := h.cluster.Names(); len(left) != 1 || len(h.stored) != 0 {
			t.Fatalf("after the removal there are %v, recorded %v", left, h.stored)
		}
		h.crash()
		if open := h.cluster.Watched(); open != 0 {
			t.Fatalf("%d watches are left", open)
		}
	})
}
