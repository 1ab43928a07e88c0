package wake

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestEnqueued: a change enqueues the Installations that it may unblock, and no others. The end of a job
// that has not reached a deleted subinstallation enqueues it once, to say that the next one deletes it.
func TestEnqueued(t *testing.T) {
	parent := testbuilders.ParentWith("a", "")
	parent.Namespace, parent.Status.InstallationPhase = "n", "Progressing"
	waits, works, other, goes := testbuilders.Sibling("waits x"), testbuilders.Sibling("works x"), testbuilders.Sibling("other y"), testbuilders.Sibling("(goes) => z")
	for inst, phase := range map[*v1alpha1.Installation]v1alpha1.InstallationPhase{waits: "Init", works: "Progressing", other: "Init", goes: "InitDelete"} {
		inst.Status.InstallationPhase = phase
	}
	goes.Finalizers = []string{v1alpha1.Finalizer}
	fresh := testbuilders.Sibling("fresh")
	fresh.Status.JobID = ""
	held := testbuilders.Ended(testbuilders.Sibling("held"), "z", "Succeeded")
	held.Annotations = map[string]string{v1alpha1.OperationAnnotation: "interrupt"}
	late := testbuilders.Sibling("(late)")
	late.Status.JobID, late.Finalizers = "", []string{v1alpha1.Finalizer}
	said := late.DeepCopy()
	said.Name = "said"
	said.Status.Conditions = []v1alpha1.Condition{siblings.DeletionCondition(siblings.Family{Inst: said, Parent: parent})}
	w := Mapper{Reader: observe.Reader{Cached: fakeapi.New(t, parent, waits, works, other, goes, fresh, held, late, said)}}
	exporter := testbuilders.Sibling("self => x")
	done := testbuilders.Ended(exporter.DeepCopy(), "a", "Succeeded")
	importer := testbuilders.Sibling("(self) z")
	ready := parent.DeepCopy()
	ready.Status.InstallationPhase = "Init"
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          string
	}{
		{"an exporter begins", nil, exporter, "waits"},
		{"an exporter ends", exporter, done, "parent waits"},
		{"an exporter continues", exporter, exporter, "waits"},
		{"an importer does not exist any more", importer, nil, "goes parent"},
		{"a parent is ready", ready, parent, "fresh held late said"},
		{"a parent is deleted before its job has ended", ready, nil, "goes late said"},
		{"a parent is not ready", nil, ready, ""},
		{"a job of the parent has ended before that of its children", parent, testbuilders.Ended(parent.DeepCopy(), "a", "Failed"), "goes held late other waits works"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			for _, request := range w.Enqueued(t.Context(), test.before, test.after) {
				if !slices.Contains(got, request.Name) {
					got = append(got, request.Name)
				}
			}
			slices.Sort(got)
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s: %v, want %s", test.reason, got, test.want)
			}
		})
	}
}

// TestEnqueuedByDependents: a root that could not trigger a dependent is enqueued when the
// dependent has changed, also when it is deleted: then no dependent is left.
func TestEnqueuedByDependents(t *testing.T) {
	teller, busy := testbuilders.Root(t, "teller", nil, []string{"x"}), testbuilders.Root(t, "busy", []string{"x"}, nil)
	testbuilders.Ended(teller, "a", "Succeeded")
	testbuilders.Alter(teller, testbuilders.WithDependents("busy"))
	elsewhere := teller.DeepCopy()
	elsewhere.Namespace = "other"
	w := Mapper{Reader: observe.Reader{Cached: fakeapi.New(t, teller, elsewhere)}}
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          []string
	}{
		{"the dependent has ended its job", busy, testbuilders.Ended(busy.DeepCopy(), "b", "Failed"), []string{"teller"}},
		{"the dependent does not exist any more", busy, nil, []string{"teller"}},
		{"the dependent exists again", nil, busy, []string{"teller"}},
		{"another root has ended its job", nil, testbuilders.Root(t, "third", []string{"x"}, nil), []string{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			names := []string{}
			for _, request := range w.Enqueued(t.Context(), test.before, test.after) {
				if request.Namespace != "n" {
					t.Errorf("%s is enqueued", request)
				}
				names = append(names, request.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("%v are enqueued, want %v", names, test.want)
			}
		})
	}
}

// TestConcernsParent: which changes of a subinstallation concern its parent.
func TestConcernsParent(t *testing.T) {
	works, done, going := testbuilders.Sibling("s"), testbuilders.Ended(testbuilders.Sibling("s"), "a", "Failed"), testbuilders.Sibling("(s)")
	phase := testbuilders.Sibling("s")
	phase.Status.InstallationPhase = "Progressing"
	stuck := func(reason, message, following string) *v1alpha1.Installation {
		sub := phase.DeepCopy()
		testbuilders.Stuck(sub, reason, message, 0)
		sub.Status.LastError = &v1alpha1.Error{Reason: following}
		return sub
	}
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          bool
	}{
		{"the subinstallation is created: the parent did that, or has read it", nil, works, false},
		{"the dependent does not exist any more", going, nil, true},
		{"the job of the subinstallation has ended", works, done, true},
		{"the subinstallation is being deleted", works, going, true},
		{"the subinstallation continues its job", works, phase, false},
		{"the subinstallation waits for an object", phase, stuck(string(reasons.Waiting), "m", ""), true},
		{"the subinstallation waits for another object", stuck(string(reasons.Waiting), "m", ""), stuck(string(reasons.Waiting), "n", ""), true},
		{"an object below the subinstallation waits", phase, stuck(string(reasons.ChildrenBlocked), "m", ""), true},
		{"the subinstallation waits no more", stuck(string(reasons.ChildrenBlocked), "m", ""), phase, true},
		{"the subinstallation waits for a sibling", phase, stuck(string(reasons.Waiting), "m", string(reasons.AllPredecessorsFinished)), false},
		{"nothing", done, done, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := concernsParent(test.before, test.after); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestFamily: each kind of event enqueues the Installations that it may unblock, and an event of
// another kind none.
func TestFamily(t *testing.T) {
	waits := testbuilders.Sibling("waits x")
	waits.Status.InstallationPhase = "Init"
	exporter, done := testbuilders.Sibling("self => x"), testbuilders.Ended(testbuilders.Sibling("self => x"), "a", "Succeeded")
	w := Mapper{Reader: observe.Reader{Cached: fakeapi.New(t, waits)}}
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for _, test := range []struct {
		reason string
		see    func(context.Context, line)
		want   []string
	}{
		{"an exporter appears", func(ctx context.Context, queue line) {
			w.ByFamily().Create(ctx, event.CreateEvent{Object: exporter}, queue)
		}, []string{"waits"}},
		{"an exporter ends its job", func(ctx context.Context, queue line) {
			w.ByFamily().Update(ctx, event.UpdateEvent{ObjectOld: exporter, ObjectNew: done}, queue)
		}, []string{"parent", "waits"}},
		{"an exporter is deleted: its exports will not come", func(ctx context.Context, queue line) {
			w.ByFamily().Delete(ctx, event.DeleteEvent{Object: exporter}, queue)
		}, []string{"parent", "waits"}},
		{"an event of another kind", func(ctx context.Context, queue line) {
			w.ByFamily().Create(ctx, event.CreateEvent{Object: &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: "self"}}}, queue)
		}, []string{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := queued(t, test.see); !slices.Equal(got, test.want) {
				t.Errorf("%v are enqueued, want %v", got, test.want)
			}
		})
	}
}

// TestTriggerUnread: an Installation that cannot be listed now is not enqueued by this event, and
// nothing else fails.
func TestTriggerUnread(t *testing.T) {
	waits := testbuilders.Sibling("waits x")
	waits.Status.InstallationPhase = "Init"
	for at, want := range [][]string{{"parent"}, {"parent", "waits"}, {"parent", "waits"}} {
		broken := fakeapi.Fault{Reading: true, At: at, Err: errors.New("busy")}
		w := Mapper{Reader: observe.Reader{Cached: broken.Wrap(t, fakeapi.New(t, waits))}}
		var got []string
		for _, request := range w.Enqueued(t.Context(), testbuilders.Sibling("self => x"), nil) {
			got = append(got, request.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || !broken.Fired {
			t.Errorf("when read %d fails, %v are enqueued, want %v", at, got, want)
		}
	}
}
