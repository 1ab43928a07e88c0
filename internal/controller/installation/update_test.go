package installation

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// askForUpdate requests a data update of the Installation.
func (b *bench) askForUpdate(t *testing.T, concerned ...string) {
	t.Helper()
	inst := b.installation(t)
	inst.Annotations = map[string]string{
		v1alpha1.OperationAnnotation: string(v1alpha1.DataUpdateOperation), v1alpha1.ChangedExportsAnnotation: strings.Join(concerned, ","),
	}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
}

// TestUpdate: a data update publishes what items export now and writes nothing else, also over a
// restart. The next job deploys everything again.
func TestUpdate(t *testing.T) {
	b := newBench(t, publishing(t)...)
	b.reconcile(t)
	b.finishWith(t, "https://shop")
	b.reconcile(t)
	b.reconcile(t)
	before := b.execution(t)

	b.askForUpdate(t, shop.Name)
	wantWrites(t, "the job begins", b.reconcile(t), "status Installation, patch Installation, create *v1.Secret, status Installation")
	inst := b.installation(t)
	if update := inst.Status.DataUpdate; update == nil || !update.Unchanged || inst.Annotations[v1alpha1.ChangedExportsAnnotation] != "" || inst.Status.History[0].Trigger != v1alpha1.TriggeredByExports {
		t.Errorf("%+v, %v, %+v", update, inst.Annotations, inst.Status.History)
	}
	if reported := strings.Join(b.reported(), "\n"); !strings.Contains(reported, "begins because something that its deploy items have exported has changed") {
		t.Errorf("events %s", reported)
	}
	b.forgetPlans()
	items := &v1alpha1.DataObjectList{}
	if err := b.api.List(t.Context(), items, client.MatchingLabels{v1alpha1.DataObjectContextLabel: v1alpha1.ExecutionScope(shop.Name)}); err != nil || len(items.Items) != 1 {
		t.Fatal(len(items.Items), err)
	}
	items.Items[0].Data = v1alpha1.NewAnyJSON([]byte(`{"web":{"url":"https://other"}}`))
	if err := b.api.Update(t.Context(), &items.Items[0]); err != nil {
		t.Fatal(err)
	}
	b.finish(t, "Succeeded", nil)
	if got := b.reconcile(t); !strings.HasPrefix(got, "update DataObject, status Installation, delete ") {
		t.Errorf("the job ends with: %s", got)
	}
	if got := b.export(t); string(got.Data.RawMessage) != `"https://other"` {
		t.Errorf("%s is exported", got.Data.RawMessage)
	}
	copies := &v1alpha1.TargetList{}
	if err := b.api.List(t.Context(), copies, client.MatchingLabels{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope(shop.Name)}); err != nil || len(copies.Items) != 1 {
		t.Errorf("%d copies of imports are left (%v)", len(copies.Items), err)
	}
	if after := b.execution(t); after.Generation != before.Generation {
		t.Error("the Execution was written")
	}
	b.request(t, v1alpha1.ReconcileOperation)
	b.reconcile(t)
	if update := b.installation(t).Status.DataUpdate; update != nil {
		t.Errorf("the next job is about %+v", update)
	}
}

// TestUpdateOfNothing: a data update that concerns nothing of the root ends once, and its request
// is removed.
func TestUpdateOfNothing(t *testing.T) {
	b := newBench(t, publishing(t)...)
	b.reconcile(t)
	b.finishWith(t, "https://shop")
	b.reconcile(t)
	b.reconcile(t)
	b.askForUpdate(t, "other")
	wantWrites(t, "the job begins and ends", b.reconcile(t), "status Installation, patch Installation, status Installation")
	if inst := b.installation(t); inst.Annotations[v1alpha1.OperationAnnotation] != "" || inst.Status.JobID != inst.Status.JobIDFinished || inst.Status.InstallationPhase != "Succeeded" {
		t.Errorf("%v, %+v", inst.Annotations, inst.Status)
	}
}

// TestInterruptedBeforeUpdate: a user who interrupts an Installation without a job, just when an item
// has asked it for a data update, does not end the update: the item does not ask again.
func TestInterruptedBeforeUpdate(t *testing.T) {
	b := newBench(t, publishing(t)...)
	b.reconcile(t)
	b.finishWith(t, "https://shop")
	b.reconcile(t)
	b.reconcile(t)
	b.askForUpdate(t, shop.Name)
	inst := b.installation(t)
	inst.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.InterruptOperation)
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.reconcile(t)
	}
	if inst := b.installation(t); len(inst.Annotations) != 0 || len(inst.Status.History) != 2 || inst.Status.History[0].Trigger != v1alpha1.TriggeredByExports {
		t.Errorf("%v, %+v", inst.Annotations, inst.Status.History)
	}
}

// TestUpdateOfTree: in a data update, a part that nothing has changed for ends with one
// write and no event, and one that imports another value is deployed.
func TestUpdateOfTree(t *testing.T) {
	b := newBench(t, nested(t)...)
	all := func() {
		b.reconcile(t)
		for _, name := range []string{"a", "b"} {
			b.run(t, b.sub(t, name))
		}
		b.reconcile(t)
		b.reported()
	}
	all()
	b.askForUpdate(t, b.sub(t, "a").Name, shop.Name)
	wantWrites(t, "the root begins", b.reconcile(t), "status Installation, patch Installation, status Installation")
	wantWrites(t, "who imports waits", b.run(t, b.sub(t, "b")), "status Installation")
	b.reported()
	wantWrites(t, "what the changed one exports is worked out again", b.run(t, b.sub(t, "a")), "create *v1.Secret, status Installation, update DataObject, status Installation, delete *v1.Secret")
	b.reported()
	wantWrites(t, "it exports what it had exported before", b.run(t, b.sub(t, "b")), "status Installation")
	if reported := b.reported(); len(reported) > 0 {
		t.Errorf("events %q", reported)
	}
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || len(s.SubInstCache.ActiveSubs) != 2 {
		t.Errorf("%+v", s)
	}

	importing := b.sub(t, "b")
	importing.Status.ImportsHash = "of another value"
	if err := b.api.Status().Update(t.Context(), importing); err != nil {
		t.Fatal(err)
	}
	b.askForUpdate(t, shop.Name)
	b.reconcile(t)
	b.reported()
	wantWrites(t, "nothing of it is concerned", b.run(t, b.sub(t, "a")), "status Installation")
	wantWrites(t, "it imports another value", b.run(t, b.sub(t, "b")), "update DataObject, status Installation")
	if update := b.sub(t, "b").Status.DataUpdate; update == nil || update.Unchanged {
		t.Errorf("%+v", update)
	}
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}

// TestScopeOfUpdate: what of earlier jobs counts in the scope of an Installation.
func TestScopeOfUpdate(t *testing.T) {
	mine, ofSub, ofOther := testbuilders.Owner("Installation", "shop", "2"), testbuilders.Owner("Installation", "s", "s"), testbuilders.Owner("Installation", "gone", "9")
	tests := []struct {
		reason string
		update *v1alpha1.DataUpdate
		owner  metav1.OwnerReference
		jobID  string
		want   bool
	}{
		{"an object of this job", nil, mine, "job-2", true},
		{"a copy of an earlier job", nil, mine, "job-1", false},
		{"an export of an earlier job", nil, ofSub, "job-1", false},
		{"a copy of an earlier job, if the Installation stays as it is", &v1alpha1.DataUpdate{Unchanged: true}, mine, "job-1", true},
		{"a copy of an earlier job, if the Installation is deployed", &v1alpha1.DataUpdate{}, mine, "job-1", false},
		{"an export of a part that stays as it is", &v1alpha1.DataUpdate{}, ofSub, "job-1", true},
		{"an export of a part that does not exist any more", &v1alpha1.DataUpdate{}, ofOther, "job-1", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := snapshotOf(testbuilders.InstallationOf(t, "{}"))
			s.Inst.Status.JobID, s.Inst.Status.DataUpdate = "job-2", test.update
			part := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: s.Inst.Namespace, UID: "uid-s"}}
			s.Subs = []*v1alpha1.Installation{part}
			object := testbuilders.CopyOf("x", test.jobID, test.owner)
			object.Labels = map[string]string{v1alpha1.DataObjectJobIDLabel: test.jobID}
			if got := ofThisJob(s, object); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}
