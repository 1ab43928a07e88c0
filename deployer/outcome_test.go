package deployer

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
)

func TestOutcomeOf(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		reason string
		err    error
		want   Outcome
	}{
		{"no error", nil, OutcomeNone},
		{"an unmarked error is transient", broken, OutcomeTransient},
		{"an error that is marked as final", Final(broken), OutcomeFinal},
		{"a wrapped final error is final", fmt.Errorf("write: %w", Final(broken)), OutcomeFinal},
		{"no error stays none", Final(nil), OutcomeNone},
		{"a user has to act", Waiting("o", "r", "create it"), OutcomeWaiting},
		{"a wrapped wait is a wait", fmt.Errorf("read: %w", Waiting("o", "r", "create it")), OutcomeWaiting},
		{"the item has to be changed", ConfigurationError("spec.config.a", "it must be a number"), OutcomeFinal},
		{"a code that the API calls unrecoverable", &Error{Message: "m", Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}}, OutcomeFinal},
		{"a code that says nothing about the outcome", &Error{Message: "m", Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorForInfoOnly}}, OutcomeTransient},
		{"an error without code", &Error{Message: "m", Cause: broken}, OutcomeTransient},
		{"the cause counts", &Error{Message: "m", Cause: Final(broken)}, OutcomeFinal},
		{"a conflict on the target is tried again", apierrors.NewConflict(schema.GroupResource{}, "a", broken), OutcomeTransient},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := OutcomeOf(test.err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		reason    string
		err       error
		message   string
		operation string
	}{
		{"a final error reads as its cause", Final(broken), "broken", ""},
		{"an error says what was being done and why it failed", &Error{Operation: "o", Message: "write a", Cause: broken}, "write a: broken", "o"},
		{"a final error keeps operation and reason", Final(&Error{Operation: "o", Reason: "r", Message: "m"}), "m", "o"},
		{"a configuration error names the field", ConfigurationError("spec.config.a", "it must be a number"), "spec.config.a: it must be a number", "reconcile"},
		{"a wait says the remedy", Waiting("o", "r", "create it"), "create it", "o"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.err.Error(); got != test.message {
				t.Errorf("message %q, want %q", got, test.message)
			}
			var shown *Error
			if errors.As(test.err, &shown); test.operation != "" && (shown == nil || shown.Operation != test.operation) {
				t.Errorf("the operation is not %s: %+v", test.operation, shown)
			}
		})
	}
	if codes := job.Codes(ConfigurationError("a", "b")); !slices.Equal(codes, []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}) {
		t.Errorf("codes %v", codes)
	}
}

func TestJudge(t *testing.T) {
	broken := errors.New("connection refused")
	secret := job.NewWaiting("ResolveTarget", "SecretNotFound", "Secret a/b is missing")
	tests := []struct {
		reason  string
		result  Result
		err     error
		expired bool
		want    status.Verdict
		message string
	}{
		{"nothing is left to do", Done(), nil, false, status.Succeeded, ""},
		{"what is done in the last moment is done", Done(), nil, true, status.Succeeded, ""},
		{"objects are not ready", WaitFor("Deployment a/b", "Deployment a/c"), nil, false, status.Waiting, "waiting for Deployment a/b, Deployment a/c"},
		{"a long list is cut", WaitFor("a", "b", "c", "d"), nil, false, status.Waiting, "waiting for a, b, c and others"},
		{"the time is over and names what was missing", WaitFor("Deployment a/b"), nil, true, status.Failed, `timeout at: "stage": waiting for Deployment a/b`},
		{"a user has to act", Done(), secret, false, status.Waiting, "Secret a/b is missing"},
		{"the user has not acted in time", Done(), secret, true, status.Failed, `timeout at: "stage": Secret a/b is missing`},
		{"a transient error is tried again", Done(), broken, false, status.Retrying, "connection refused"},
		{"a transient error after the time is over", Done(), broken, true, status.Failed, `timeout at: "stage": connection refused`},
		{"a final error fails", Done(), job.NewError("o", "r", "wrong", v1alpha1.ErrorConfigurationProblem), false, status.Failed, "wrong"},
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
