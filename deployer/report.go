package deployer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// maxLastErrors is the number of errors that the status shows.
const maxLastErrors = 5

// verdict is how an attempt ended.
type verdict int

const (
	// succeeded means that the job is done.
	succeeded verdict = iota
	// failed means that the job has ended badly.
	failed
	// waits means that something outside has to happen first.
	waits
	// retries means that another attempt is made later.
	retries
)

// judge says what the result of an attempt means. Expired says that the time of
// the job is over; then nothing is waited for any more. The error that it returns
// is the one to show.
func judge(result Result, err error, expired bool, checkpoint string) (verdict, error) {
	if err == nil && len(result.WaitingFor) > 0 {
		err = job.NewWaiting("reconcile", "Waiting", "waiting for "+listing(result.WaitingFor))
	}
	switch outcome := job.OutcomeOf(err); {
	case outcome == job.None:
		return succeeded, nil
	case outcome == job.Terminal:
		return failed, err
	case expired:
		return failed, timeoutError(checkpoint, err)
	case outcome == job.Waiting:
		return waits, err
	}
	return retries, err
}

// timeoutError says that the time of a job is over, where, and what was missing.
func timeoutError(checkpoint string, cause error) error {
	message := "timeout before the work could begin"
	if checkpoint != "" {
		message = fmt.Sprintf("timeout at: %q", checkpoint)
	}
	var shown error
	if cause != nil {
		// Only the text: the codes of a wait say that it is no failure.
		shown = errors.New(cause.Error())
	}
	return job.Wrap(shown, "StandardTimeoutChecker.TimeoutExceeded", "ProgressingTimeout", message, v1alpha1.ErrorTimeout)
}

// takeUp begins a job in the status of an item.
func takeUp(item *v1alpha1.DeployItem, deployer v1alpha1.DeployerInformation, ownJob bool, now metav1.Time) {
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
	summarize(item, nil, now.Time)
}

// conclude writes how an attempt ended into the status of an item. It reports
// whether the error is a new one.
func conclude(item *v1alpha1.DeployItem, ended verdict, err error, now metav1.Time) (isNew bool) {
	status := &item.Status
	deletion := status.Phase.IsDeletion()
	status.ObservedGeneration = item.Generation
	switch ended {
	case succeeded:
		status.Phase = v1alpha1.DeployItemPhases.Succeeded
	case failed:
		status.Phase = choose(deletion, v1alpha1.DeployItemPhases.DeleteFailed, v1alpha1.DeployItemPhases.Failed)
	case waits:
		status.Phase = choose(deletion, v1alpha1.DeployItemPhases.Deleting, v1alpha1.DeployItemPhases.Progressing)
	}
	// Waiting for what was deployed is progress; waiting for somebody else to do
	// something is shown as an error is, although it is none.
	var e *job.Error
	if ended == waits && errors.As(err, &e) && e.Reason == "Waiting" {
		status.LastError = nil
	} else {
		isNew = record(status, err, now)
	}
	if status.Phase.IsFinal() {
		status.JobIDFinished = status.JobID
		status.TransitionTimes.FinishedTime = &now
	}
	summarize(item, err, now.Time)
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

func summarize(item *v1alpha1.DeployItem, err error, now time.Time) {
	job.Summarize(&item.Status.Conditions, job.Summary{Phase: item.Status.Phase.String(), Generation: item.Generation, Err: err}, stamp(now))
}

// stamp returns a time as it is stored.
func stamp(now time.Time) metav1.Time { return metav1.NewTime(now).Rfc3339Copy() }

// sameStatus reports whether two items have the same status.
func sameStatus(a, b *v1alpha1.DeployItem) bool {
	first, second := a.Status, b.Status
	if !sameJSON(first.ProviderStatus, second.ProviderStatus) {
		return false
	}
	first.ProviderStatus, second.ProviderStatus = nil, nil
	return apiequality.Semantic.DeepEqual(first, second)
}

// onlyTexts reports whether two statuses differ, and in nothing but what conditions say
// to people.
func onlyTexts(a, b *v1alpha1.DeployItem) bool {
	if sameStatus(a, b) {
		return false
	}
	first, second := withoutTexts(a), withoutTexts(b)
	return sameStatus(first, second)
}

func withoutTexts(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	silent := &v1alpha1.DeployItem{Status: item.Status}
	silent.Status.Conditions = slices.Clone(item.Status.Conditions)
	for i := range silent.Status.Conditions {
		silent.Status.Conditions[i].Message, silent.Status.Conditions[i].LastUpdateTime = "", metav1.Time{}
	}
	return silent
}

// sameJSON reports whether two values are the same but for spelling.
func sameJSON(a, b *runtime.RawExtension) bool {
	if a == nil || b == nil {
		return a == b
	}
	if bytes.Equal(a.Raw, b.Raw) {
		return true
	}
	var first, second any
	if json.Unmarshal(a.Raw, &first) != nil || json.Unmarshal(b.Raw, &second) != nil {
		return false
	}
	return apiequality.Semantic.DeepEqual(first, second)
}
