package installation

import (
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/given"
)

// TestWoken: a change wakes those that may go on by it, and nobody else.
func TestWoken(t *testing.T) {
	parent := given.ParentWith("a", "")
	parent.Namespace, parent.Status.InstallationPhase = "n", "Progressing"
	waits, works, other, goes := given.Sibling("waits x"), given.Sibling("works x"), given.Sibling("other y"), given.Sibling("(goes) => z")
	for inst, phase := range map[*v1alpha1.Installation]v1alpha1.InstallationPhase{waits: "Init", works: "Progressing", other: "Init", goes: "InitDelete"} {
		inst.Status.InstallationPhase = phase
	}
	goes.Finalizers = []string{v1alpha1.Finalizer}
	fresh := given.Sibling("fresh")
	fresh.Status.JobID = ""
	held := given.Ended(given.Sibling("held"), "z", "Succeeded")
	held.Annotations = map[string]string{v1alpha1.OperationAnnotation: "interrupt"}
	r := &Reconciler{Client: given.API(t, parent, waits, works, other, goes, fresh, held)}
	exporter := given.Sibling("self => x")
	done := given.Ended(exporter.DeepCopy(), "a", "Succeeded")
	importer := given.Sibling("(self) z")
	ready := parent.DeepCopy()
	ready.Status.InstallationPhase = "Init"
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          string
	}{
		{"an exporter begins", nil, exporter, "waits"},
		{"an exporter ends", exporter, done, "parent waits"},
		{"an exporter goes on", exporter, exporter, "waits"},
		{"an importer is gone", importer, nil, "goes parent"},
		{"a parent is ready", ready, parent, "fresh held"},
		{"a parent is gone before its job has ended", ready, nil, "goes"},
		{"a parent is not ready", nil, ready, ""},
		{"a job of the parent has ended before that of its children", parent, given.Ended(parent.DeepCopy(), "a", "Failed"), "goes held other waits works"},
	} {
		var got []string
		for _, request := range r.Woken(t.Context(), test.before, test.after) {
			if !slices.Contains(got, request.Name) {
				got = append(got, request.Name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.reason, got, test.want)
		}
	}
}

// TestAtWork: all of a tree work for its root, also those that are about to get its job.
func TestAtWork(t *testing.T) {
	root := given.ParentWith("a", "")
	root.Namespace = "n"
	works, fresh, done := given.Sibling("works"), given.Sibling("fresh"), given.Ended(given.Sibling("done"), "a", "Succeeded")
	works.UID, fresh.Status.JobID = "uid-works", ""
	below := given.Sibling("below")
	below.OwnerReferences[0].Name, below.OwnerReferences[0].UID = "works", "uid-works"
	lost := given.Sibling("lost")
	lost.OwnerReferences[0].UID = "uid-of-an-earlier-one"
	r := &Reconciler{Client: given.API(t, root, works, fresh, done, below, lost)}
	for _, test := range []struct {
		reason string
		inst   *v1alpha1.Installation
		name   string
		works  bool
	}{
		{"a root with a job", root, "parent", true},
		{"a subinstallation with the job", works, "parent", true},
		{"one that is about to get it", fresh, "parent", true},
		{"one that has ended it", done, "done", false},
		{"one that is two levels below", below, "parent", true},
		{"one whose parent is gone", lost, "lost", true},
	} {
		if key, works := r.atWork(test.inst); key.Name != test.name || works != test.works {
			t.Errorf("%s: %s, %t", test.reason, key, works)
		}
	}
}
