package deployer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestDecide(t *testing.T) {
	now := time.Unix(1000, 0)
	past := metav1.NewTime(now.Add(-time.Minute))
	taken := &v1alpha1.TransitionTimes{InitTime: &past}
	dispatched := &v1alpha1.TransitionTimes{TriggerTime: &past}
	type status = v1alpha1.DeployItemStatus
	succeeded := status{JobID: "a", JobIDFinished: "a", Phase: "Succeeded", TransitionTimes: taken}
	tests := []struct {
		reason      string
		status      status
		deleted     bool
		annotations map[string]string
		finalizers  []string
		change      func(*snapshot)
		want        decision
	}{
		{reason: "an item without a job is idle", want: decision{do: leave}},
		{reason: "a finished job is not done again", status: status{JobID: "a", JobIDFinished: "a", Phase: "Succeeded", TransitionTimes: taken}, want: decision{do: leave}},
		{reason: "an interrupted job stops", status: status{JobID: "a", JobIDFinished: "a", Phase: "Failed", TransitionTimes: taken}, want: decision{do: leave}},
		{reason: "the item does not exist", change: func(s *snapshot) { s.item = nil }, want: decision{do: leave}},
		{reason: "another process serves the target", status: status{JobID: "a"}, change: func(s *snapshot) { s.responsible = false }, want: decision{do: leave}},
		{reason: "a first job, assigned without a parent", status: status{JobID: "a"}, want: decision{do: work, start: true}},
		{reason: "a further job", status: status{JobID: "b", JobIDFinished: "a", Phase: "Failed", TransitionTimes: dispatched}, want: decision{do: work, start: true}},
		{reason: "a further job after a phase of an old release", status: status{JobID: "b", JobIDFinished: "a", Phase: "Completed", TransitionTimes: dispatched}, want: decision{do: work, start: true}},
		{reason: "a job continues", status: status{JobID: "a", Phase: "Progressing", TransitionTimes: taken}, want: decision{do: work}},
		{reason: "a job that waits sleeps", status: status{JobID: "a", Phase: "Progressing", TransitionTimes: taken}, change: func(s *snapshot) { s.notBefore = now.Add(time.Second) }, want: decision{do: sleep}},
		{reason: "the time of a job that waits has come", status: status{JobID: "a", Phase: "Progressing", TransitionTimes: taken}, change: func(s *snapshot) { s.notBefore = now }, want: decision{do: work}},
		{reason: "a job that was dispatched while another one ran starts, as the times are reset", status: status{JobID: "b", Phase: "Progressing", TransitionTimes: dispatched}, change: func(s *snapshot) { s.notBefore = now.Add(time.Hour) }, want: decision{do: work, start: true}},
		{reason: "the target is missing", status: status{JobID: "a"}, change: func(s *snapshot) { s.target = nil }, want: decision{do: awaitTarget, start: true}},
		{reason: "the target was deleted while the job ran", status: status{JobID: "a", Phase: "Progressing", TransitionTimes: taken}, change: func(s *snapshot) { s.target = nil }, want: decision{do: awaitTarget}},
		{reason: "a job that waits for its target sleeps", status: status{JobID: "a", Phase: "Progressing", TransitionTimes: taken}, change: func(s *snapshot) { s.target, s.notBefore = nil, now.Add(time.Second) }, want: decision{do: sleep}},
		{reason: "an item without a target needs none", status: status{JobID: "a"}, change: func(s *snapshot) { s.target, s.item.Spec.Target = nil, nil }, want: decision{do: work, start: true}},

		{reason: "nothing has changed since the last success", status: status{JobID: "b", JobIDFinished: "a", Phase: "Succeeded", ObservedGeneration: 3}, change: onChangeOnly, want: decision{do: finishUnchanged, start: true}},
		{reason: "the last job has failed", status: status{JobID: "b", JobIDFinished: "a", Phase: "Failed", ObservedGeneration: 3}, change: onChangeOnly, want: decision{do: work, start: true}},
		{reason: "the specification has changed", status: status{JobID: "b", JobIDFinished: "a", Phase: "Succeeded", ObservedGeneration: 2}, change: onChangeOnly, want: decision{do: work, start: true}},
		{reason: "a deletion is a change", status: status{JobID: "b", JobIDFinished: "a", Phase: "Succeeded", ObservedGeneration: 3}, deleted: true, change: onChangeOnly, want: decision{do: work, start: true}},

		{reason: "a test starts a job of its own", status: status{JobID: "a", JobIDFinished: "a", Phase: "Succeeded", TransitionTimes: taken}, annotations: test, want: decision{do: work, start: true, ownJob: true, consumeOperation: true}},
		{reason: "a test of a new item", annotations: test, want: decision{do: work, start: true, ownJob: true, consumeOperation: true}},
		{reason: "a test of an item with a new job is that job", status: status{JobID: "a"}, annotations: test, want: decision{do: work, start: true, consumeOperation: true}},
		{reason: "the job of a test has begun, the annotation is still there", status: status{JobID: "b", JobIDFinished: "a", Phase: "Init", TransitionTimes: taken}, annotations: test, want: decision{do: work, consumeOperation: true}},
		{reason: "a test is made although nothing has changed", status: status{JobID: "a", JobIDFinished: "a", Phase: "Succeeded", ObservedGeneration: 3}, annotations: test, change: onChangeOnly, want: decision{do: work, start: true, ownJob: true, consumeOperation: true}},
		{reason: "other operations are for others", status: status{JobID: "a", JobIDFinished: "a"}, annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}, want: decision{do: leave}},

		{reason: "a finished item is due later", status: succeeded, change: due(now.Add(time.Second), Repetition{}), want: decision{do: awaitLook}},
		{reason: "a finished item that is due is deployed again", status: succeeded, change: due(now, Repetition{}), want: decision{do: work, start: true, ownJob: true}},
		{reason: "its Target is missing", status: succeeded, change: func(s *snapshot) { due(now, Repetition{})(s); s.target = nil }, want: decision{do: awaitTarget, start: true, ownJob: true}},
		{reason: "a finished item that is due is compared", status: succeeded, change: due(now, Repetition{Compare: true, Correct: true}), want: decision{do: compare}},
		{reason: "after a comparison without a difference the next one is awaited", status: succeeded, change: due(now.Add(time.Second), Repetition{Compare: true, Correct: true}), want: decision{do: awaitLook}},
		{reason: "a difference is corrected at once", status: succeeded, change: func(s *snapshot) {
			due(now.Add(time.Second), Repetition{Compare: true, Correct: true})(s)
			s.drifted = true
		}, want: decision{do: work, start: true, ownJob: true}},
		{reason: "a difference is only reported", status: succeeded, change: func(s *snapshot) { due(now.Add(time.Second), Repetition{Compare: true})(s); s.drifted = true }, want: decision{do: awaitLook}},
		{reason: "a job that comes after the comparison goes first", status: status{JobID: "b", JobIDFinished: "a", Phase: "Succeeded"}, change: func(s *snapshot) { due(now, Repetition{Compare: true, Correct: true})(s); s.drifted = true }, want: decision{do: work, start: true}},

		{reason: "a deletion has a job", status: status{JobID: "b", JobIDFinished: "a", Phase: "Succeeded"}, deleted: true, want: decision{do: work, start: true}},
		{reason: "a deletion without a job does not begin", status: status{JobID: "a", JobIDFinished: "a", Phase: "Succeeded"}, deleted: true, want: decision{do: leave}},
		{reason: "a deletion continues", status: status{JobID: "b", Phase: "Deleting", TransitionTimes: taken}, deleted: true, want: decision{do: work}},
		{reason: "a job that deploys ends when its item is deleted", status: status{JobID: "a", Phase: "Progressing", TransitionTimes: taken}, deleted: true, change: func(s *snapshot) { s.notBefore = now.Add(time.Hour) }, want: decision{do: failSuperseded}},
		{reason: "the job of a deletion that was dispatched while another one ran starts", status: status{JobID: "b", Phase: "Progressing", TransitionTimes: dispatched}, deleted: true, want: decision{do: work, start: true}},
		{reason: "an item with finalizers of others only is left alone", status: status{JobID: "b", Phase: "Deleting", TransitionTimes: taken}, deleted: true, finalizers: []string{"acme.example/other"}, want: decision{do: leave}},
		{reason: "nothing is to be uninstalled", status: status{JobID: "b"}, deleted: true, annotations: keep, want: decision{do: release, start: true}},
		{reason: "nothing is to be uninstalled, with or without a target", status: status{JobID: "b"}, deleted: true, annotations: keep, change: func(s *snapshot) { s.target = nil }, want: decision{do: release, start: true}},
		{reason: "nothing is to be uninstalled, but the item is not being deleted", status: status{JobID: "b"}, annotations: keep, want: decision{do: work, start: true}},
		{reason: "the target of a deletion is missing: the deployer knows whether it needs it", status: status{JobID: "b"}, deleted: true, change: func(s *snapshot) { s.target = nil }, want: decision{do: work, start: true}},
		{reason: "a deletion that waits sleeps", status: status{JobID: "b", Phase: "Deleting", TransitionTimes: taken}, deleted: true, change: func(s *snapshot) { s.target, s.notBefore = nil, now.Add(time.Second) }, want: decision{do: sleep}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{Status: test.status}
			item.Generation, item.Annotations, item.Finalizers = 3, test.annotations, []string{v1alpha1.Finalizer}
			item.Spec.Target = &v1alpha1.ObjectReference{Name: "cluster"}
			if test.deleted {
				item.DeletionTimestamp = &past
			}
			if test.finalizers != nil {
				item.Finalizers = test.finalizers
			}
			s := snapshot{item: item, target: &v1alpha1.Target{}, responsible: true, now: now}
			if test.change != nil {
				test.change(&s)
			}
			if diff := cmp.Diff(test.want, decide(s), cmp.AllowUnexported(decision{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

var (
	test = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.TestReconcileOperation)}
	keep = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
)

// due is when a finished item is looked at, and what happens then.
func due(at time.Time, repetition Repetition) func(*snapshot) {
	return func(s *snapshot) { s.due, s.repetition = at, repetition }
}

func onChangeOnly(s *snapshot) { s.item.Spec.UpdateOnChangeOnly = true }
