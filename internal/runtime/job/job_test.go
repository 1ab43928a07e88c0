package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
)

func TestOutcomeOf(t *testing.T) {
	resource := schema.GroupResource{Resource: "installations"}
	tests := []struct {
		reason string
		err    error
		want   Outcome
	}{
		{"nothing went wrong", nil, None},
		{"a wait is not a failure, also behind other errors", fmt.Errorf("init: %w", NewWaiting("op", "r", "sibling a is not finished")), Waiting},
		{"another writer was faster", fmt.Errorf("write: %w", apierrors.NewConflict(resource, "a", errors.New("x"))), Conflict},
		{"a cache is behind", fmt.Errorf("read: %w", expectations.StaleCacheError{RetryAfter: time.Second}), Conflict},
		{"the object was deleted", expectations.StaleCacheError{Deleted: true}, Conflict},
		{"our own repeated create", apierrors.NewAlreadyExists(resource, "a"), Conflict},
		{"the API server is not reachable", errors.New("connection refused"), Transient},
		{"the user's configuration does not get better by trying", Wrap(errors.New("x"), "op", "r", "m", v1alpha1.ErrorConfigurationProblem), Terminal},
		{"a code anywhere in the chain counts", Wrap(NewError("inner", "r", "m", v1alpha1.ErrorTimeout), "op", "r", "m"), Terminal},
		{"a code in one of several causes counts", errors.Join(errors.New("x"), NewError("inner", "r", "m", v1alpha1.ErrorTimeout)), Terminal},
		{"what the caller declares final is final", AsTerminal(errors.New("template error")), Terminal},
		{"an error code for information only does not end the job", NewError("op", "r", "m", v1alpha1.ErrorForInfoOnly), Transient},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := OutcomeOf(test.err); got != test.want {
				t.Errorf("%s: outcome %d, want %d", test.reason, got, test.want)
			}
		})
	}
	if AsTerminal(nil) != nil {
		t.Error("no error must stay no error")
	}
}

func TestCodes(t *testing.T) {
	err := Wrap(errors.Join(NewError("a", "r", "m", v1alpha1.ErrorTimeout, v1alpha1.ErrorForInfoOnly), NewError("b", "r", "m", v1alpha1.ErrorTimeout)), "c", "r", "m", v1alpha1.ErrorUnauthorized)
	want := []v1alpha1.ErrorCode{v1alpha1.ErrorTimeout, v1alpha1.ErrorForInfoOnly, v1alpha1.ErrorUnauthorized}
	if got := Codes(err); !slices.Equal(got, want) {
		t.Errorf("codes %v, want the innermost first and each once: %v", got, want)
	}
}

// TestLongMessages shows that a status stays small, however long what others have written
// is, and that no character is cut into pieces.
func TestLongMessages(t *testing.T) {
	long := Wrap(errors.New(strings.Repeat("ä", 1<<20)), "op", "reason", "a finalizer")
	now := metav1.NewTime(time.Unix(100, 0))
	var conditions []v1alpha1.Condition
	Summarize(&conditions, Summary{Phase: "Failed", Err: long}, now)
	messages := map[string]string{"lastError": StatusError(long, nil, now).Message}
	for _, condition := range conditions {
		messages[string(condition.Type)] = condition.Message
	}
	for where, message := range messages {
		if len(message) > 9<<10 || !utf8.ValidString(message) {
			t.Errorf("%s has %d bytes, valid %t", where, len(message), utf8.ValidString(message))
		}
	}
	if !strings.HasPrefix(messages["lastError"], "a finalizer: ää") || !strings.HasSuffix(messages["lastError"], "ä…") {
		t.Errorf("message %.40s", messages["lastError"])
	}
}

func TestStatusError(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	first := StatusError(Wrap(errors.New("cause"), "op", "reason", "doing"), nil, early)
	if first.Message != "doing: cause" || first.Operation != "op" || first.Reason != "reason" {
		t.Errorf("got %+v", first)
	}
	tests := []struct {
		reason                    string
		err                       error
		wantTransition, wantWrite metav1.Time
	}{
		{"the same error moves no time, so that nothing is written", Wrap(errors.New("cause"), "op", "reason", "doing"), early, early},
		{"another message moves the update time", Wrap(errors.New("other"), "op", "reason", "doing"), early, late},
		{"another step moves both times", Wrap(errors.New("cause"), "next", "reason", "doing"), late, late},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := StatusError(test.err, first, late)
			if !got.LastTransitionTime.Equal(&test.wantTransition) || !got.LastUpdateTime.Equal(&test.wantWrite) {
				t.Errorf("%s: %v, %v", test.reason, got.LastTransitionTime, got.LastUpdateTime)
			}
		})
	}
	if StatusError(nil, first, late) != nil {
		t.Error("a success clears the error")
	}
	if plain := StatusError(errors.New("plain"), nil, early); plain.Message != "plain" || plain.Operation != "" {
		t.Errorf("a foreign error: %+v", plain)
	}
}

func TestSummarize(t *testing.T) {
	waiting := NewWaiting("init", "AllPredecessorsFinished", "installation a is not finished")
	tests := []struct {
		reason  string
		summary Summary
		want    []string
		message string
	}{
		{"done", Summary{Phase: "Succeeded"}, []string{"Ready=True"}, "the job has succeeded"},
		{"at work", Summary{Phase: "Progressing"}, []string{"Ready=False", "Reconciling=True"}, "the job is under way"},
		{"waiting names the blocker", Summary{Phase: "Init", Err: waiting}, []string{"Ready=False", "Reconciling=True"}, "installation a is not finished"},
		{"trying again names the error", Summary{Phase: "Init", Err: errors.New("connection refused")}, []string{"Ready=False", "Reconciling=True"}, "connection refused"},
		{"failed names the error", Summary{Phase: "Failed", Err: errors.New("template x")}, []string{"Ready=False", "Stalled=True"}, "template x"},
		{"failed in the past", Summary{Phase: "DeleteFailed"}, []string{"Ready=False", "Stalled=True"}, "the job has failed"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			// Conditions of an earlier job, of an earlier release, and of another writer.
			conditions := []v1alpha1.Condition{{Type: "Other", Status: "False"}, {Type: "Stalled", Status: "False"}, {Type: "Ready", Status: "False"}, {Type: "Reconciling", Status: "False"}}
			Summarize(&conditions, test.summary, metav1.Now())
			var got []string
			for _, condition := range conditions {
				got = append(got, string(condition.Type)+"="+string(condition.Status))
			}
			slices.Sort(got)
			if want := append([]string{"Other=False"}, test.want...); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if got := GetCondition(conditions, "Ready").Message; got != test.message {
				t.Errorf("message %q, want %q", got, test.message)
			}
		})
	}
}

func TestSetConditionTimes(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	conditions := []v1alpha1.Condition{}
	set := func(status v1alpha1.ConditionStatus, message string, now metav1.Time) v1alpha1.Condition {
		SetCondition(&conditions, v1alpha1.Condition{Type: "A", Status: status, Message: message}, now)
		return conditions[0]
	}
	set("False", "m", early)
	if c := set("False", "m", late); !c.LastUpdateTime.Equal(&early) || !c.LastTransitionTime.Equal(&early) {
		t.Errorf("nothing changed, but the times moved: %+v", c)
	}
	if c := set("False", "n", late); !c.LastUpdateTime.Equal(&late) || !c.LastTransitionTime.Equal(&early) {
		t.Errorf("the message changed: %+v", c)
	}
	if c := set("True", "n", late); !c.LastTransitionTime.Equal(&late) || len(conditions) != 1 {
		t.Errorf("the status changed: %+v", conditions)
	}
}

func TestStarting(t *testing.T) {
	tests := []struct {
		reason, id, finished, phase string
		want                        bool
	}{
		{"never triggered", "", "", "", false},
		{"a first job", "a", "", "", true},
		{"a further job", "b", "a", "Succeeded", true},
		{"a further job after a phase of an old release", "b", "a", "Completed", true},
		{"at work", "b", "a", "Progressing", false},
		{"finished", "b", "b", "Succeeded", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Starting(test.id, test.finished, test.phase); got != test.want {
				t.Errorf("%s: %t", test.reason, got)
			}
		})
	}
}

func TestChildName(t *testing.T) {
	long := strings.Repeat("a", 100)
	name := ChildName("uid", "shop-one", 0)
	if name != ChildName("uid", "shop-one", 0) {
		t.Error("the same child has the same name")
	}
	different := []string{name, ChildName("uid", "shop-one", 1), ChildName("other", "shop-one", 0), ChildName("uid", "shop-two", 0)}
	slices.Sort(different)
	if len(slices.Compact(different)) != 4 {
		t.Errorf("names repeat: %v", different)
	}
	if !strings.HasPrefix(name, "shop-one-") || len(name) != len("shop-one-")+5 {
		t.Errorf("%s does not look like a generated name", name)
	}
	if got := ChildName("uid", long, 0); len(got) != 63 {
		t.Errorf("a long name has %d characters", len(got))
	}
	if got := ChildName("uid", strings.Repeat("a", 56)+".b", 0); strings.Contains(got, ".-") {
		t.Errorf("a cut behind a dot gives a name that no object can have: %s", got)
	}
	if ChildName("uid", long, 0) == ChildName("uid", long+"b", 0) {
		t.Error("long names that differ at the end must differ")
	}
}

func TestIsShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if IsShutdown(ctx, context.Canceled) {
		t.Error("the process is not ending")
	}
	cancel()
	if !IsShutdown(ctx, fmt.Errorf("write: %w", context.Canceled)) || IsShutdown(ctx, errors.New("x")) {
		t.Error("only an error about the end of the process is a shutdown")
	}
}

func TestTriggerOf(t *testing.T) {
	now := metav1.Now()
	inst := func(change func(*v1alpha1.Installation)) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Generation: 2, Annotations: map[string]string{}}}
		change(inst)
		return inst
	}
	annotated := func(key, value string) *v1alpha1.Installation {
		return inst(func(inst *v1alpha1.Installation) { inst.Annotations[key] = value })
	}
	tests := []struct {
		reason string
		inst   *v1alpha1.Installation
		want   v1alpha1.JobTrigger
	}{
		{"the operation", annotated(v1alpha1.OperationAnnotation, "reconcile"), "reconcile"},
		{"the operation that redoes all", annotated(v1alpha1.OperationAnnotation, "force-reconcile"), "force-reconcile"},
		{"the success of another root", inst(func(inst *v1alpha1.Installation) {
			inst.Annotations[v1alpha1.OperationAnnotation], inst.Annotations[v1alpha1.ReconcileReasonAnnotation] = "reconcile", "exporter"
		}), "exporter"},
		{"an operation in place of that request", inst(func(inst *v1alpha1.Installation) {
			inst.Annotations[v1alpha1.OperationAnnotation], inst.Annotations[v1alpha1.ReconcileReasonAnnotation] = "force-reconcile", "exporter"
		}), "force-reconcile"},
		{"a reason without a request", annotated(v1alpha1.ReconcileReasonAnnotation, "exporter"), "change"},
		{"a new generation", annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), "change"},
		{"the deletion, whatever else is asked for", inst(func(inst *v1alpha1.Installation) {
			inst.Annotations[v1alpha1.OperationAnnotation] = "reconcile"
			inst.DeletionTimestamp = &now
		}), "deletion"},
		{"another attempt at a deletion", inst(func(inst *v1alpha1.Installation) {
			inst.Annotations[v1alpha1.OperationAnnotation] = "reconcile"
			inst.DeletionTimestamp, inst.Status.InstallationPhase = &now, v1alpha1.InstallationPhases.DeleteFailed
		}), "reconcile"},
		{"an operation that starts nothing", annotated(v1alpha1.OperationAnnotation, "abort"), ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := TriggerOf(test.inst); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[NewID()] = true
	}
	if len(seen) != 100 || seen[""] {
		t.Errorf("%d different IDs", len(seen))
	}
}

func TestNote(t *testing.T) {
	if got := EventMessage(strings.Repeat("ä", 1000)); len(got) > 1010 || !strings.HasSuffix(got, "ä ...") {
		t.Errorf("%d: %q", len(got), got[len(got)-10:])
	}
	if EventMessage("short") != "short" {
		t.Error("what fits stays")
	}
}

func TestOwner(t *testing.T) {
	reference := func(group, kind, name, uid string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: group + "/v1alpha1", Kind: kind, Name: name, UID: types.UID("uid-" + uid)}
	}
	const ours = v1alpha1.GroupName
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "uid-1"}}
	for _, test := range []struct {
		reason     string
		references []metav1.OwnerReference
		owns, may  bool
	}{
		{"an object without an owner", nil, false, false},
		{"an object of the owner", []metav1.OwnerReference{reference(ours, "Installation", "x", "1")}, true, true},
		{"an object of the owner and of another one", []metav1.OwnerReference{reference("apps", "Deployment", "x", "9"), reference(ours, "Installation", "x", "1")}, true, true},
		{"an object of a deleted owner of the same name", []metav1.OwnerReference{reference(ours, "Installation", "x", "0")}, false, true},
		{"an object of another owner", []metav1.OwnerReference{reference(ours, "Installation", "y", "2")}, false, false},
		{"an object of an owner of another kind with the same UID", []metav1.OwnerReference{reference(ours, "Execution", "x", "1")}, false, false},
		{"an object of an owner of another group with the same UID", []metav1.OwnerReference{reference("example.org", "Installation", "x", "1")}, false, false},
		{"an object of an owner of a group whose name begins like ours", []metav1.OwnerReference{reference(ours+".example.org", "Installation", "x", "1")}, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			object := &metav1.ObjectMeta{OwnerReferences: test.references}
			owner := Owner{Kind: "Installation", Object: inst}
			if owner.Owns(object) != test.owns || owner.MayReplace(object) != test.may {
				t.Errorf("owns %t, may replace %t", owner.Owns(object), owner.MayReplace(object))
			}
			if _, ok := OwnerOf(object, "Installation"); ok && !test.owns && len(test.references) == 1 && test.references[0].Kind != "Installation" {
				t.Error("no owner of the kind")
			}
		})
	}
}

func TestWake(t *testing.T) {
	noon := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	early, late := noon, noon.Add(time.Hour)
	for _, test := range []struct {
		reason   string
		wake     Wake
		recorded bool
		pause    time.Duration
		text     string
	}{
		{"an empty wake", Wake{}, false, 0, "nothing"},
		{"a change without a name is not an event", OnChange("Context"), false, 0, "nothing"},
		{"the job has ended", Settled(), true, 0, "nothing, the job has ended"},
		{"the object does not exist any more", Deleted(), true, 0, "nothing, the object is deleted"},
		{"a step", Continues(), true, 0, "the step itself"},
		{"events need no timer", OnChange("Execution", "a", "b"), true, 0, "Execution a, Execution b"},
		{"the earliest of two moments counts", OnChange("Execution", "a").By(late).By(early).By(time.Time{}), true, time.Minute, "Execution a, the time 2030-01-02T12:00:00Z"},
		{"a deadline in the past triggers at once", Wake{}.By(noon.Add(-time.Hour)), true, time.Millisecond, "the time 2030-01-02T11:00:00Z"},
		{"two waits at once", OnChange("Context", "a").And(OnChange("Installation", "b").By(early)), true, time.Minute, "Context a, Installation b, the time 2030-01-02T12:00:00Z"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if test.wake.Recorded() != test.recorded || test.wake.Pause(noon.Add(-time.Minute)) != test.pause || test.wake.String() != test.text {
				t.Errorf("%t, %s, %s", test.wake.Recorded(), test.wake.Pause(noon.Add(-time.Minute)), test.wake)
			}
		})
	}
	if wake := WakeOf(WaitFor(OnChange("Context", "a"), "op", "r", "m")); wake.String() != "Context a" || !wake.Deadline().IsZero() {
		t.Error(wake)
	}
}
