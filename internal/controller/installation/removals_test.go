package installation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// deployed is a root after a job with the subinstallations a and b.
func deployed(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, nested(t)...)
	b.reconcile(t)
	b.run(t, b.sub(t, "a"))
	b.run(t, b.sub(t, "b"))
	b.reconcile(t)
	return b
}

// describe gives the root another blueprint, and requests a job.
func (b *bench) describe(t *testing.T, blueprint string) {
	t.Helper()
	inst := b.installation(t)
	testbuilders.Describe(t, inst, blueprint)
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
}

// onlyB has subinstallation b, which gets from c what it has got from a.
var onlyB = strings.Replace(subinstallations, "- name: a", "- name: c", 1)

func (b *bench) exports(t *testing.T, of string) int {
	t.Helper()
	list := &v1alpha1.DataObjectList{}
	err := b.api.List(t.Context(), list, client.MatchingLabels{v1alpha1.DataObjectSourceLabel: v1alpha1.InstallationScope(b.sub(t, of).Name), v1alpha1.DataObjectSourceTypeLabel: "export"})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

// TestSubsHeld: a subinstallation that is not wanted any more stays until all others have
// succeeded, exports nothing meanwhile, and is deleted then.
func TestSubsHeld(t *testing.T) {
	b := deployed(t)
	if b.exports(t, "a") != 1 {
		t.Fatal("a exports nothing")
	}
	below := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Name: "below-a", Namespace: shop.Namespace,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b.sub(t, "a"), v1alpha1.GroupVersion.WithKind("Installation"))},
	}}
	if err := b.api.Create(t.Context(), below); err != nil {
		t.Fatal(err)
	}
	b.describe(t, onlyB)
	b.reconcile(t)
	if err := b.api.Get(t.Context(), client.ObjectKeyFromObject(below), below); err != nil || !job.IsNotWanted(below) {
		t.Errorf("what is below it does not know that it is held: %+v, %v", below.Status, err)
	}
	if err := b.api.Delete(t.Context(), below); err != nil {
		t.Fatal(err)
	}
	held, root := b.sub(t, "a"), b.installation(t).Status
	if held.DeletionTimestamp != nil || !job.IsNotWanted(held) || root.InstallationPhase != "Progressing" || len(root.SubInstCache.OrphanedSubs) != 1 || b.exports(t, "a") != 0 {
		t.Errorf("%+v, held %+v, %d exports", root, held.Status, b.exports(t, "a"))
	}
	wantWrites(t, "it gets no job", b.run(t, held), "")
	b.run(t, b.sub(t, "c"))
	b.run(t, b.sub(t, "b"))
	if status := b.sub(t, "b").Status; status.InstallationPhase != "Succeeded" || status.JobID != "job-2" {
		t.Errorf("who has imported from it imports from another one: %+v, %+v", status, status.LastError)
	}
	wantWrites(t, "then it is removed, in a round of its own", b.reconcile(t), "status Installation, delete Installation")
	if pending := job.Pending(b.installation(t).Status.Conditions); pending == nil || pending.Reason != string(reasons.Removing) {
		t.Errorf("%+v", pending)
	}
	wantWrites(t, "the others are not concerned", b.run(t, b.sub(t, "b")), "")
	wantWrites(t, "it goes", b.run(t, b.sub(t, "a")), "patch Installation")
	wantWrites(t, "the root ends its job", b.reconcile(t), "status Installation")
	root = b.installation(t).Status
	if root.InstallationPhase != "Succeeded" || root.JobIDFinished != "job-2" || job.Pending(root.Conditions) != nil {
		t.Errorf("%+v, %+v", root, root.LastError)
	}
}

// TestRefusedEndOfRemovals: while the end of a job cannot be stored, its removal round goes on. What
// reports the failure must not lead back into the round before, in which everything is deployed.
func TestRefusedEndOfRemovals(t *testing.T) {
	b := deployed(t)
	b.describe(t, onlyB)
	b.reconcile(t)
	b.run(t, b.sub(t, "c"))
	b.run(t, b.sub(t, "b"))
	b.reconcile(t)
	b.run(t, b.sub(t, "a"))
	b.refuse["status Installation"] = errors.New("busy")
	reports := 0
	b.before = func(request string) {
		if reports++; reports == 2 {
			delete(b.refuse, request)
		}
	}
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err == nil {
		t.Fatal("the end of the job was not refused")
	}
	root := b.installation(t)
	if root.Status.LastError == nil || job.Round(root) != "job-2-removal" {
		t.Errorf("the job is in round %s: %+v", job.Round(root), root.Status)
	}
	b.reconcile(t)
	if status := b.installation(t).Status; status.JobIDFinished != "job-2" || job.Pending(status.Conditions) != nil {
		t.Errorf("the next attempt ends it: %+v", status)
	}
}

// TestSubsHeldAgain: a subinstallation that is wanted again is as it was, and says so.
func TestSubsHeldAgain(t *testing.T) {
	b := deployed(t)
	b.describe(t, strings.ReplaceAll(onlyB, "x: 7", "x: {{ fail }}"))
	before := b.sub(t, "a")
	b.reconcile(t)
	b.run(t, b.sub(t, "c"))
	b.run(t, b.sub(t, "b"))
	b.reconcile(t)
	root, held := b.installation(t).Status, b.sub(t, "a")
	if pending := job.Pending(root.Conditions); root.InstallationPhase != "Failed" || held.DeletionTimestamp != nil || pending == nil || !strings.Contains(pending.Message, `"a" is not wanted any more`) {
		t.Errorf("a job that fails has removed something, or does not say what is kept: %+v", root)
	}
	b.describe(t, subinstallations)
	b.reconcile(t)
	b.run(t, b.sub(t, "a"))
	b.run(t, b.sub(t, "b"))
	if again := b.sub(t, "a"); again.UID != before.UID || job.IsNotWanted(again) || again.Status.InstallationPhase != "Succeeded" || b.exports(t, "a") != 1 {
		t.Errorf("%+v, %d exports", again.Status, b.exports(t, "a"))
	}
	b.reconcile(t)
	b.run(t, b.sub(t, "c"))
	b.reconcile(t)
	root = b.installation(t).Status
	err := b.api.Get(t.Context(), client.ObjectKey{Namespace: shop.Namespace, Name: job.ChildName("uid-2", "c", 0)}, &v1alpha1.Installation{})
	if root.InstallationPhase != "Succeeded" || job.Pending(root.Conditions) != nil || !apierrors.IsNotFound(err) {
		t.Errorf("%+v, %v, %v", root, root.LastError, err)
	}
}

// TestNothingElseWanted: where nothing is left that could take anything over, subinstallations that
// are no longer wanted are deleted first.
func TestNothingElseWanted(t *testing.T) {
	b := deployed(t)
	b.describe(t, "{}")
	wantWrites(t, "all go", b.reconcile(t), "status Installation, patch Installation, delete Installation, delete Installation, status Installation")
}

// TestTargetsOfHeldItems: a deploy item that is held names a copy of a Target that its
// Installation does not import any more, and cannot be removed without it. So the copies of a
// subinstallation stay until its part in the removal round ends.
func TestTargetsOfHeldItems(t *testing.T) {
	inst, root := testbuilders.InstallationOf(t, "{}"), testbuilders.InstallationOf(t, "{}")
	root.Name, root.UID = "root", "uid-root"
	mine := testbuilders.Owner("Installation", "shop", "2")
	b := newBench(t, inst, testbuilders.CopyOf("former", "job-1", mine), testbuilders.CopyOf("cluster", "job-2", mine))
	exec := &v1alpha1.Execution{}
	exec.Status.JobID, exec.Status.JobIDFinished, exec.Status.ExecutionPhase = "job-2", "job-2", "Succeeded"
	s := &snapshot{subject: reporter.Installation(inst)}
	s.Family = siblings.Family{Inst: inst, Parent: root, Exec: exec}
	left := func() string {
		list := &v1alpha1.TargetList{}
		if err := b.api.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		slices.Sort(names)
		return strings.Join(names, ", ")
	}
	job.NotePending(&exec.Status.Conditions, `deploy item "old" is `+job.NotWanted, 1, metav1.NewTime(testbuilders.Noon))
	if err := b.conclude(t.Context(), s, &plan.Exports{}); err != nil || left() != "cluster, former" {
		t.Errorf("the job ends: %v, Targets %s", err, left())
	}
	below := &v1alpha1.Installation{}
	below.Status.Conditions, exec.Status.Conditions = exec.Status.Conditions, nil
	s.Subs = []*v1alpha1.Installation{below}
	if err := b.conclude(t.Context(), s, &plan.Exports{}); err != nil || left() != "cluster, former" {
		t.Errorf("the job ends, and a subinstallation keeps an item: %v, Targets %s", err, left())
	}
	s.Subs, inst.Status.JobID = nil, job.RemovalOf("job-2")
	if err := b.endRemovals(t.Context(), s); err != nil || left() != "cluster" {
		t.Errorf("the removal round ends: %v, Targets %s", err, left())
	}
	if err := b.api.Create(t.Context(), testbuilders.CopyOf("former", "job-1", mine)); err != nil {
		t.Fatal(err)
	}
	inst.Status.JobID = "job-2"
	if err := b.conclude(t.Context(), s, &plan.Exports{}); err != nil || left() != "cluster" {
		t.Errorf("a job that keeps nothing ends: %v, Targets %s", err, left())
	}
}
