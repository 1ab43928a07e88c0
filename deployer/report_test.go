package deployer

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

func TestJudge(t *testing.T) {
	broken := errors.New("connection refused")
	secret := job.NewWaiting("ResolveTarget", "SecretNotFound", "Secret a/b is missing")
	tests := []struct {
		reason  string
		result  Result
		err     error
		expired bool
		want    verdict
		message string
	}{
		{"nothing is left to do", Done(), nil, false, succeeded, ""},
		{"what is done in the last moment is done", Done(), nil, true, succeeded, ""},
		{"objects are not ready", WaitFor("Deployment a/b", "Deployment a/c"), nil, false, waits, "waiting for Deployment a/b, Deployment a/c"},
		{"a long list is cut", WaitFor("a", "b", "c", "d"), nil, false, waits, "waiting for a, b, c and others"},
		{"the time is over and names what was missing", WaitFor("Deployment a/b"), nil, true, failed, `timeout at: "stage": waiting for Deployment a/b`},
		{"somebody has to do something", Done(), secret, false, waits, "Secret a/b is missing"},
		{"nobody did it in time", Done(), secret, true, failed, `timeout at: "stage": Secret a/b is missing`},
		{"it may go better next time", Done(), broken, false, retries, "connection refused"},
		{"there is no next time", Done(), broken, true, failed, `timeout at: "stage": connection refused`},
		{"it will never go better", Done(), job.NewError("o", "r", "wrong", v1alpha1.ErrorConfigurationProblem), false, failed, "wrong"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := judge(test.result, test.err, test.expired, "stage")
			message := ""
			if err != nil {
				message = err.Error()
			}
			if got != test.want || message != test.message {
				t.Errorf("%d %q, want %d %q", got, message, test.want, test.message)
			}
		})
	}
	_, err := judge(Done(), secret, true, "stage")
	if codes := job.Codes(err); len(codes) != 1 || codes[0] != v1alpha1.ErrorTimeout {
		t.Errorf("a timeout has the codes of its cause, which say that it is no failure: %v", codes)
	}
}

func TestTakeUpAndConclude(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	item := &v1alpha1.DeployItem{}
	item.Generation = 2
	item.Status.JobID, item.Status.Phase = "a", "Failed"
	item.Status.LastError = &v1alpha1.Error{Message: "of the last job"}
	item.Status.FirstError, item.Status.LastErrors = item.Status.LastError, []*v1alpha1.Error{item.Status.LastError}
	takeUp(item, v1alpha1.DeployerInformation{Name: "n"}, false, early)
	status := &item.Status
	if status.Phase != "Init" || status.ObservedGeneration != 2 || status.Deployer.Name != "n" || !status.TransitionTimes.InitTime.Equal(&early) ||
		!status.LastReconcileTime.Equal(&early) || status.LastError != nil || status.FirstError != nil || status.LastErrors != nil {
		t.Errorf("taken up: %+v", status)
	}
	for i := range 7 {
		if !conclude(item, retries, fmt.Errorf("error %d", i), late) {
			t.Errorf("error %d is new", i)
		}
	}
	if status.Phase != "Init" || len(status.LastErrors) != 5 || status.LastErrors[4].Message != "error 6" || status.FirstError.Message != "error 0" {
		t.Errorf("after errors: %+v", status)
	}
	if conclude(item, retries, errors.New("error 6"), late) {
		t.Error("the same error is told once")
	}
	if conclude(item, waits, job.NewWaiting("reconcile", "Waiting", "waiting for a"), late); status.Phase != "Progressing" || status.LastError != nil || status.JobIDFinished != "" {
		t.Errorf("waiting: %+v", status)
	}
	if conclude(item, succeeded, nil, late); status.Phase != "Succeeded" || status.JobIDFinished != "a" || !status.TransitionTimes.FinishedTime.Equal(&late) || status.FirstError == nil {
		t.Errorf("succeeded: %+v", status)
	}
	item.DeletionTimestamp = &late
	takeUp(item, v1alpha1.DeployerInformation{}, true, late)
	if status.Phase != "InitDelete" || status.JobID == "a" || status.TransitionTimes.FinishedTime != nil {
		t.Errorf("a deletion of our own making: %+v", status)
	}
	if conclude(item, waits, nil, late); status.Phase != "Deleting" {
		t.Errorf("waiting for a deletion: %s", status.Phase)
	}
	if conclude(item, failed, errors.New("x"), late); status.Phase != "DeleteFailed" || status.JobIDFinished != status.JobID {
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
		{"another value", status(`{"a":1}`), status(`{"a":2}`), false},
		{"no status yet", &v1alpha1.DeployItem{}, status(`{}`), false},
		{"another phase", &v1alpha1.DeployItem{}, &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{Phase: "Init"}}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := sameStatus(test.a, test.b); got != test.want {
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
			if got := onlyTexts(first, test.second); got != test.want {
				t.Errorf("%t", got)
			}
			if first.Status.Conditions[0].Message != "a" {
				t.Error("the comparison changes what it compares")
			}
		})
	}
}

func TestBackoffGrows(t *testing.T) {
	r := &run{}
	last := time.Duration(0)
	for range 100 {
		pause := r.backoff()
		if pause < last || pause > maxBackoff {
			t.Fatalf("a pause of %s after one of %s", pause, last)
		}
		last = pause
	}
	if last != maxBackoff {
		t.Errorf("the longest pause is %s", last)
	}
}
