package installation

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/job"
)

// TestWrongBlueprints: an error in what the user wrote ends the job, says where, and leaves no
// child behind.
func TestWrongBlueprints(t *testing.T) {
	for _, test := range []struct {
		reason, description string
		where, want         string
		condition           v1alpha1.ConditionType
	}{
		{"a text that is not a blueprint", `[]`, "ResolveBlueprint", "spec.blueprint", ""},
		{"an import is not given", `imports: [{name: size, schema: {type: integer}}]`, "ConstructImports", "size", ""},
		{"an import execution calls fail", "importExecutions: [{name: e, type: GoTemplate, template: '{{ fail \"no capacity\" }}'}]", "RenderImportExecutions", "no capacity", v1alpha1.ValidateImportsCondition},
		{"an import execution finds a mistake of the user", "importExecutions: [{name: e, type: GoTemplate, template: 'errors: [too small]'}]", "RenderImportExecutions", "too small", v1alpha1.ValidateImportsCondition},
		{"a template of deploy items is broken", "deployExecutions: [{name: e, type: GoTemplate, template: '{{ .a.b.c'}]", "ReconcileExecution", "unclosed action", v1alpha1.ReconcileExecutionCondition},
		{"a deploy item has no type", "deployExecutions: [{name: e, type: GoTemplate, template: 'deployItems: [{name: i}]'}]", "ReconcileExecution", "type", v1alpha1.ReconcileExecutionCondition},
		{"a subinstallation has no blueprint", "subinstallations: [{name: a}]", "ResolveBlueprint", "subinstallations[0].blueprint", ""},
		{"a template of subinstallations is broken", "subinstallationExecutions: [{name: e, type: GoTemplate, template: '{{ .a.b.c'}]", "EnsureSubinstallations", "unclosed action", v1alpha1.EnsureSubInstallationsCondition},
	} {
		t.Run(test.reason, func(t *testing.T) {
			objects := installed(t)
			testbuilders.Describe(t, objects[0], test.description)
			b := newBench(t, objects...)
			b.settle(t)
			s := b.installation(t).Status
			if s.InstallationPhase != "Failed" || s.LastError == nil {
				t.Fatalf("%s, %+v", s.InstallationPhase, s.LastError)
			}
			if said := s.LastError.Reason + ": " + s.LastError.Message; !strings.Contains(said, test.where+": ") || !strings.Contains(said, test.want) {
				t.Fatalf("%s, %+v", s.InstallationPhase, s.LastError)
			}
			if c := job.GetCondition(s.Conditions, test.condition); test.condition != "" && (c == nil || c.Status != v1alpha1.ConditionFalse) {
				t.Errorf("the condition is %+v", c)
			}
			if s.SubInstCache != nil || s.ExecutionReference != nil {
				t.Errorf("it has brought up %+v, %+v", s.SubInstCache, s.ExecutionReference)
			}
			inst := b.installation(t)
			testbuilders.Describe(t, inst, "{}")
			inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			b.settle(t)
			s = b.installation(t).Status
			if c := job.GetCondition(s.Conditions, v1alpha1.ValidateImportsCondition); s.InstallationPhase != "Succeeded" || c != nil {
				t.Errorf("when it is mended: %s, %+v, %+v", s.InstallationPhase, s.LastError, c)
			}
		})
	}
}

// TestUnverified: where only signed components are accepted, an unsigned one is not read further.
func TestUnverified(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.Planner.Verification = VerifyAlways
	b.settle(t)
	s := b.installation(t).Status
	if s.InstallationPhase != "Failed" || s.LastError.Reason != "ExtractVerifyInfo" || !strings.Contains(s.LastError.Message, "set spec.verification.signatureName") {
		t.Errorf("%s, %+v", s.InstallationPhase, s.LastError)
	}
}

// TestAbortPassedDown: all of a tree abort from the same moment on, however often the request is
// passed down.
func TestAbortPassedDown(t *testing.T) {
	const at = "2030-01-02T11:00:00Z"
	for _, test := range []struct {
		reason, given, want string
		fault               fakeapi.Fault
	}{
		{"the abort has no time: it counts from now on", "", "2030-01-02T12:00:00Z", fakeapi.Fault{At: -1}},
		{"the parent sets the time of the abort", at, at, fakeapi.Fault{At: -1}},
		{"the first answer is lost", at, at, fakeapi.Fault{Lost: true, Err: errors.New("timeout")}},
		{"the moment is noted, the request is refused", at, at, fakeapi.Fault{At: 1, Err: errors.New("busy")}},
		{"the child does not exist any more", at, at, fakeapi.Fault{Lost: true, Err: apierrors.NewNotFound(v1alpha1.Resource("executions"), "shop")}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.reconcile(t)
			inst := b.installation(t)
			inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.AbortOperation)}
			if test.given != "" {
				inst.Annotations[v1alpha1.AbortTimeAnnotation] = test.given
			}
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			b.Client = test.fault.Wrap(t, b.api)
			for range 3 {
				_, _ = b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop})
			}
			if got := b.execution(t).Annotations; got[v1alpha1.OperationAnnotation] != "abort" || got[v1alpha1.AbortTimeAnnotation] != test.want {
				t.Errorf("the Execution has %v", got)
			}
			if got := b.installation(t); got.Annotations[v1alpha1.OperationAnnotation] != "" || got.Status.InstallationPhase != "Progressing" {
				t.Errorf("%s, %v", got.Status.InstallationPhase, got.Annotations)
			}
			b.finish(t, "Failed", &v1alpha1.Error{Reason: v1alpha1.AbortedReason, Message: "operation was aborted"})
			b.reconcile(t)
			if s := b.installation(t).Status; s.InstallationPhase != "Failed" || s.LastError.Reason != v1alpha1.AbortedReason {
				t.Errorf("%s, %+v: an abort is reported up to the root", s.InstallationPhase, s.LastError)
			}
		})
	}
}

// TestNameTaken: what follows from an existing Execution of the same name.
func TestNameTaken(t *testing.T) {
	taken := apierrors.NewAlreadyExists(v1alpha1.Resource("executions"), "shop")
	exec := func(owners ...metav1.OwnerReference) *v1alpha1.Execution {
		return &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name, OwnerReferences: owners}}
	}
	for _, test := range []struct {
		reason  string
		live    *v1alpha1.Execution
		err     error
		outcome job.Outcome
	}{
		{"the creation failed for another reason", exec(), errors.New("busy"), job.Transient},
		{"the answer to our own creation was lost: the next attempt finds the Execution", exec(testbuilders.Owner("Installation", "shop", "2")), taken, job.OutcomeOf(taken)},
		{"the Execution was deleted meanwhile", nil, taken, job.OutcomeOf(taken)},
		{"the Execution is deleted with an earlier Installation of the name", exec(testbuilders.Owner("Installation", "shop", "1")), taken, job.Waiting},
		{"the Execution belongs to another owner", exec(), taken, job.Terminal},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t)
			if test.live != nil {
				if len(test.live.OwnerReferences) > 0 {
					test.live.OwnerReferences[0].APIVersion = v1alpha1.GroupVersion.String()
				}
				b = newBench(t, test.live)
			}
			if got := b.nameTaken(t.Context(), testbuilders.InstallationOf(t, "{}"), test.err); job.OutcomeOf(got) != test.outcome {
				t.Errorf("outcome %d, want %d: %v", job.OutcomeOf(got), test.outcome, got)
			}
		})
	}
}
