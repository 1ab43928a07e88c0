package resolve

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// TestOutage: the class of an error depends on its kind and on the time.
func TestOutage(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, test := range []struct {
		reason string
		after  time.Duration
		cause  error
		want   job.Outcome
	}{
		{"a terminal error ends the job at once", 0, errors.New("bad template"), job.Terminal},
		{"a refusal of the registry ends the job at once", 0, registry.ErrDenied, job.Terminal},
		{"a missing artifact ends the job at once", 0, oci.ErrNotFound, job.Terminal},
		{"a registry that does not answer is retried", 0, refused, job.Transient},
		{"a registry that does not answer is retried until the limit", OutageLimit - time.Second, registry.ErrStalled, job.Transient},
		{"a registry that does not answer ends the job after the limit", OutageLimit, refused, job.Terminal},
		{"a terminal error among outages ends the job", 0, errors.Join(refused, oci.ErrNotFound), job.Terminal},
		{"an API server that does not answer is retried", 0, &repocontext.ReadError{Object: "Secret pull", Cause: apierrors.NewInternalError(errors.New("x"))}, job.Transient},
		{"an API server that does not answer is retried without a limit", 100 * OutageLimit, &repocontext.ReadError{Object: "Secret pull", Cause: refused}, job.Transient},
		{"a permission can still be given", 100 * OutageLimit, &repocontext.ReadError{Object: "Secret pull", Cause: apierrors.NewForbidden(v1alpha1.Resource("things"), "pull", nil)}, job.Transient},
		{"an object that does not exist ends the job at once", 0, &repocontext.NotFoundError{}, job.Terminal},
	} {
		now := testbuilders.Noon
		var o Outage
		inst := testbuilders.InstallationOf(t, "{}")
		// The job waits for something else first, which is no part of the outage.
		inst.Status.TransitionTimes = &v1alpha1.TransitionTimes{InitTime: &metav1.Time{Time: testbuilders.Noon.Add(-time.Hour)}}
		if test.after > 0 {
			_ = o.Classify(now, job.Wrap(refused, "op", "reason", ""))
		}
		now = testbuilders.Noon.Add(test.after)
		err := o.Classify(now, job.Wrap(test.cause, "op", "reason", "spec.blueprint"))
		if got := job.OutcomeOf(err); got != test.want {
			t.Errorf("%s: outcome %d, want %d: %v", test.reason, got, test.want, err)
		}
		if !errors.Is(err, test.cause) {
			t.Errorf("%s: the cause is lost: %v", test.reason, err)
		}
		status := job.StatusError(err, nil, metav1.Time{Time: testbuilders.Noon})
		if given := strings.Contains(status.Message, "given up after 5m0s: spec.blueprint"); given != (test.after == OutageLimit) || status.Operation != "op" || status.Reason != "reason" {
			t.Errorf("%s: the status says %+v", test.reason, status)
		}
	}
}

// TestOutageIsRenewed: an outage that is over does not count for the next one.
func TestOutageIsRenewed(t *testing.T) {
	var o Outage
	later := testbuilders.Noon.Add(time.Minute)
	if got := o.since(testbuilders.Noon); !got.Equal(testbuilders.Noon) {
		t.Errorf("it begins at %s", got)
	}
	if got := o.since(later); !got.Equal(testbuilders.Noon) {
		t.Errorf("it goes on, and has begun at %s", got)
	}
	o.Over()
	if got := o.since(later); !got.Equal(later) {
		t.Errorf("the next one begins at %s", got)
	}
}

// TestOutcomeAtShutdown: a job does not fail because the process ends.
func TestOutcomeAtShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var o Outage
	if err := o.Classify(testbuilders.Noon, job.Wrap(ctx.Err(), "op", "reason", "")); !job.IsShutdown(ctx, err) {
		t.Errorf("got %v", err)
	}
}

// TestOutageMessage: the status says what is retried, since when and until when, in the same words
// during the outage.
func TestOutageMessage(t *testing.T) {
	var o Outage
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, test := range []struct {
		reason string
		after  time.Duration
		want   string
	}{
		{"the first failure of an outage", 0, "spec.blueprint (no answer since 12:00:00 UTC, asked again until 12:05:00 UTC): dial tcp: connection refused"},
		{"a failure in the middle of an outage", 2 * time.Minute, "spec.blueprint (no answer since 12:00:00 UTC, asked again until 12:05:00 UTC): dial tcp: connection refused"},
		{"the last failure of an outage", OutageLimit, "given up after 5m0s: spec.blueprint: dial tcp: connection refused"},
	} {
		err := o.Classify(testbuilders.Noon.Add(test.after), job.Wrap(refused, "op", "reason", "spec.blueprint"))
		if got := job.StatusError(err, nil, metav1.Time{Time: testbuilders.Noon}).Message; got != test.want {
			t.Errorf("%s: %q", test.reason, got)
		}
	}
	err := o.Classify(testbuilders.Noon, job.Wrap(errors.New("bad template"), "op", "reason", "spec.blueprint"))
	if got := job.StatusError(err, nil, metav1.Time{Time: testbuilders.Noon}).Message; got != "spec.blueprint: bad template" {
		t.Errorf("a mistake is not asked again: %q", got)
	}
}
