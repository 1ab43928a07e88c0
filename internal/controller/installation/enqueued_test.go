package installation

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestSiblingsOf: which Installations count as siblings, and which version of the Installation
// itself.
func TestSiblingsOf(t *testing.T) {
	earlier := testbuilders.Sibling("earlier")
	earlier.OwnerReferences[0].UID = "uid-of-an-earlier-parent"
	self := testbuilders.Sibling("self x")
	own := self.DeepCopy()
	own.Status.InstallationPhase = "Progressing"
	b := newBench(t, self, testbuilders.Sibling("one"), earlier, testbuilders.Root(t, "root", nil, nil))
	found, err := b.reader().Siblings(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sibling := range found {
		names = append(names, sibling.Name)
		if sibling.Name == "self" && sibling != own {
			t.Error("the cache goes before what was given")
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"one", "self"}) {
		t.Errorf("siblings are %v, without those of an earlier parent and roots", names)
	}
	broken := fakeapi.Fault{Reading: true, Err: errors.New("busy")}
	b.Client = broken.Wrap(t, b.api)
	if _, err := b.reader().Siblings(t.Context(), own); err == nil {
		t.Error("siblings that cannot be read are listed")
	}
}

// TestObserveFamily: a parent that cannot be read does not count as deleted, and children of an
// earlier Installation of the name are not ours.
func TestObserveFamily(t *testing.T) {
	parent := testbuilders.ParentWith("a", "")
	parent.Namespace = "n"
	lost := testbuilders.Sibling("self")
	lost.OwnerReferences[0].UID = "uid-of-an-earlier-parent"
	ours, theirs := testbuilders.Sibling("ours"), testbuilders.Sibling("theirs")
	for child, uid := range map[*v1alpha1.Installation]string{ours: "self", theirs: "earlier"} {
		child.OwnerReferences = []metav1.OwnerReference{testbuilders.Owner("Installation", "self", uid)}
	}
	for _, test := range []struct {
		reason   string
		inst     *v1alpha1.Installation
		objects  []client.Object
		at       int
		failed   bool
		parent   bool
		orphaned bool
	}{
		{"a subinstallation with its parent", testbuilders.Sibling("self"), []client.Object{parent, ours, theirs}, -1, false, true, false},
		{"the parent does not exist any more", testbuilders.Sibling("self"), []client.Object{ours, theirs}, -1, false, false, true},
		{"another parent of the same name does not own the subinstallation", lost, []client.Object{parent, ours, theirs}, -1, false, false, true},
		{"the parent cannot be read", testbuilders.Sibling("self"), []client.Object{parent}, 0, true, false, false},
		{"the children cannot be read", testbuilders.Sibling("self"), []client.Object{parent, ours}, 1, true, true, false},
		{"a root", testbuilders.Root(t, "self", nil, nil), []client.Object{ours, theirs}, -1, false, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, test.objects...)
			broken := fakeapi.Fault{Reading: true, At: test.at, Err: errors.New("busy")}
			b.Client = broken.Wrap(t, b.api)
			s := snapshotOf(test.inst.DeepCopy())
			s.Inst.UID = "uid-self"
			if err := b.reader().Family(t.Context(), &s.Family); (err != nil) != test.failed {
				t.Fatalf("got %v", err)
			}
			if (s.Parent != nil) != test.parent || s.Orphaned != test.orphaned {
				t.Errorf("parent %v, orphaned: %t", s.Parent, s.Orphaned)
			}
			if !test.failed && (len(s.Subs) != 1 || s.Subs[0].Name != "ours") {
				t.Errorf("children %v", s.Subs)
			}
		})
	}
}
