package observe_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/cause"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestBelow: objects below children are read from the caches, and only where causes are.
func TestBelow(t *testing.T) {
	sub := func(name, uid, parent, parentUID string, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
		inst := named("n", name, "uid-"+uid, testbuilders.Owner("Installation", parent, parentUID))
		inst.Status.JobID, inst.Status.InstallationPhase = "a", phase
		if phase.IsFinal() {
			inst.Status.JobIDFinished, inst.Status.LastError = "a", &v1alpha1.Error{Message: "of " + name}
		}
		return inst
	}
	exec := &v1alpha1.Execution{}
	exec.Namespace, exec.Name, exec.OwnerReferences = "n", "leaf", []metav1.OwnerReference{testbuilders.Owner("Installation", "leaf", "leaf")}
	exec.Status.JobID, exec.Status.JobIDFinished, exec.Status.ExecutionPhase = "a", "a", "Failed"
	exec.Status.LastError = &v1alpha1.Error{Message: "no such image"}
	root := named("n", "root", "uid-root")
	root.Status.JobID = "a"
	top, leaf, good := sub("top", "top", "root", "root", "Failed"), sub("leaf", "leaf", "top", "top", "Failed"), sub("good", "good", "root", "root", "Succeeded")
	w := newWorld(t, objects{root, top, leaf, good, exec}, nil)
	tree, err := w.Below(t.Context(), siblings.Family{Inst: root, Subs: []*v1alpha1.Installation{top, good}})
	if got := cause.List(siblings.Failures(tree, "a")); err != nil || got != "no such image; in top > leaf" {
		t.Errorf("%q, %v", got, err)
	}
	// The Execution and the subinstallations of top and of leaf, and nothing of good.
	if calls := len(w.cache.Calls); calls != 4 || len(w.server.Calls) > 0 {
		t.Errorf("%d reads of the cache, %v of the API server", calls, w.server.Calls)
	}
	t.Run("an object that cannot be read is an error", func(t *testing.T) {
		w := same(t, root, top, leaf, exec)
		w.cache.At, w.cache.Err = 0, errors.New("the cache is not there")
		if _, err := w.Below(t.Context(), siblings.Family{Inst: root, Subs: []*v1alpha1.Installation{top}}); !errors.Is(err, w.cache.Err) {
			t.Error(err)
		}
	})
	t.Run("only some of many blocked subinstallations are read", func(t *testing.T) {
		var stuck []*v1alpha1.Installation
		for i := range 100 {
			one := sub(fmt.Sprint("s", i), fmt.Sprint(i), "root", "root", "Progressing")
			testbuilders.Stuck(one, string(reasons.ChildrenBlocked), "m", time.Minute)
			stuck = append(stuck, one)
		}
		w := newWorld(t, nil, nil)
		if _, err := w.Below(t.Context(), siblings.Family{Inst: root, Subs: stuck}); err != nil || len(w.cache.Calls) != 40 {
			t.Errorf("%d reads, %v", len(w.cache.Calls), err)
		}
	})
}
