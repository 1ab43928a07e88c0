package installation

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
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/registry"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/sources"
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
		{"and still", patience - time.Second, registry.ErrStalled, job.Transient},
		{"but not forever", patience, refused, job.Terminal},
		{"one mistake among outages ends the job", 0, errors.Join(refused, oci.ErrNotFound), job.Terminal},
		{"the API server is waited for", 0, &sources.ReadError{Object: "Secret pull", Cause: apierrors.NewInternalError(errors.New("x"))}, job.Transient},
		{"as long as it takes", 100 * patience, &sources.ReadError{Object: "Secret pull", Cause: refused}, job.Transient},
		{"a permission can still be given", 100 * patience, &sources.ReadError{Object: "Secret pull", Cause: apierrors.NewForbidden(v1alpha1.Resource("things"), "pull", nil)}, job.Transient},
		{"what does not exist is a mistake", 0, &sources.NotFoundError{}, job.Terminal},
	} {
		now := given.Noon
		r := &Reconciler{Now: func() time.Time { return now }}
		inst := given.InstallationOf(t, "{}")
		// The job waits for something else first, which costs no patience.
		inst.Status.TransitionTimes = &v1alpha1.TransitionTimes{InitTime: &metav1.Time{Time: given.Noon.Add(-time.Hour)}}
		if test.after > 0 {
			_ = r.final(inst, job.Wrap(refused, "op", "reason", ""))
		}
		now = given.Noon.Add(test.after)
		err := r.final(inst, job.Wrap(test.cause, "op", "reason", "spec.blueprint"))
		if got := job.OutcomeOf(err); got != test.want {
			t.Errorf("%s: outcome %d, want %d: %v", test.reason, got, test.want, err)
		}
		if !errors.Is(err, test.cause) {
			t.Errorf("%s: the cause is lost: %v", test.reason, err)
		}
		status := job.StatusError(err, nil, metav1.Time{Time: given.Noon})
		if given := strings.Contains(status.Message, "given up after 5m0s: spec.blueprint"); given != (test.after == patience) || status.Operation != "op" || status.Reason != "reason" {
			t.Errorf("%s: the status says %+v", test.reason, status)
		}
	}
}

// TestPatienceIsRenewed: an outage that is over does not count for the next one.
func TestPatienceIsRenewed(t *testing.T) {
	var o outages
	if got := o.lasts("a", given.Noon); got != 0 {
		t.Errorf("it begins with %s", got)
	}
	if got := o.lasts("a", given.Noon.Add(time.Minute)); got != time.Minute {
		t.Errorf("it lasts %s", got)
	}
	if got := o.lasts("b", given.Noon.Add(time.Minute)); got != 0 {
		t.Errorf("that of another Installation lasts %s", got)
	}
	o.over("a")
	if got := o.lasts("a", given.Noon.Add(time.Hour)); got != 0 {
		t.Errorf("the next one lasts %s", got)
	}
}

// TestVerificationPolicy: who may go without a signature.
func TestVerificationPolicy(t *testing.T) {
	const signed, component, neither = "{verification: {signatureName: s}, componentDescriptor: {ref: {componentName: a, version: b}}}", "{componentDescriptor: {ref: {componentName: a, version: b}}}", "{}"
	for _, test := range []struct {
		reason string
		policy VerificationPolicy
		spec   string
		want   string
	}{
		{"nobody asks", VerifyIfAsked, component, ""},
		{"all are asked, and it says by whom", VerifyAlways, signed, ""},
		{"all are asked, and it does not say", VerifyAlways, component, "set spec.verification.signatureName"},
		{"an empty name says nothing", VerifyAlways, "{verification: {signatureName: ''}, componentDescriptor: {ref: {componentName: a, version: b}}}", "set spec.verification.signatureName"},
		{"nothing could be signed", VerifyAlways, "{verification: {signatureName: s}}", "set spec.componentDescriptor"},
		{"switched off", VerifyNever, neither, ""},
	} {
		err := (&Reconciler{Verification: test.policy}).mayGoUnverified(given.InstallationOf(t, test.spec))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
	for policy, known := range map[VerificationPolicy]bool{VerifyIfAsked: true, VerifyAlways: true, VerifyNever: true, "": false, "enforce": false} {
		if policy.Known() != known {
			t.Errorf("policy %q: %t", policy, !known)
		}
	}
}

// TestReportOverwrite: the condition follows the Context of this job.
func TestReportOverwrite(t *testing.T) {
	own := &sources.Sources{Overwritten: true, Options: component.Options{
		Default: []byte(`{"type":"OCIRegistry","baseUrl":"r.example.org"}`),
		Overwrites: []component.Overwrite{
			{Source: component.Reference{Name: "a", Version: "1.0.0"}, Substitution: component.Reference{Version: "1.0.1"}},
			{Source: component.Reference{Name: "b"}, Substitution: component.Reference{Context: []byte(`{"type":"OCIRegistry","baseUrl":"mirror.example.org"}`), Name: "c"}},
		},
	}}
	for _, test := range []struct {
		reason, spec string
		from         *sources.Sources
		status       v1alpha1.ConditionStatus
		wants        []string
	}{
		{"another version", "{componentDescriptor: {ref: {componentName: a, version: 1.0.0}}}", own, v1alpha1.ConditionTrue,
			[]string{"Component reference has been overwritten:", "repository context has not been overwritten", "component name has not been overwritten", "version: 1.0.0 -> 1.0.1"}},
		{"another name and repository", "{componentDescriptor: {ref: {componentName: b, version: 1.0.0}}}", own, v1alpha1.ConditionTrue,
			[]string{"r.example.org", "mirror.example.org", "component name: b -> c", "version has not been overwritten"}},
		{"none matches", "{componentDescriptor: {ref: {componentName: z, version: 1.0.0}}}", own, v1alpha1.ConditionFalse, []string{"component reference has not been overwritten"}},
		{"the Context names none: what an earlier job said is gone", "{componentDescriptor: {ref: {componentName: a, version: 1.0.0}}}", &sources.Sources{}, "", nil},
		{"an inline descriptor is not overwritten", "{componentDescriptor: {inline: {}}}", own, "", nil},
	} {
		inst := given.InstallationOf(t, test.spec)
		inst.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ComponentReferenceOverwriteCondition, Status: "Unknown"}}
		(&Reconciler{Now: func() time.Time { return given.Noon }}).reportOverwrite(inst, test.from)
		got := job.GetCondition(inst.Status.Conditions, v1alpha1.ComponentReferenceOverwriteCondition)
		if test.status == "" {
			if got != nil {
				t.Errorf("%s: %+v", test.reason, got)
			}
			continue
		}
		if got == nil || got.Status != test.status {
			t.Errorf("%s: %+v", test.reason, got)
			continue
		}
		for _, want := range test.wants {
			if !strings.Contains(got.Message, want) {
				t.Errorf("%s: %q is not in %q", test.reason, want, got.Message)
			}
		}
	}
}

// TestOutcomeAtShutdown: a job does not fail because the process ends.
func TestOutcomeAtShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &Reconciler{Now: func() time.Time { return given.Noon }}
	if err := r.final(given.InstallationOf(t, "{}"), job.Wrap(ctx.Err(), "op", "reason", "")); !job.IsShutdown(ctx, err) {
		t.Errorf("got %v", err)
	}
}
