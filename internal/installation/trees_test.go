package installation

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/plan"
)

// TestTrees: what the members of a tree take, as long as they are there.
func TestTrees(t *testing.T) {
	var all trees
	all.note("stranger", plan.Use{Copies: 7})
	all.forget("stranger")
	all.plant("root", map[types.UID]plan.Use{"root": {Installations: 2, Copies: 1}})
	all.plant("root", map[types.UID]plan.Use{"root": {Installations: 100}})
	want := func(member types.UID, installations, copies int) {
		t.Helper()
		if use, known := all.others("root", member); !known || use.Installations != installations || use.Copies != copies {
			t.Errorf("the others of %s take %+v, %t", member, use, known)
		}
	}
	want("root", 0, 0)
	want("a", 2, 1)
	all.note("a", plan.Use{Installations: 1, Copies: 10, Bytes: 5})
	all.note("a", plan.Use{Installations: 3, Copies: 20, Bytes: 5})
	want("a", 2, 1)
	want("b", 5, 21)
	all.forget("a")
	want("b", 2, 1)
	all.forget("b")
	all.forget("root")
	if _, known := all.others("root", "a"); known || len(all.members)+len(all.roots) > 0 {
		t.Errorf("a tree that is gone is remembered: %v", all.members)
	}
	all.plant("flat", map[types.UID]plan.Use{"flat": {}})
	all.note("flat", plan.Use{Copies: 3})
	if len(all.members)+len(all.roots) > 0 {
		t.Error("a root without subinstallations is remembered")
	}
}

// TestUseOfTree: after a start, what is there counts.
func TestUseOfTree(t *testing.T) {
	root := given.InstallationOf(t, "{}")
	child := func(name string, parent *v1alpha1.Installation) *v1alpha1.Installation {
		return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
			Namespace: parent.Namespace, Name: name, UID: types.UID("uid-of-" + name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(parent, v1alpha1.GroupVersion.WithKind("Installation"))},
		}}
	}
	a := child("a", root)
	b := child("b", a)
	copied := given.CopyOf("copy", "job-1")
	copied.Labels[v1alpha1.DataObjectContextLabel] = "Inst.a"
	r := &Reconciler{Client: given.API(t, root, a, b, copied)}
	for _, test := range []struct {
		inst                         *v1alpha1.Installation
		depth, installations, copies int
	}{{root, 0, 1, 1}, {a, 1, 1, 0}, {b, 2, 2, 1}} {
		use, err := r.useOfTree(t.Context(), snapshotOf(test.inst))
		if err != nil || use.Depth != test.depth || use.Installations != test.installations || use.Copies != test.copies {
			t.Errorf("%s: %+v, %v", test.inst.Name, use, err)
		}
	}
}

// TestTreeTooLarge: what is too much ends the job with a clear error.
func TestTreeTooLarge(t *testing.T) {
	b := newBench(t, nested(t)...)
	b.trees.plant("uid-2", map[types.UID]plan.Use{"uid-2": {}, "uid-other": {Installations: plan.MaxTree}})
	b.reconcile(t)
	s := b.installation(t).Status
	if s.InstallationPhase != "Failed" || !strings.Contains(s.LastError.Message, "there are more than 5000 subinstallations") {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}
