package installation

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/given"
)

// TestTellersWoken: who could not ask another one for a job hears when that one has
// changed, also when it is gone: then nobody is left to ask.
func TestTellersWoken(t *testing.T) {
	teller, busy := given.Root(t, "teller", nil, []string{"x"}), given.Root(t, "busy", []string{"x"}, nil)
	given.Ended(teller, "a", "Succeeded")
	given.Alter(teller, given.Tells("busy"))
	elsewhere := teller.DeepCopy()
	elsewhere.Namespace = "other"
	r := &Reconciler{Client: given.API(t, teller, elsewhere)}
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          []string
	}{
		{"it has ended its job", busy, given.Ended(busy.DeepCopy(), "b", "Failed"), []string{"teller"}},
		{"it is gone", busy, nil, []string{"teller"}},
		{"it is there again", nil, busy, []string{"teller"}},
		{"another one has ended its job", nil, given.Root(t, "third", []string{"x"}, nil), []string{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			names := []string{}
			for _, request := range r.Woken(t.Context(), test.before, test.after) {
				if request.Namespace != "n" {
					t.Errorf("%s is woken", request)
				}
				names = append(names, request.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("%v are woken, want %v", names, test.want)
			}
		})
	}
}

// TestConcernsParent: what becomes of a subinstallation that its parent has to know.
func TestConcernsParent(t *testing.T) {
	works, done, going := given.Sibling("s"), given.Ended(given.Sibling("s"), "a", "Failed"), given.Sibling("(s)")
	phase := given.Sibling("s")
	phase.Status.InstallationPhase = "Progressing"
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          bool
	}{
		{"it is created: the parent did that, or has read it", nil, works, false},
		{"it is gone", going, nil, true},
		{"its job has ended", works, done, true},
		{"it is being deleted", works, going, true},
		{"it gets on with its job", works, phase, false},
		{"nothing", done, done, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := concernsParent(test.before, test.after); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestFamily: each kind of event wakes who may go on by it, and what is no
// Installation nobody.
func TestFamily(t *testing.T) {
	waits := given.Sibling("waits x")
	waits.Status.InstallationPhase = "Init"
	exporter, done := given.Sibling("self => x"), given.Ended(given.Sibling("self => x"), "a", "Succeeded")
	r := &Reconciler{Client: given.API(t, waits)}
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for _, test := range []struct {
		reason string
		see    func(context.Context, line)
		want   []string
	}{
		{"an exporter appears", func(ctx context.Context, queue line) {
			r.family().Create(ctx, event.CreateEvent{Object: exporter}, queue)
		}, []string{"waits"}},
		{"it ends its job", func(ctx context.Context, queue line) {
			r.family().Update(ctx, event.UpdateEvent{ObjectOld: exporter, ObjectNew: done}, queue)
		}, []string{"parent", "waits"}},
		{"it is gone: what it exports will not come", func(ctx context.Context, queue line) {
			r.family().Delete(ctx, event.DeleteEvent{Object: exporter}, queue)
		}, []string{"parent", "waits"}},
		{"something else", func(ctx context.Context, queue line) {
			r.family().Create(ctx, event.CreateEvent{Object: &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: "self"}}}, queue)
		}, []string{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := queued(t, test.see); !slices.Equal(got, test.want) {
				t.Errorf("%v are woken, want %v", got, test.want)
			}
		})
	}
}

// TestWakeUnread: who cannot be found now is not woken by this event, and nothing else
// goes wrong.
func TestWakeUnread(t *testing.T) {
	waits := given.Sibling("waits x")
	waits.Status.InstallationPhase = "Init"
	for at, want := range [][]string{{"parent"}, {"parent", "waits"}, {"parent", "waits"}} {
		broken := given.Fault{Reading: true, At: at, Err: errors.New("busy")}
		r := &Reconciler{Client: broken.Wrap(t, given.API(t, waits))}
		var got []string
		for _, request := range r.Woken(t.Context(), given.Sibling("self => x"), nil) {
			got = append(got, request.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || !broken.Fired {
			t.Errorf("when read %d fails, %v are woken, want %v", at, got, want)
		}
	}
}

// TestSiblingsOf: who counts as a sibling, and which version of the Installation itself.
func TestSiblingsOf(t *testing.T) {
	earlier := given.Sibling("earlier")
	earlier.OwnerReferences[0].UID = "uid-of-an-earlier-parent"
	self := given.Sibling("self x")
	own := self.DeepCopy()
	own.Status.InstallationPhase = "Progressing"
	b := newBench(t, self, given.Sibling("one"), earlier, given.Root(t, "root", nil, nil))
	found, err := b.sight().Siblings(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sibling := range found {
		names = append(names, sibling.Name)
		if sibling.Name == "self" && sibling != own {
			t.Error("the cache goes before what was given")
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"one", "self"}) {
		t.Errorf("siblings are %v: those of an earlier parent and roots are none", names)
	}
	broken := given.Fault{Reading: true, Err: errors.New("busy")}
	b.Client = broken.Wrap(t, b.api)
	if _, err := b.sight().Siblings(t.Context(), own); err == nil {
		t.Error("siblings that cannot be read are none")
	}
}

// TestObserveFamily: a parent that cannot be read is not one that is gone, and children
// of an earlier Installation of the name are not ours.
func TestObserveFamily(t *testing.T) {
	parent := given.ParentWith("a", "")
	parent.Namespace = "n"
	lost := given.Sibling("self")
	lost.OwnerReferences[0].UID = "uid-of-an-earlier-parent"
	ours, theirs := given.Sibling("ours"), given.Sibling("theirs")
	for child, uid := range map[*v1alpha1.Installation]string{ours: "self", theirs: "earlier"} {
		child.OwnerReferences = []metav1.OwnerReference{given.Owner("Installation", "self", uid)}
	}
	for _, test := range []struct {
		reason   string
		inst     *v1alpha1.Installation
		objects  []client.Object
		at       int
		failed   bool
		parent   bool
		orphaned bool
	}{
		{"a subinstallation with its parent", given.Sibling("self"), []client.Object{parent, ours, theirs}, -1, false, true, false},
		{"its parent is gone", given.Sibling("self"), []client.Object{ours, theirs}, -1, false, false, true},
		{"its parent was made anew: the new one knows nothing of it", lost, []client.Object{parent, ours, theirs}, -1, false, false, true},
		{"its parent cannot be read", given.Sibling("self"), []client.Object{parent}, 0, true, false, false},
		{"its children cannot be read", given.Sibling("self"), []client.Object{parent, ours}, 1, true, true, false},
		{"a root", given.Root(t, "self", nil, nil), []client.Object{ours, theirs}, -1, false, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, test.objects...)
			broken := given.Fault{Reading: true, At: test.at, Err: errors.New("busy")}
			b.Client = broken.Wrap(t, b.api)
			s := snapshotOf(test.inst.DeepCopy())
			s.Inst.UID = "uid-self"
			if err := b.sight().Family(t.Context(), &s.Family); (err != nil) != test.failed {
				t.Fatalf("got %v", err)
			}
			if (s.Parent != nil) != test.parent || s.Orphaned != test.orphaned {
				t.Errorf("parent %v, orphaned: %t", s.Parent, s.Orphaned)
			}
			if !test.failed && (len(s.Subs) != 1 || s.Subs[0].Name != "ours") {
				t.Errorf("children %v", s.Subs)
			}
		})
	}
}
