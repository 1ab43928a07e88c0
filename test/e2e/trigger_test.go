package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// unasked returns an Installation that asks for nothing.
func unasked(inst *v1alpha1.Installation, annotations map[string]string) *v1alpha1.Installation {
	inst.Annotations = annotations
	return inst
}

// notedJob is a job whose beginning and end a watch has shown.
type notedJob struct {
	id              string
	phase           v1alpha1.InstallationPhase
	begun, finished time.Time
	counter         *v1alpha1.AutomaticReconcileStatus
}

// followJobs calls a function with each job of an Installation at its end, until that
// returns true. No version that a watch shows is left out.
func followJobs(t *testing.T, inst *v1alpha1.Installation, what string, ended func(notedJob) bool) {
	t.Helper()
	last := ""
	waitFor(t, client.ObjectKeyFromObject(inst), what, func(inst *v1alpha1.Installation) bool {
		s := inst.Status
		if s.JobID == "" || s.JobID != s.JobIDFinished || s.JobID == last {
			return false
		}
		last = s.JobID
		noted := notedJob{id: s.JobID, phase: s.InstallationPhase, counter: s.AutomaticReconcileStatus}
		if times := s.TransitionTimes; times != nil {
			noted.begun, noted.finished = times.TriggerTime.Time, times.FinishedTime.Time
		}
		return ended(noted)
	})
}

// retrying is an Installation that imports what does not exist, and tries again.
func retrying(t *testing.T, space, name, automatic string) *v1alpha1.Installation {
	t.Helper()
	return asking(t, space, name, `
automaticReconcile: `+automatic+`
imports: {data: [{name: url, dataRef: `+name+`-late}]}
blueprint: {inline: {filesystem: {blueprint.yaml: "imports: [{name: url, type: data, schema: {type: string}}]"}}}
`)
}

// TestAutomaticReconcile: failed jobs are retried as often as wanted and not before
// their time, also if the server is killed in between; succeeded ones are repeated.
func TestAutomaticReconcile(t *testing.T) {
	whole, server := t, startServer(t, env.serverKubeconfig)
	space := namespace(t)

	t.Run("a failed job is retried", func(t *testing.T) {
		const interval = 3 * time.Second
		inst := create(t, retrying(t, space, "limited", "{failedReconcile: {interval: 3s, numberOfReconciles: 2}}"))
		var done []notedJob
		followJobs(t, inst, "at the end of its second retry", func(ended notedJob) bool {
			done = append(done, ended)
			if len(done) == 1 {
				// The retry is due although the one who knew it is gone.
				server.signal(syscall.SIGKILL)
				server = startServer(whole, env.serverKubeconfig)
			}
			return len(done) == 3
		})
		for i, job := range done {
			if job.phase != v1alpha1.InstallationPhases.Failed || job.counter == nil || job.counter.NumberOfReconciles != i || !job.counter.OnFailed {
				t.Errorf("job %d: %s, %+v", i, job.phase, job.counter)
			}
			// Stored times have whole seconds.
			if i > 0 && job.begun.Sub(done[i-1].finished.Add(-time.Second)) < interval {
				t.Errorf("retry %d began at %s, the job before ended at %s", i, job.begun, done[i-1].finished)
			}
		}
		// A new request starts the count again, and the retries.
		request(t, inst, v1alpha1.ReconcileOperation)
		var counts []int
		followJobs(t, inst, "at the end of further retries", func(ended notedJob) bool {
			if ended.id != done[2].id {
				counts = append(counts, ended.counter.NumberOfReconciles)
			}
			return len(counts) == 3
		})
		if fmt.Sprint(counts) != "[0 1 2]" {
			t.Errorf("the retries count %v", counts)
		}
	})

	t.Run("a retry that succeeds is the last, and is repeated", func(t *testing.T) {
		inst := create(t, retrying(t, space, "both", `{failedReconcile: {interval: 1s}, succeededReconcile: {cronSpec: "@every 2s"}}`))
		waitFinished(t, inst, "")
		createAll(t, &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "both-late"}, Data: v1alpha1.NewAnyJSON([]byte(`"x"`))})
		succeeded := 0
		followJobs(t, inst, "repeated after its success", func(ended notedJob) bool {
			if ended.phase == v1alpha1.InstallationPhases.Succeeded {
				if ended.counter == nil || ended.counter.OnFailed || ended.counter.NumberOfReconciles != succeeded {
					t.Errorf("after %d repetitions: %+v", succeeded, ended.counter)
				}
				succeeded++
			}
			return succeeded == 3
		})
		skipped := getInstallation(t, inst)
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, v1alpha1.SkipAnnotation))
		if err := env.admin.Patch(t.Context(), skipped, patch); err != nil {
			t.Fatal(err)
		}
		// One more may have begun before; an explicit request still works.
		last := waitFor(t, client.ObjectKeyFromObject(inst), "at rest", func(inst *v1alpha1.Installation) bool {
			return inst.Annotations[v1alpha1.SkipAnnotation] == "true" && inst.Status.JobID == inst.Status.JobIDFinished
		})
		request(t, inst, v1alpha1.ReconcileOperation)
		waitFinished(t, inst, last.Status.JobID)
	})
}

// TestReconcileIfChanged: with the annotation a new or changed Installation runs, and
// nothing else makes it run; a failed job is not repeated.
func TestReconcileIfChanged(t *testing.T) {
	startServer(t, env.serverKubeconfig)
	space := namespace(t)
	inst := create(t, unasked(newInstallation(space, "gitops", oneConfigMap), map[string]string{v1alpha1.ReconcileIfChangedAnnotation: "true"}))
	first := waitSucceeded(t, inst)

	changed := getInstallation(t, inst)
	changed.Labels = map[string]string{"a": "label"}
	if err := env.admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	passed(t, space, "label")
	if now := getInstallation(t, inst); now.Status.JobID != first.Status.JobID {
		t.Errorf("a label has started a job")
	}

	changed = getInstallation(t, inst)
	changed.Spec = newInstallation(space, "gitops", strings.ReplaceAll(oneConfigMap, "hello", "{{ fail }}")).Spec
	if err := env.admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	failed := waitFinished(t, inst, first.Status.JobID)
	if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || failed.Status.ObservedGeneration != failed.Generation {
		t.Errorf("%s of generation %d: %+v", failed.Status.InstallationPhase, failed.Status.ObservedGeneration, failed.Status.LastError)
	}
	passed(t, space, "failure")
	if now := getInstallation(t, inst); now.Status.JobID != failed.Status.JobID || now.Annotations[v1alpha1.ReconcileIfChangedAnnotation] != "true" {
		t.Errorf("after the failure: job %s, annotations %v", now.Status.JobID, now.Annotations)
	}

	changed = getInstallation(t, inst)
	changed.Spec = newInstallation(space, "gitops", strings.ReplaceAll(oneConfigMap, "hello", "again")).Spec
	if err := env.admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if done := waitFinished(t, inst, failed.Status.JobID); done.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Errorf("%+v", done.Status.LastError)
	}
	wantDeployed(t, space, "gitops", "greeting", "again")
}

// passed returns when a whole job has been done: whatever was due before has begun.
func passed(t *testing.T, space, name string) {
	t.Helper()
	waitSucceeded(t, create(t, newInstallation(space, name, oneConfigMap)))
}
