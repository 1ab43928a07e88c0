package status

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func TestPickUpAndConclude(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	item := &v1alpha1.DeployItem{}
	item.Generation = 2
	item.Status.JobID, item.Status.Phase = "a", "Failed"
	item.Status.LastError = &v1alpha1.Error{Message: "of the last job"}
	item.Status.FirstError, item.Status.LastErrors = item.Status.LastError, []*v1alpha1.Error{item.Status.LastError}
	PickUp(item, v1alpha1.DeployerInformation{Name: "n"}, false, early)
	status := &item.Status
	if status.Phase != "Init" || status.ObservedGeneration != 2 || status.Deployer.Name != "n" || !status.TransitionTimes.InitTime.Equal(&early) ||
		!status.LastReconcileTime.Equal(&early) || status.LastError != nil || status.FirstError != nil || status.LastErrors != nil {
		t.Errorf("picked up: %+v", status)
	}
	for i := range 7 {
		if !Conclude(item, Retrying, fmt.Errorf("error %d", i), late) {
			t.Errorf("error %d is new", i)
		}
	}
	if status.Phase != "Init" || len(status.LastErrors) != 5 || status.LastErrors[4].Message != "error 6" || status.FirstError.Message != "error 0" {
		t.Errorf("after errors: %+v", status)
	}
	if Conclude(item, Retrying, errors.New("error 6"), late) {
		t.Error("the same error is reported again")
	}
	if Conclude(item, Waiting, job.WaitForProgress("reconcile", "waiting for a"), late); status.Phase != "Progressing" || status.LastError != nil || status.JobIDFinished != "" {
		t.Errorf("waiting: %+v", status)
	}
	if Conclude(item, Waiting, job.NewWaiting("reconcile", reasons.Waiting, "create b"), late); status.LastError == nil || status.LastError.Message != "create b" {
		t.Errorf("what a user has to do is shown like an error, whatever the reason is: %+v", status)
	}
	if Conclude(item, Succeeded, nil, late); status.Phase != "Succeeded" || status.JobIDFinished != "a" || !status.TransitionTimes.FinishedTime.Equal(&late) || status.FirstError == nil {
		t.Errorf("succeeded: %+v", status)
	}
	item.DeletionTimestamp = &late
	PickUp(item, v1alpha1.DeployerInformation{}, true, late)
	if status.Phase != "InitDelete" || status.JobID == "a" || status.TransitionTimes.FinishedTime != nil {
		t.Errorf("a deletion of our own making: %+v", status)
	}
	if Conclude(item, Waiting, nil, late); status.Phase != "Deleting" {
		t.Errorf("waiting for a deletion: %s", status.Phase)
	}
	if Conclude(item, Failed, errors.New("x"), late); status.Phase != "DeleteFailed" || status.JobIDFinished != status.JobID {
		t.Errorf("a failed deletion: %+v", status)
	}
}

func TestSameStatus(t *testing.T) {
	status := func(raw string) *v1alpha1.DeployItem {
		return &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{ProviderStatus: &runtime.RawExtension{Raw: []byte(raw)}}}
	}
	tests := []struct {
		reason string
		a, b   *v1alpha1.DeployItem
		want   bool
	}{
		{"the API server orders fields its own way", status(`{"a":1,"b":[2]}`), status(`{"b": [2], "a": 1}`), true},
		{"a large number that differs in the last digit", status(`{"id":9007199254740993}`), status(`{"id":9007199254740992}`), false},
		{"what cannot be read is not the same", status(`{"a":`), status(`{"a": `), false},
		{"what cannot be read is the same as itself", status(`{"a":`), status(`{"a":`), true},
		{"a number and a text", status(`{"a":1}`), status(`{"a":"1"}`), false},
		{"another value", status(`{"a":1}`), status(`{"a":2}`), false},
		{"no status yet", &v1alpha1.DeployItem{}, status(`{}`), false},
		{"another phase", &v1alpha1.DeployItem{}, &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{Phase: "Init"}}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := SameStatus(test.a, test.b); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

func TestOnlyTexts(t *testing.T) {
	status := func(phase v1alpha1.DeployItemPhase, status v1alpha1.ConditionStatus, message string, at int64) *v1alpha1.DeployItem {
		return &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{Phase: phase, Conditions: []v1alpha1.Condition{
			{Type: v1alpha1.ReadyCondition, Status: status, Message: message, LastUpdateTime: metav1.NewTime(time.Unix(at, 0))},
		}}}
	}
	first := status("Progressing", "False", "a", 1)
	tests := []struct {
		reason string
		second *v1alpha1.DeployItem
		want   bool
	}{
		{"nothing has changed", status("Progressing", "False", "a", 1), false},
		{"another text", status("Progressing", "False", "b", 2), true},
		{"another phase", status("Deleting", "False", "b", 2), false},
		{"another status of a condition", status("Progressing", "True", "b", 2), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := OnlyMessagesDiffer(first, test.second); got != test.want {
				t.Errorf("%t", got)
			}
			if first.Status.Conditions[0].Message != "a" {
				t.Error("the comparison changes what it compares")
			}
		})
	}
}
