package installation

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestAtWork: all of a tree work for its root, also those that are about to get its job.
func TestAtWork(t *testing.T) {
	root := testbuilders.ParentWith("a", "")
	root.Namespace = "n"
	works, fresh, done := testbuilders.Sibling("works"), testbuilders.Sibling("fresh"), testbuilders.Ended(testbuilders.Sibling("done"), "a", "Succeeded")
	works.UID, fresh.Status.JobID = "uid-works", ""
	below := testbuilders.Sibling("below")
	below.OwnerReferences[0].Name, below.OwnerReferences[0].UID = "works", "uid-works"
	lost := testbuilders.Sibling("lost")
	lost.OwnerReferences[0].UID = "uid-of-an-earlier-one"
	r := &Reconciler{Client: fakeapi.New(t, root, works, fresh, done, below, lost)}
	for _, test := range []struct {
		reason string
		inst   *v1alpha1.Installation
		name   string
		works  bool
	}{
		{"a root with a job", root, "parent", true},
		{"a subinstallation with the job", works, "parent", true},
		{"a subinstallation that is about to get the job", fresh, "parent", true},
		{"a subinstallation that has ended the job", done, "done", false},
		{"a subinstallation two levels below", below, "parent", true},
		{"a subinstallation whose parent no longer exists", lost, "lost", true},
	} {
		if key, works := r.atWork(test.inst); key.Name != test.name || works != test.works {
			t.Errorf("%s: %s, %t", test.reason, key, works)
		}
	}
}
