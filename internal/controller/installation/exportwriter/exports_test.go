package exportwriter

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// TestInherits: what a subinstallation may overwrite although it belongs to another Installation:
// the name has moved within the tree.
func TestInherits(t *testing.T) {
	parent := testbuilders.ParentWith("job-2", "")
	parent.Namespace, parent.UID = "team-a", "uid-parent"
	member := testbuilders.Sibling("member")
	member.Namespace, member.UID = "team-a", "uid-member"
	stranger := testbuilders.Root(t, "stranger", nil, nil)
	stranger.Namespace, stranger.UID = "team-a", "uid-stranger"
	for _, test := range []struct {
		reason string
		root   bool
		live   *v1alpha1.Target
		at     int
		want   bool
		failed bool
	}{
		{"a sibling has left the object", false, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Installation", "member", "member")), -1, true, false},
		{"a sibling has written the object in this job: both want the name", false, testbuilders.CopyOf("x", "job-2", testbuilders.Owner("Installation", "member", "member")), -1, false, false},
		{"the parent has left the object", false, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Installation", "parent", "parent")), -1, true, false},
		{"the Installation that has left the object does not exist any more", false, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Installation", "absent", "absent")), -1, true, false},
		{"a root has the object", false, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Installation", "stranger", "stranger")), -1, false, false},
		{"a controller has the object", false, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Deployment", "web", "9")), -1, false, false},
		{"a root inherits nothing", true, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Installation", "member", "member")), -1, false, false},
		{"an object of an unknown owner is not taken over", false, testbuilders.CopyOf("x", "job-1", testbuilders.Owner("Installation", "member", "member")), 0, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakeapi.New(t, parent, member, stranger)
			broken := fakeapi.Fault{Reading: true, At: test.at, Err: errors.New("busy")}
			w := Writer{Client: broken.Wrap(t, c)}
			f := siblings.Family{Inst: testbuilders.InstallationOf(t, "{}")}
			if !test.root {
				f.Parent = parent
			}
			got, err := w.mayTakeOver(t.Context(), f, test.live)
			if got != test.want || (err != nil) != test.failed {
				t.Errorf("got %t, %v", got, err)
			}
		})
	}
}

// TestTakenOverExport: a name that another subinstallation has exported before is taken over; one of
// the same job or of any other owner is not.
func TestTakenOverExport(t *testing.T) {
	parent := testbuilders.ParentWith("job-2", "")
	self, before, stranger := testbuilders.Sibling("self => x"), testbuilders.Sibling("before"), testbuilders.Sibling("stranger")
	self.UID, before.UID, stranger.UID = "uid-self", "uid-before", "uid-stranger"
	stranger.OwnerReferences = nil
	self.Status.JobID = "job-2"
	w := Writer{Client: fakeapi.New(t, before, stranger)}
	for _, test := range []struct {
		reason, owner, jobID string
		want                 bool
	}{
		{"a sibling has exported the name in an earlier job", "before", "job-1", true},
		{"a sibling that does not exist any more has exported the name", "gone", "job-1", true},
		{"a sibling has exported the name in this job", "before", "job-2", false},
		{"another owner that is not a sibling", "stranger", "job-1", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			live := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{
				Labels:          map[string]string{v1alpha1.DataObjectJobIDLabel: test.jobID},
				OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", test.owner, test.owner)},
			}}
			got, err := w.mayTakeOver(t.Context(), siblings.Family{Inst: self, Parent: parent}, live)
			if err != nil || got != test.want {
				t.Errorf("%s: %t, %v", test.reason, got, err)
			}
		})
	}
}

// TestDropExportsFails: an export that cannot be deleted does not keep the others, and an export
// that was written meanwhile stays.
func TestDropExportsFails(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	export := func(name string) *v1alpha1.Target {
		target := testbuilders.CopyOf(name, "job-1", mine)
		target.Labels = map[string]string{v1alpha1.DataObjectSourceLabel: "Inst.shop", v1alpha1.DataObjectSourceTypeLabel: "export", v1alpha1.DataObjectJobIDLabel: "job-1"}
		return target
	}
	data := testbuilders.DataOf("data", "1")
	data.Labels, data.OwnerReferences = export("x").Labels, export("x").OwnerReferences
	for _, test := range []struct {
		reason string
		fault  fakeapi.Fault
		left   int
		failed bool
	}{
		{"all exports are deleted", fakeapi.Fault{At: -1}, 0, false},
		{"the deletion of one export is refused, and the others are deleted", fakeapi.Fault{Err: errors.New("busy")}, 1, true},
		{"the answer to a deletion is lost", fakeapi.Fault{Lost: true, Err: errors.New("timeout")}, 0, true},
		{"exports that cannot be listed are not deleted", fakeapi.Fault{Reading: true, Err: errors.New("busy")}, 3, true},
		{"no export is deleted if one of the lists cannot be read", fakeapi.Fault{Reading: true, At: 1, Err: errors.New("busy")}, 3, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakeapi.New(t, export("one"), export("two"), data.DeepCopy())
			w := Writer{Client: test.fault.Wrap(t, c)}
			err := w.DeleteStaleExports(t.Context(), testbuilders.InstallationOf(t, "{}"), dataflow.Exports{})
			if (err != nil) != test.failed || err != nil && job.OutcomeOf(err) != job.Transient {
				t.Errorf("got %v", err)
			}
			targets, objects := &v1alpha1.TargetList{}, &v1alpha1.DataObjectList{}
			if err := errors.Join(c.List(t.Context(), targets), c.List(t.Context(), objects)); err != nil {
				t.Fatal(err)
			}
			if left := len(targets.Items) + len(objects.Items); left != test.left {
				t.Errorf("%d are left, want %d", left, test.left)
			}
			if err := w.DeleteStaleExports(t.Context(), testbuilders.InstallationOf(t, "{}"), dataflow.Exports{}); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
		})
	}
}

// TestTakeForExport: which object an export may overwrite.
func TestTakeForExport(t *testing.T) {
	for _, test := range []struct {
		reason string
		owners []metav1.OwnerReference
		want   string
	}{
		{"an object of an earlier job", []metav1.OwnerReference{testbuilders.Owner("Installation", "shop", "2")}, ""},
		{"an object of an earlier Installation of the name", []metav1.OwnerReference{testbuilders.Owner("Installation", "shop", "1")}, ""},
		{"an object without an owner: users move to exports", nil, ""},
		{"an object of another Installation", []metav1.OwnerReference{testbuilders.Owner("Installation", "other", "9")}, "owned by another installation"},
		{"an object of a controller that would write it back", []metav1.OwnerReference{testbuilders.Owner("Deployment", "web", "9")}, "belongs to Deployment web"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := takeForExport(testbuilders.InstallationOf(t, "{}"), "Target", testbuilders.CopyOf("x", "job-1", test.owners...))
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || job.OutcomeOf(err) != job.Terminal) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestDropExports: only exports of ours that this job has not written are deleted, and nothing that
// it just wrote, whatever the cache shows.
func TestDropExports(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	export := func(name, jobID string, owners ...metav1.OwnerReference) *v1alpha1.Target {
		target := testbuilders.CopyOf(name, jobID, owners...)
		target.Labels = map[string]string{v1alpha1.DataObjectSourceLabel: "Inst.shop", v1alpha1.DataObjectSourceTypeLabel: "export", v1alpha1.DataObjectJobIDLabel: jobID}
		return target
	}
	imported := export("imported", "job-1", mine)
	imported.Labels[v1alpha1.DataObjectSourceTypeLabel] = "import"
	c := fakeapi.New(t, export("kept", "job-2", mine), export("just-written", "job-1", mine), export("stale", "job-1", mine), export("theirs", "job-1", testbuilders.Owner("Installation", "other", "9")), imported)
	w := Writer{Client: c}
	var written dataflow.Exports
	written.Targets = []*v1alpha1.Target{export("just-written", "job-2", mine)}
	if err := w.DeleteStaleExports(t.Context(), testbuilders.InstallationOf(t, "{}"), written); err != nil {
		t.Fatal(err)
	}
	list := &v1alpha1.TargetList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	if want := []string{"imported", "just-written", "kept", "theirs"}; !slices.Equal(names, want) {
		t.Errorf("left %v, want %v", names, want)
	}
}
