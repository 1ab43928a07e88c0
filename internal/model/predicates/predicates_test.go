package predicates_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestPlace: what an Installation is a part of follows from its owner, of our kinds only.
func TestPlace(t *testing.T) {
	owned := func(version, kind string) testbuilders.Option {
		return func(s *decide.Situation) {
			s.Inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "parent"}}
		}
	}
	for _, test := range []struct {
		reason string
		owner  testbuilders.Option
		root   bool
	}{
		{"an Installation without an owner", func(*decide.Situation) {}, true},
		{"the owner is an Installation", owned(v1alpha1.GroupVersion.String(), "Installation"), false},
		{"the owner is an Installation by an older version of the kinds", owned(v1alpha1.GroupName+"/v1alpha0", "Installation"), false},
		{"the owner is an Execution, which owns no Installations", owned(v1alpha1.GroupVersion.String(), "Execution"), true},
		{"the owner is an Installation of another system", owned("other.example.org/v1", "Installation"), true},
		{"a group that only begins like ours", owned(v1alpha1.GroupName+".example.org/v1", "Installation"), true},
		{"a version without a group", owned("v1alpha1", "Installation"), true},
		{"kinds have capital letters", owned(v1alpha1.GroupVersion.String(), "installation"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := predicates.IsRoot(testbuilders.Situation(test.owner).Inst); got != test.root {
				t.Errorf("a root: %t", got)
			}
		})
	}
}

// TestAutomatic: which jobs a user has switched off. Any text but exactly "true" is ignored: a text
// that was meant otherwise must not stop a landscape.
func TestAutomatic(t *testing.T) {
	for _, test := range []struct {
		reason, key, value string
		skipped            bool
	}{
		{"no annotation is set", "other", "true", false},
		{"skipped", v1alpha1.SkipAnnotation, "true", true},
		{"ignored", v1alpha1.IgnoreAnnotation, "true", true},
		{"switched on again", v1alpha1.SkipAnnotation, "false", false},
		{"an empty text", v1alpha1.SkipAnnotation, "", false},
		{"another spelling of true", v1alpha1.SkipAnnotation, "True", false},
		{"with a space", v1alpha1.IgnoreAnnotation, "true ", false},
		{"a very long text", v1alpha1.IgnoreAnnotation, strings.Repeat("true", 1<<16), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(testbuilders.Annotated(test.key, test.value)).Inst
			if got := predicates.AutomationDisabled(inst); got != test.skipped {
				t.Errorf("skipped: %t", got)
			}
			if follows := predicates.Follows(inst); follows == test.skipped {
				t.Errorf("it follows what it imports: %t", follows)
			}
		})
	}
}

// TestWantsJob: what starts a job of a root, and what only seems to.
func TestWantsJob(t *testing.T) {
	onSpec, never := predicates.Triggers{OnSpecChange: true}, predicates.Triggers{OnImportChange: true}
	changed, ended := testbuilders.Generations(2, 1), testbuilders.Jobs("a", "a", "Succeeded")
	asking := testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true")
	skipping := testbuilders.Annotated(v1alpha1.SkipAnnotation, "true")
	for _, test := range []struct {
		reason    string
		operation v1alpha1.Operation
		triggers  predicates.Triggers
		options   []testbuilders.Option
		want      bool
	}{
		{"no request, and nothing has changed", "", onSpec, []testbuilders.Option{ended, testbuilders.Observed(1)}, false},
		{"a request for a job", "reconcile", never, []testbuilders.Option{ended}, true},
		{"a request for a job at once", "force-reconcile", never, []testbuilders.Option{ended}, true},
		{"a request for a data update", "data-update", never, []testbuilders.Option{ended}, true},
		{"a request, although automatic jobs are off", "reconcile", never, []testbuilders.Option{ended, skipping}, true},
		{"an interruption starts nothing", "interrupt", onSpec, []testbuilders.Option{ended, changed}, false},
		{"an abort starts nothing", "abort", onSpec, []testbuilders.Option{ended, changed}, false},
		{"an unknown operation hides a change: it may be one of a newer release", "dance", onSpec, []testbuilders.Option{ended, changed}, false},
		{"operations have small letters", "Reconcile", never, []testbuilders.Option{ended}, false},
		{"the specification has changed", "", onSpec, []testbuilders.Option{ended, changed}, true},
		{"the specification has changed, and this server does not react to that", "", never, []testbuilders.Option{ended, changed}, false},
		{"the specification has changed, and the Installation asks for a job then", "", never, []testbuilders.Option{ended, changed, asking}, true},
		{"the Installation asks for a job after changes, and nothing has changed", "", never, []testbuilders.Option{ended, testbuilders.Observed(3), asking}, false},
		{"the specification has changed, and automatic jobs are off", "", onSpec, []testbuilders.Option{ended, changed, asking, skipping}, false},
		{"the Installation is new", "", onSpec, []testbuilders.Option{testbuilders.Generations(1, 0)}, true},
		{"a subinstallation is asked through its root", "reconcile", onSpec, []testbuilders.Option{testbuilders.Sub, ended, changed, asking}, false},
		{"the Installation was deleted, which is a job", "", never, []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, ended}, true},
		{"the Installation was deleted, and has no finalizer", "", onSpec, []testbuilders.Option{testbuilders.Deleting, ended, changed}, false},
		{"the Installation was deleted, and another client requests a job as well", "reconcile", never, []testbuilders.Option{testbuilders.Deleting, ended}, false},
		{"the deletion of the Installation is at work already", "", onSpec, []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("b", "a", "Deleting"), changed}, false},
		{"the deletion has failed, and is requested again", "reconcile", never, []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("b", "b", "DeleteFailed")}, true},
		{"the deletion has failed, and there is no request", "", onSpec, []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("b", "b", "DeleteFailed"), changed}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(test.options...).Inst
			before := inst.DeepCopy()
			for range 2 {
				if got := predicates.RequestsJob(inst, test.operation, test.triggers); got != test.want {
					t.Errorf("it wants a job: %t", got)
				}
			}
			if inst.ResourceVersion != before.ResourceVersion || len(inst.Annotations) != len(before.Annotations) {
				t.Error("a question has changed the object")
			}
		})
	}
}

// TestAsksFirst: the first job of all is picked up with one write less, which is allowed only where
// no other request is possible.
func TestAsksFirst(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"the root requests its first job", []testbuilders.Option{testbuilders.Requested("reconcile")}, true},
		{"the root requests nothing", nil, false},
		{"the root requests a job that ends the running one", []testbuilders.Option{testbuilders.Requested("force-reconcile")}, false},
		{"the root has had a job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Succeeded")}, false},
		{"the root has had a job, and another client has removed its phase", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "")}, false},
		{"the root is deleted before its first job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Deleting, testbuilders.Finalized}, false},
		{"a subinstallation waits for its parent", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Sub}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := predicates.RequestsFirstJob(testbuilders.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// TestPassesOnInVain: only roots that stay do data updates.
func TestPassesOnInVain(t *testing.T) {
	for _, test := range []struct {
		reason   string
		options  []testbuilders.Option
		vain     bool
		aborting bool
	}{
		{"a data update of a root", []testbuilders.Option{testbuilders.Requested("data-update")}, false, false},
		{"a data update of a subinstallation", []testbuilders.Option{testbuilders.Requested("data-update"), testbuilders.Sub}, true, false},
		{"a data update of a terminating root", []testbuilders.Option{testbuilders.Requested("data-update"), testbuilders.Deleting}, true, false},
		{"an abort means a subinstallation as well", []testbuilders.Option{testbuilders.Requested("abort"), testbuilders.Sub}, false, true},
		{"an interruption is not an abort", []testbuilders.Option{testbuilders.Requested("interrupt")}, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(test.options...).Inst
			if predicates.HasIneffectiveRequest(inst) != test.vain || predicates.IsAborting(inst) != test.aborting {
				t.Errorf("in vain: %t, aborting: %t", predicates.HasIneffectiveRequest(inst), predicates.IsAborting(inst))
			}
		})
	}
}

// TestExporting: whether a job has exports is known from what the Installation publishes,
// or, where it publishes nothing, from what was noted when the job began.
func TestExporting(t *testing.T) {
	noted := func(status v1alpha1.ConditionStatus, reason string) testbuilders.Option {
		return func(s *decide.Situation) {
			s.Inst.Status.Conditions = []v1alpha1.Condition{{Type: "Other", Status: "Unknown", Reason: string(reasons.ExportsPending)}, {Type: v1alpha1.CreateExportsCondition, Status: status, Reason: reason}}
		}
	}
	mapped := func(s *decide.Situation) {
		s.Inst.Spec.ExportDataMappings = map[string]v1alpha1.AnyJSON{"a": v1alpha1.NewAnyJSON([]byte("1"))}
	}
	target := func(s *decide.Situation) {
		s.Inst.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "a", Target: "a"}}
	}
	for _, test := range []struct {
		reason                   string
		options                  []testbuilders.Option
		pending, exporting, ours bool
	}{
		{"the Installation exports nothing", nil, false, false, false},
		{"data", []testbuilders.Option{testbuilders.ExportsSomething}, false, true, false},
		{"a Target", []testbuilders.Option{target}, false, true, false},
		{"only a mapping", []testbuilders.Option{mapped}, false, true, false},
		{"nothing is published, but the blueprint has export executions", []testbuilders.Option{noted("Unknown", string(reasons.ExportsPending))}, true, true, true},
		{"the exports are made", []testbuilders.Option{noted("True", "Succeeded")}, false, false, false},
		{"the exports have failed", []testbuilders.Option{noted("False", "Failed")}, true, true, false},
		{"an older release has noted them otherwise", []testbuilders.Option{noted("Unknown", "Pending")}, true, true, false},
		{"the reason alone says nothing", []testbuilders.Option{noted("True", string(reasons.ExportsPending))}, false, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(test.options...).Inst
			if got := predicates.ExportsArePending(inst); got != test.pending {
				t.Errorf("pending: %t", got)
			}
			if got := predicates.Exporting(inst); got != test.exporting {
				t.Errorf("exporting: %t", got)
			}
			if got := predicates.BroughtUpByUs(inst); got != test.ours {
				t.Errorf("brought up by us: %t", got)
			}
		})
	}
}

// TestHasDependentsToAsk: only a root that stays triggers its dependents.
func TestHasDependentsToAsk(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"no dependent is noted", nil, false},
		{"two dependents are noted", []testbuilders.Option{testbuilders.WithDependents("a", "b")}, true},
		{"the root is at work again: dependents wait for its next exports", []testbuilders.Option{testbuilders.WithDependents("a"), testbuilders.Jobs("b", "a", "Progressing")}, true},
		{"the root is being deleted", []testbuilders.Option{testbuilders.WithDependents("a"), testbuilders.Deleting}, false},
		{"the root has become a subinstallation", []testbuilders.Option{testbuilders.WithDependents("a"), testbuilders.Sub}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := predicates.HasDependentsToTrigger(testbuilders.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// TestNames: an Installation without a Context has the default one, and owns by its kind.
func TestNames(t *testing.T) {
	if got := predicates.ContextOf(testbuilders.Situation().Inst); got != v1alpha1.DefaultContextName {
		t.Errorf("the Context is %q", got)
	}
	inst := testbuilders.Situation(testbuilders.OfContext("mine")).Inst
	if got := predicates.ContextOf(inst); got != "mine" {
		t.Errorf("the Context is %q", got)
	}
	child := &v1alpha1.Execution{}
	child.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "other", UID: inst.UID}}
	if !predicates.AsOwner(inst).Owns(child) || predicates.HasFinalizer(inst) {
		t.Error("what has its UID is its own, and it has no finalizer yet")
	}
}
