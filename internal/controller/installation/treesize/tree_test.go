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
	"go.landscaper.dev/internal/runtime/expectations"
)

// TestTrees: what the members of a tree take, as long as they exist.
func TestTrees(t *testing.T) {
	var root, a, b, stranger Member
	stranger.Record(plan.Usage{Copies: 7})
	stranger.End()
	root.Plant(map[*Member]plan.Usage{&root: {Installations: 2, Copies: 1}})
	root.Plant(map[*Member]plan.Usage{&root: {Installations: 100}})
	want := func(member *Member, installations, copies int) {
		t.Helper()
		if use, known := member.others(&root); !known || use.Installations != installations || use.Copies != copies {
			t.Errorf("the others take %+v, %t, want %d and %d", use, known, installations, copies)
		}
	}
	want(&root, 0, 0)
	want(&a, 2, 1)
	a.Record(plan.Usage{Installations: 1, Copies: 10, Bytes: 5})
	a.Record(plan.Usage{Installations: 3, Copies: 20, Bytes: 5})
	want(&a, 2, 1)
	want(&b, 5, 21)
	a.End()
	want(&b, 2, 1)
	b.End()
	root.End()
	if _, known := a.others(&root); known {
		t.Error("a tree that no longer exists is remembered")
	}
	var flat Member
	flat.Plant(map[*Member]plan.Usage{&flat: {}})
	flat.Record(plan.Usage{Copies: 3})
	if _, known := flat.others(&flat); known {
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
	known, reader := &expectations.Records[Member]{}, observe.Reader{Cached: fakeapi.New(t, root, a, b, going, child("below", going), copied)}
	for _, test := range []struct {
		inst                         *v1alpha1.Installation
		depth, installations, copies int
	}{{root, 0, 1, 1}, {a, 1, 1, 0}, {b, 2, 2, 1}} {
		use, err := Usage(t.Context(), reader, test.inst, known.Of)
		if err != nil || use.Depth != test.depth || use.Installations != test.installations || use.Copies != test.copies {
			t.Errorf("%s: %+v, %v", test.inst.Name, use, err)
		}
	}
	planted := known.Of(root.UID).tree.Load()
	for _, inst := range []*v1alpha1.Installation{b, a, root} {
		known.Forget(inst.UID)
	}
	if len(planted.by) > 0 || planted.all != (plan.Usage{}) {
		t.Errorf("a tree that no longer exists takes %+v", planted.all)
	}
}
