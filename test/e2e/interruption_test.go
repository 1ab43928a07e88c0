package e2e

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// unservedItem is the template of a blueprint with an item that no deployer picks up.
const unservedItem = `deployItems:
- {name: one, type: example.org/unserved, config: {kind: Nothing, apiVersion: example.org/v1}}
`

// TestForceReconcile: a job that is asked for by force does not wait for the running one, and a
// waiting job can be interrupted.
func TestForceReconcile(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := newInstallation(space, "hanging", unservedItem)
	inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "out-of-hanging"}}
	create(t, inst)
	working := func(what string, after string) *v1alpha1.Installation {
		return waitFor(t, client.ObjectKeyFromObject(inst), what, func(inst *v1alpha1.Installation) bool {
			return inst.Status.JobID != after && inst.Status.JobID != inst.Status.JobIDFinished && inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
		})
	}
	first := working("at work", "")
	waiting := create(t, passingOn(t, space, "waiting", "out-of-hanging", asked))
	waitFor(t, client.ObjectKeyFromObject(waiting), "waiting", func(inst *v1alpha1.Installation) bool { return inst.Status.LastError != nil })

	request(t, inst, v1alpha1.ForceReconcileOperation)
	second := working("at work again", first.Status.JobID)
	if second.Status.JobIDFinished != first.Status.JobID || second.Annotations[v1alpha1.OperationAnnotation] != "" {
		t.Errorf("job %s follows %s, annotations %v", second.Status.JobID, second.Status.JobIDFinished, second.Annotations)
	}
	for _, inst := range []*v1alpha1.Installation{waiting, inst} {
		request(t, inst, v1alpha1.InterruptOperation)
		ended := waitFor(t, client.ObjectKeyFromObject(inst), "interrupted", func(inst *v1alpha1.Installation) bool {
			return inst.Annotations[v1alpha1.OperationAnnotation] == "" && inst.Status.JobID == inst.Status.JobIDFinished
		})
		if ended.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || !strings.Contains(ended.Status.LastError.Message, "interrupted") {
			t.Errorf("%s is %s: %+v", ended.Name, ended.Status.InstallationPhase, ended.Status.LastError)
		}
	}
}

// TestAbort: an abort lets what is at work end, and starts nothing more.
func TestAbort(t *testing.T) {
	// The abort has to come before the item fails because it was not picked up.
	startServer(t, env.ServerKubeconfig, "--pickup-timeout", "12s")
	space := namespace(t)
	inst := create(t, newInstallation(space, "aborted", unservedItem+`- {name: two, type: example.org/unserved, dependsOn: [one], config: {kind: Nothing, apiVersion: example.org/v1}}
`))
	working := waitFor(t, client.ObjectKeyFromObject(inst), "at work", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "has the job", func(item *v1alpha1.DeployItem) bool {
		return item.Status.JobID == working.Status.JobID
	})
	request(t, inst, v1alpha1.AbortOperation)
	done := waitFinished(t, inst, "")
	if last := done.Status.LastError; done.Status.JobID != working.Status.JobID || done.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || last.Reason != v1alpha1.AbortedReason {
		t.Errorf("job %s is %s: %+v", done.Status.JobID, done.Status.InstallationPhase, last)
	}
	if done.Annotations[v1alpha1.OperationAnnotation] != "" {
		t.Errorf("the request is still there")
	}
	for name, item := range itemsByName(t, space) {
		last := item.Status.LastError
		if name == "two" && item.Status.JobID != "" || name == "one" && (last == nil || last.Reason != "PickupTimeout") {
			t.Errorf("%s has job %s: %+v", name, item.Status.JobID, last)
		}
	}
	// The next job is as any other.
	request(t, inst, v1alpha1.ReconcileOperation)
	again := waitFinished(t, inst, done.Status.JobID)
	if again.Status.LastError.Reason == v1alpha1.AbortedReason {
		t.Errorf("%+v", again.Status.LastError)
	}
	t.Run("an item that has not ended five minutes after the request is given up", func(t *testing.T) {
		request(t, inst, v1alpha1.ReconcileOperation)
		waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "has the job", func(item *v1alpha1.DeployItem) bool {
			return item.Status.JobID != again.Status.JobID && item.Status.JobID != done.Status.JobID && item.Status.JobID != ""
		})
		early := time.Now().Add(-5 * time.Minute).UTC().Format(time.RFC3339)
		annotate(t, inst, map[string]string{v1alpha1.AbortTimeAnnotation: early, v1alpha1.OperationAnnotation: string(v1alpha1.AbortOperation)})
		if last := waitFinished(t, inst, again.Status.JobID).Status.LastError; last == nil || last.Reason != v1alpha1.AbortedReason {
			t.Errorf("%+v", last)
		}
		if last := itemsByName(t, space)["one"].Status.LastError; last == nil || last.Reason != v1alpha1.AbortedReason {
			t.Errorf("the item: %+v", last)
		}
	})
}

// TestCycleOfRoots: roots that wait for each other say so, and can be deleted.
func TestCycleOfRoots(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	both := []*v1alpha1.Installation{
		create(t, passingOn(t, space, "one", "out-of-two", nil)), create(t, passingOn(t, space, "two", "out-of-one", nil)),
	}
	for _, inst := range both {
		request(t, inst, v1alpha1.ReconcileOperation)
	}
	for _, inst := range both {
		done := waitFinished(t, inst, "")
		if last := done.Status.LastError; last == nil || !strings.Contains(last.Message, "wait for each other in a cycle: ") {
			t.Errorf("%s: %+v", inst.Name, last)
		}
	}
	for _, inst := range both {
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	}
}
