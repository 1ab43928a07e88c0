package patience

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

// TestPatience: what follows from an error depends on its kind and on the time.
func TestPatience(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, test := range []struct {
		reason string
		after  time.Duration
		cause  error
		want   job.Outcome
	}{
		{"a mistake ends the job at once", 0, errors.New("bad template"), job.Terminal},
		{"so does a refusal of the registry", 0, registry.ErrDenied, job.Terminal},
		{"and what is not there", 0, oci.ErrNotFound, job.Terminal},
		{"a registry that does not answer may answer soon", 0, refused, job.Transient},
		{"and still", Limit - time.Second, registry.ErrStalled, job.Transient},
		{"but not forever", Limit, refused, job.Terminal},
		{"one mistake among outages ends the job", 0, errors.Join(refused, oci.ErrNotFound), job.Terminal},
		{"the API server is waited for", 0, &repocontext.ReadError{Object: "Secret pull", Cause: apierrors.NewInternalError(errors.New("x"))}, job.Transient},
		{"as long as it takes", 100 * Limit, &repocontext.ReadError{Object: "Secret pull", Cause: refused}, job.Transient},
		{"a permission can still be given", 100 * Limit, &repocontext.ReadError{Object: "Secret pull", Cause: apierrors.NewForbidden(v1alpha1.Resource("things"), "pull", nil)}, job.Transient},
		{"what does not exist is a mistake", 0, &repocontext.NotFoundError{}, job.Terminal},
	} {
		now := testbuilders.Noon
		var o Outages
		inst := testbuilders.InstallationOf(t, "{}")
		// The job waits for something else first, which costs no patience.
		inst.Status.TransitionTimes = &v1alpha1.TransitionTimes{InitTime: &metav1.Time{Time: testbuilders.Noon.Add(-time.Hour)}}
		if test.after > 0 {
			_ = o.Final(inst.UID, now, job.Wrap(refused, "op", "reason", ""))
		}
		now = testbuilders.Noon.Add(test.after)
		err := o.Final(inst.UID, now, job.Wrap(test.cause, "op", "reason", "spec.blueprint"))
		if got := job.OutcomeOf(err); got != test.want {
			t.Errorf("%s: outcome %d, want %d: %v", test.reason, got, test.want, err)
		}
		if !errors.Is(err, test.cause) {
			t.Errorf("%s: the cause is lost: %v", test.reason, err)
		}
		status := job.StatusError(err, nil, metav1.Time{Time: testbuilders.Noon})
		if given := strings.Contains(status.Message, "given up after 5m0s: spec.blueprint"); given != (test.after == Limit) || status.Operation != "op" || status.Reason != "reason" {
			t.Errorf("%s: the status says %+v", test.reason, status)
		}
	}
}

// TestPatienceIsRenewed: an outage that is over does not count for the next one.
func TestPatienceIsRenewed(t *testing.T) {
	var o Outages
	later := testbuilders.Noon.Add(time.Minute)
	if got := o.since("a", testbuilders.Noon); !got.Equal(testbuilders.Noon) {
		t.Errorf("it begins at %s", got)
	}
	if got := o.since("a", later); !got.Equal(testbuilders.Noon) {
		t.Errorf("it goes on, and has begun at %s", got)
	}
	if got := o.since("b", later); !got.Equal(later) {
		t.Errorf("that of another Installation begins at %s", got)
	}
	o.Over("a")
	if got := o.since("a", later); !got.Equal(later) {
		t.Errorf("the next one begins at %s", got)
	}
}

// TestOutcomeAtShutdown: a job does not fail because the process ends.
func TestOutcomeAtShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var o Outages
	if err := o.Final("uid", testbuilders.Noon, job.Wrap(ctx.Err(), "op", "reason", "")); !job.IsShutdown(ctx, err) {
		t.Errorf("got %v", err)
	}
}

// TestOutageIsTold: the status says what is asked again, since when and until when, in the
// same words as long as it lasts.
func TestOutageIsTold(t *testing.T) {
	var o Outages
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, test := range []struct {
		reason string
		after  time.Duration
		want   string
	}{
		{"the first failure", 0, "spec.blueprint (no answer since 12:00:00 UTC, asked again until 12:05:00 UTC): dial tcp: connection refused"},
		{"one in the middle", 2 * time.Minute, "spec.blueprint (no answer since 12:00:00 UTC, asked again until 12:05:00 UTC): dial tcp: connection refused"},
		{"the last one", Limit, "given up after 5m0s: spec.blueprint: dial tcp: connection refused"},
	} {
		err := o.Final("uid", testbuilders.Noon.Add(test.after), job.Wrap(refused, "op", "reason", "spec.blueprint"))
		if got := job.StatusError(err, nil, metav1.Time{Time: testbuilders.Noon}).Message; got != test.want {
			t.Errorf("%s: %q", test.reason, got)
		}
	}
	err := o.Final("uid", testbuilders.Noon, job.Wrap(errors.New("bad template"), "op", "reason", "spec.blueprint"))
	if got := job.StatusError(err, nil, metav1.Time{Time: testbuilders.Noon}).Message; got != "spec.blueprint: bad template" {
		t.Errorf("a mistake is not asked again: %q", got)
	}
}
