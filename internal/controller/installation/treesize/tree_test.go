package treesize

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/plan"
)

// TestTrees: what the members of a tree take, as long as they exist.
func TestTrees(t *testing.T) {
	var all Tracker
	all.Record("stranger", plan.Usage{Copies: 7})
	all.Forget("stranger")
	all.Initialize("root", map[types.UID]plan.Usage{"root": {Installations: 2, Copies: 1}})
	all.Initialize("root", map[types.UID]plan.Usage{"root": {Installations: 100}})
	want := func(member types.UID, installations, copies int) {
		t.Helper()
		if use, known := all.others("root", member); !known || use.Installations != installations || use.Copies != copies {
			t.Errorf("the others of %s take %+v, %t", member, use, known)
		}
	}
	want("root", 0, 0)
	want("a", 2, 1)
	all.Record("a", plan.Usage{Installations: 1, Copies: 10, Bytes: 5})
	all.Record("a", plan.Usage{Installations: 3, Copies: 20, Bytes: 5})
	want("a", 2, 1)
	want("b", 5, 21)
	all.Forget("a")
	want("b", 2, 1)
	all.Forget("b")
	all.Forget("root")
	if _, known := all.others("root", "a"); known || len(all.members)+len(all.roots) > 0 {
		t.Errorf("a tree that no longer exists is remembered: %v", all.members)
	}
	all.Initialize("flat", map[types.UID]plan.Usage{"flat": {}})
	all.Record("flat", plan.Usage{Copies: 3})
	if len(all.members)+len(all.roots) > 0 {
		t.Error("a root without subinstallations is remembered")
	}
}

// TestUseOfTree: after a start, existing members count.
func TestUseOfTree(t *testing.T) {
	root := testbuilders.InstallationOf(t, "{}")
	child := func(name string, parent *v1alpha1.Installation) *v1alpha1.Installation {
		return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
			Namespace: parent.Namespace, Name: name, UID: types.UID("uid-of-" + name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(parent, v1alpha1.GroupVersion.WithKind("Installation"))},
		}}
	}
	a := child("a", root)
	b := child("b", a)
	// The cache shows the tree with all that is below it, although it may not exist any more.
	going := child("going", root)
	going.DeletionTimestamp, going.Finalizers = &metav1.Time{Time: testbuilders.Noon}, []string{v1alpha1.Finalizer}
	copied := testbuilders.CopyOf("copy", "job-1")
	copied.Labels[v1alpha1.DataObjectContextLabel] = "Inst.a"
	known, reader := Tracker{}, observe.Reader{Cached: fakeapi.New(t, root, a, b, going, child("below", going), copied)}
	for _, test := range []struct {
		inst                         *v1alpha1.Installation
		depth, installations, copies int
	}{{root, 0, 1, 1}, {a, 1, 1, 0}, {b, 2, 2, 1}} {
		use, err := known.Usage(t.Context(), reader, test.inst)
		if err != nil || use.Depth != test.depth || use.Installations != test.installations || use.Copies != test.copies {
			t.Errorf("%s: %+v, %v", test.inst.Name, use, err)
		}
	}
	for _, inst := range []*v1alpha1.Installation{b, a, root} {
		known.Forget(inst.UID)
	}
	if len(known.members)+len(known.roots) > 0 {
		t.Errorf("of a tree that no longer exists, %v are remembered", known.members)
	}
}
