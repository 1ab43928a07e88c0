package status

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// maxLastErrors is the number of errors that the status shows.
const maxLastErrors = 5

// Verdict is the result of an attempt.
type Verdict int

const (
	// Succeeded means that the job is done.
	Succeeded Verdict = iota
	// Failed means that the job has failed.
	Failed
	// Waiting means that something outside has to happen first.
	Waiting
	// Retrying means that another attempt is made later.
	Retrying
)

// PickUp begins a job in the status of an item.
func PickUp(item *v1alpha1.DeployItem, deployer v1alpha1.DeployerInformation, ownJob bool, now metav1.Time) {
	status := &item.Status
	if ownJob {
		status.JobID = job.NewID()
		status.JobIDGenerationTime = &now
		status.TransitionTimes = job.Triggered(now)
	}
	if status.TransitionTimes == nil {
		status.TransitionTimes = &v1alpha1.TransitionTimes{}
	}
	status.Phase = v1alpha1.DeployItemPhases.Init
	if item.DeletionTimestamp != nil {
		status.Phase = v1alpha1.DeployItemPhases.InitDelete
	}
	status.TransitionTimes.InitTime = &now
	status.TransitionTimes.FinishedTime = nil
	status.LastReconcileTime = &now
	status.ObservedGeneration = item.Generation
	status.Deployer = deployer
	status.DeployerPhase = nil
	status.LastError, status.FirstError, status.LastErrors = nil, nil, nil
	Summarize(item, nil, now.Time)
}

// Conclude writes the result of an attempt into the status of an item. It reports whether the error
// is a new one.
func Conclude(item *v1alpha1.DeployItem, ended Verdict, err error, now metav1.Time) (isNew bool) {
	status := &item.Status
	deletion := status.Phase.IsDeletion()
	status.ObservedGeneration = item.Generation
	switch ended {
	case Succeeded:
		status.Phase = v1alpha1.DeployItemPhases.Succeeded
	case Failed:
		status.Phase = choose(deletion, v1alpha1.DeployItemPhases.DeleteFailed, v1alpha1.DeployItemPhases.Failed)
	case Waiting:
		status.Phase = choose(deletion, v1alpha1.DeployItemPhases.Deleting, v1alpha1.DeployItemPhases.Progressing)
	}
	// Waiting for what was deployed is progress; waiting for a user or another client is shown like
	// an error.
	if ended == Waiting && job.IsProgress(err) {
		status.LastError = nil
	} else {
		isNew = record(status, err, now)
	}
	if status.Phase.IsFinal() {
		status.JobIDFinished = status.JobID
		status.TransitionTimes.FinishedTime = &now
	}
	Summarize(item, err, now.Time)
	return isNew
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// record puts an error into the status and reports whether the job did not have it
// before.
func record(status *v1alpha1.DeployItemStatus, err error, now metav1.Time) (isNew bool) {
	shown := job.StatusError(err, status.LastError, now)
	status.LastError = shown
	if shown == nil {
		return false
	}
	known := func(e *v1alpha1.Error) bool {
		return e.Operation == shown.Operation && e.Reason == shown.Reason && e.Message == shown.Message
	}
	if slices.ContainsFunc(status.LastErrors, known) {
		return false
	}
	if status.FirstError == nil {
		status.FirstError = shown.DeepCopy()
	}
	status.LastErrors = append(status.LastErrors, shown.DeepCopy())
	status.LastErrors = status.LastErrors[max(0, len(status.LastErrors)-maxLastErrors):]
	return true
}

// Summarize updates the conditions of an item to its phase.
func Summarize(item *v1alpha1.DeployItem, err error, now time.Time) {
	job.Summarize(&item.Status.Conditions, job.Summary{Phase: item.Status.Phase.String(), Generation: item.Generation, Err: err}, Stamp(now))
}

// Stamp returns a time as it is stored.
func Stamp(now time.Time) metav1.Time { return metav1.NewTime(now).Rfc3339Copy() }

// SameStatus reports whether two items have the same status.
func SameStatus(a, b *v1alpha1.DeployItem) bool {
	first, second := a.Status, b.Status
	if !SameJSON(first.ProviderStatus, second.ProviderStatus) {
		return false
	}
	first.ProviderStatus, second.ProviderStatus = nil, nil
	return apiequality.Semantic.DeepEqual(first, second)
}

// OnlyMessagesDiffer reports whether two statuses differ only in the messages of conditions.
func OnlyMessagesDiffer(a, b *v1alpha1.DeployItem) bool {
	if SameStatus(a, b) {
		return false
	}
	first, second := withoutMessages(a), withoutMessages(b)
	return SameStatus(first, second)
}

func withoutMessages(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	silent := &v1alpha1.DeployItem{Status: item.Status}
	silent.Status.Conditions = slices.Clone(item.Status.Conditions)
	for i := range silent.Status.Conditions {
		silent.Status.Conditions[i].Message, silent.Status.Conditions[i].LastUpdateTime = "", metav1.Time{}
	}
	return silent
}

// SameJSON reports whether two values are equal apart from formatting.
func SameJSON(a, b *runtime.RawExtension) bool {
	if a == nil || b == nil {
		return a == b
	}
	if bytes.Equal(a.Raw, b.Raw) {
		return true
	}
	first, err := decoded(a.Raw)
	second, err2 := decoded(b.Raw)
	return err == nil && err2 == nil && apiequality.Semantic.DeepEqual(first, second)
}

// decoded reads JSON with numbers as they are written: as floats, two large ones that
// differ would look the same.
func decoded(raw []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}
