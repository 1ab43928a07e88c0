package installation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/job"
)

// hashed notes the imports of an Installation as those of its last job.
func hashed(t *testing.T, inst *v1alpha1.Installation, objects ...client.Object) {
	t.Helper()
	imports, err := dataflow.Read(t.Context(), inst, importreader.From(fakeapi.New(t, objects...)))
	if err != nil {
		t.Fatal(err)
	}
	if inst.Status.ImportsHash, err = dataflow.ImportsHash(imports); err != nil {
		t.Fatal(err)
	}
}

// TestAsk: which dependent is triggered at once, which later, and which not.
func TestAsk(t *testing.T) {
	gone := apierrors.NewNotFound(v1alpha1.Resource("installations"), "dep")
	newer := apierrors.NewConflict(v1alpha1.Resource("installations"), "dep", errors.New("newer"))
	x := testbuilders.DataOf("x", `"new"`)
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Installation)
		there  bool
		fault  fakeapi.Fault
		done   bool
		failed bool
		asked  bool
	}{
		{"the dependent has used another value", nil, true, fakeapi.Fault{At: -1}, true, false, true},
		{"the dependent has used this value", func(inst *v1alpha1.Installation) { hashed(t, inst, x) }, true, fakeapi.Fault{At: -1}, true, false, false},
		{"the dependent does not exist any more", nil, false, fakeapi.Fault{At: -1}, true, false, false},
		{"the dependent is not valid: its job says what is wrong", func(inst *v1alpha1.Installation) { inst.Spec.Imports.Data[0].Name = "" }, true, fakeapi.Fault{At: -1}, true, false, true},
		{"the dependent is at work, perhaps with the old value", func(inst *v1alpha1.Installation) { inst.Status.JobID = "b" }, true, fakeapi.Fault{At: -1}, false, false, false},
		{"the dependent has automatic jobs switched off", func(inst *v1alpha1.Installation) {
			inst.Annotations = map[string]string{v1alpha1.IgnoreAnnotation: "true"}
		}, true, fakeapi.Fault{At: -1}, true, false, false},
		{"the dependent cannot be read", nil, true, fakeapi.Fault{Reading: true, Err: errors.New("busy")}, false, true, false},
		{"the import of the dependent cannot be read: a job too many is better than none", nil, true, fakeapi.Fault{Reading: true, At: 1, Err: errors.New("busy")}, true, false, true},
		{"the request is refused", nil, true, fakeapi.Fault{Err: errors.New("busy")}, true, true, false},
		{"another client was faster: the dependent is read again soon", nil, true, fakeapi.Fault{Err: newer}, false, true, false},
		{"the dependent was deleted meanwhile", nil, true, fakeapi.Fault{Err: gone}, true, false, false},
		{"the answer to the request is lost: the next attempt finds the request", nil, true, fakeapi.Fault{Lost: true, Err: errors.New("timeout")}, true, true, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, x.DeepCopy())
			key := types.NamespacedName{Namespace: shop.Namespace, Name: "dep"}
			if test.there {
				b = newBench(t, x.DeepCopy(), testbuilders.Importer(t, "dep", test.change))
			}
			broken := test.fault.Wrap(t, b.api)
			b.Client, b.Reader = broken, broken
			by := testbuilders.Root(t, "shop", nil, []string{"x"})
			by.Namespace = key.Namespace
			done, err := b.dependents().Trigger(t.Context(), by, key.Name, b.reader().AfterWrites(observe.ExportsOf(by)))
			if done != test.done || (err != nil) != test.failed {
				t.Errorf("done: %t, %v", done, err)
			}
			live := &v1alpha1.Installation{}
			if err := b.api.Get(t.Context(), key, live); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if asked := live.Annotations[v1alpha1.OperationAnnotation] == "reconcile"; asked != test.asked {
				t.Errorf("asked: %t", asked)
			}
			// The history of the dependent says so.
			if trigger := job.TriggerOf(live); test.asked && trigger != v1alpha1.TriggeredByExporter {
				t.Errorf("what has started its job is %q", trigger)
			}
		})
	}
}

// TestAskReads: whether a root has used the exports of another one is read from the API server for
// these alone; for the rest, a stale cache only leads to a job too many.
func TestAskReads(t *testing.T) {
	for _, test := range []struct {
		reason string
		// cached is what a cache shows, used what the last job of the root has imported.
		cached     *v1alpha1.DataObject
		used       []*v1alpha1.DataObject
		generation int64
		reads      int
		asked      bool
	}{
		{"the root has used the new value, and a cache is behind", testbuilders.DataOf("x", `"old"`), []*v1alpha1.DataObject{testbuilders.DataOf("x", `"new"`), testbuilders.DataOf("other", `"new"`)}, 0, 1, false},
		{"the root has used the value that a cache still shows", testbuilders.DataOf("x", `"old"`), []*v1alpha1.DataObject{testbuilders.DataOf("x", `"old"`), testbuilders.DataOf("other", `"new"`)}, 0, 3, true},
		{"a cache is behind with something else", testbuilders.DataOf("other", `"old"`), []*v1alpha1.DataObject{testbuilders.DataOf("x", `"new"`), testbuilders.DataOf("other", `"new"`)}, 0, 3, false},
		{"the exports of the job are unknown", testbuilders.DataOf("x", `"old"`), []*v1alpha1.DataObject{testbuilders.DataOf("x", `"new"`), testbuilders.DataOf("other", `"new"`)}, 1, 2, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			by, importing := testbuilders.Root(t, "shop", nil, []string{"x"}), testbuilders.Importer(t, "dep", alsoOther)
			by.Namespace, by.Generation = shop.Namespace, test.generation
			hashed(t, importing, test.used[0], test.used[1])
			b := newBench(t, testbuilders.DataOf("x", `"new"`), testbuilders.DataOf("other", `"new"`), importing)
			counting := fakeapi.Fault{Reading: true, At: -1}
			b.Client, b.Reader = stale{b.api, test.cached}, counting.Wrap(t, b.api)
			if done, err := b.dependents().Trigger(t.Context(), by, "dep", b.reader().AfterWrites(observe.ExportsOf(by))); !done || err != nil {
				t.Fatal(done, err)
			}
			live := &v1alpha1.Installation{}
			if err := b.api.Get(t.Context(), client.ObjectKeyFromObject(importing), live); err != nil {
				t.Fatal(err)
			}
			if asked := live.Annotations[v1alpha1.OperationAnnotation] != ""; asked != test.asked || len(counting.Calls) != test.reads {
				t.Errorf("asked: %t, after %v", asked, counting.Calls)
			}
		})
	}
}

// TestAskDependents: which dependents are left when some could not be triggered, and when that is retried.
func TestAskDependents(t *testing.T) {
	working := func(inst *v1alpha1.Installation) { inst.Status.JobID = "b" }
	newer := apierrors.NewConflict(v1alpha1.Resource("installations"), "shop", errors.New("newer"))
	gone := apierrors.NewNotFound(v1alpha1.Resource("installations"), "shop")
	for _, test := range []struct {
		reason      string
		second      func(*v1alpha1.Installation)
		fault       fakeapi.Fault
		left        []string
		untriggered []string
		again       bool
		outcome     string
	}{
		{"both dependents are triggered", nil, fakeapi.Fault{At: -1}, nil, []string{}, false, ""},
		{"a dependent is at work, and its end triggers the next attempt", working, fakeapi.Fault{At: -1}, []string{"two"}, []string{"two"}, false, ""},
		{"the first dependent cannot be triggered, and the other one is", nil, fakeapi.Fault{Err: errors.New("busy")}, []string{"one"}, []string{"one"}, true, ""},
		{"the first dependent is deleted meanwhile, and needs no job", nil, fakeapi.Fault{Err: gone}, nil, []string{}, false, ""},
		{"the first dependent is changed meanwhile", nil, fakeapi.Fault{Err: newer}, []string{"one"}, []string{"one"}, true, ""},
		{"the remaining dependents cannot be stored: they are triggered again, which costs nothing", nil, fakeapi.Fault{At: 2, Err: errors.New("busy")}, []string{"one", "two"}, []string{}, true, ""},
		{"another client has changed the Installation, which is read again", nil, fakeapi.Fault{At: 2, Err: newer}, nil, []string{}, false, "newer"},
		{"the Installation does not exist any more", nil, fakeapi.Fault{At: 2, Err: gone}, nil, []string{}, false, "the object is deleted"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			self := testbuilders.Root(t, "shop", nil, []string{"x"})
			self.Namespace = shop.Namespace
			testbuilders.Ended(self, "a", "Succeeded")
			testbuilders.Alter(self, testbuilders.WithDependents("one", "two"))
			b := newBench(t, self, testbuilders.DataOf("x", "1"), testbuilders.Importer(t, "one", nil), testbuilders.Importer(t, "two", test.second))
			broken := test.fault.Wrap(t, b.api)
			b.Client, b.Reader = broken, broken
			s := snapshotOf(b.installation(t))
			err := b.triggerDependents(t.Context(), s)
			if (err == nil) != (test.outcome == "") || err != nil && !strings.Contains(err.Error(), test.outcome) {
				t.Errorf("got %v", err)
			}
			if got := toAskOf(s.Inst); !slices.Equal(got, test.left) {
				t.Errorf("left to tell are %v, want %v", got, test.left)
			}
			if again := !s.TriggerAt.IsZero(); !slices.Equal(s.Untriggered, test.untriggered) || again != test.again {
				t.Errorf("waits for %v, again at %s", s.Untriggered, s.TriggerAt)
			}
			if stored := toAskOf(b.installation(t)); err == nil && !slices.Equal(stored, test.left) {
				t.Errorf("stored are %v, want %v", stored, test.left)
			}
		})
	}
}

// TestNothingTriggered: as long as no dependent can be triggered, nothing is written.
func TestNothingTriggered(t *testing.T) {
	self := testbuilders.Root(t, "shop", nil, []string{"x"})
	self.Namespace = shop.Namespace
	testbuilders.Ended(self, "a", "Succeeded")
	testbuilders.Alter(self, testbuilders.WithDependents("one"))
	b := newBench(t, self, testbuilders.Importer(t, "one", func(inst *v1alpha1.Installation) { inst.Status.JobID = "b" }))
	wantWrites(t, "it works", b.reconcile(t), "")
	wantWrites(t, "it still does", b.reconcile(t), "")
}

func toAskOf(inst *v1alpha1.Installation) (names []string) {
	for _, dependent := range inst.Status.DependentsToTrigger {
		names = append(names, dependent.Name)
	}
	return names
}

// alsoOther lets a root import something else, too, which has changed since.
func alsoOther(inst *v1alpha1.Installation) {
	inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: "other", DataRef: "other"})
	inst.Status.ImportsHash = "of what it was"
}

// TestConcernsWhoNeverRan: no values are read of a root that has used none yet.
func TestConcernsWhoNeverRan(t *testing.T) {
	exporter, waiting := testbuilders.Root(t, "shop", nil, []string{"x"}), testbuilders.Importer(t, "dep", nil)
	b, counting := newBench(t, testbuilders.DataOf("x", `"new"`)), fakeapi.Fault{Reading: true, At: -1}
	if !b.dependents().Concerns(t.Context(), exporter, waiting, counting.Wrap(t, b.api)) || len(counting.Calls) > 0 {
		t.Errorf("read were %v", counting.Calls)
	}
}

// TestDeletionWaits: the job of a root with importers begins with the write that says what it waits
// for.
func TestDeletionWaits(t *testing.T) {
	self := testbuilders.Root(t, "shop", nil, []string{"x"})
	self.Namespace, self.UID = shop.Namespace, "uid-shop"
	testbuilders.Ended(self, "a", "Succeeded")
	testbuilders.Alter(self, testbuilders.Deleting)
	self.Finalizers = []string{v1alpha1.Finalizer}
	b := newBench(t, self, testbuilders.Importer(t, "dep", nil))
	wantWrites(t, "it waits", b.reconcile(t), "status Installation")
	if status := b.installation(t).Status; status.JobID == "a" || status.InstallationPhase != "InitDelete" || status.LastError == nil || status.LastError.Reason == "" {
		t.Errorf("%+v", status)
	}
	wantWrites(t, "and has said so", b.reconcile(t), "")
	if err := b.api.Delete(t.Context(), testbuilders.Importer(t, "dep", nil)); err != nil {
		t.Fatal(err)
	}
	wantWrites(t, "it goes", b.reconcile(t), "patch Installation")
}

// TestNoteDependents: which roots a job concerns.
func TestNoteDependents(t *testing.T) {
	x := testbuilders.DataOf("x", `"new"`)
	used := func(inst *v1alpha1.Installation) { hashed(t, inst, x) }
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		others  []*v1alpha1.Installation
		want    []string
	}{
		{"an importer with another value", nil, []*v1alpha1.Installation{testbuilders.Importer(t, "old", nil), testbuilders.Importer(t, "new", used)}, []string{"old"}},
		{"an importer with this value, another of whose imports has changed, is not triggered", nil, []*v1alpha1.Installation{testbuilders.Importer(t, "beside", alsoOther)}, nil},
		{"an importer for which both imports have changed", nil, []*v1alpha1.Installation{testbuilders.Importer(t, "both", alsoOther)}, []string{"both"}},
		{"an importer with a copy of another job, such as one that failed before", nil, []*v1alpha1.Installation{testbuilders.Importer(t, "late", alsoOther)}, []string{"late"}},
		{"an importer without a copy", nil, []*v1alpha1.Installation{testbuilders.Importer(t, "without", alsoOther)}, []string{"without"}},
		{"an importer that lacks another import is triggered, and its job says which", nil, []*v1alpha1.Installation{testbuilders.Importer(t, "lacks", func(inst *v1alpha1.Installation) {
			inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: "more", DataRef: "nowhere"})
		})}, []string{"lacks"}},
		{"the hint that no sibling imports the exports", []testbuilders.Option{func(s *decide.Situation) {
			s.Inst.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
		}}, []*v1alpha1.Installation{testbuilders.Importer(t, "old", nil)}, nil},
		{"a subinstallation triggers none: its parent assigns the job to all", []testbuilders.Option{func(s *decide.Situation) { s.Parent = testbuilders.ParentWith("a", "") }}, []*v1alpha1.Installation{testbuilders.Importer(t, "old", nil)}, nil},
		{"nothing is exported any more", []testbuilders.Option{func(s *decide.Situation) { s.Inst.Spec.Exports = v1alpha1.InstallationExports{} }, testbuilders.WithDependents("old")}, []*v1alpha1.Installation{testbuilders.Importer(t, "old", nil)}, nil},
		{"dependents of the job before are forgotten if they have the value now", []testbuilders.Option{testbuilders.WithDependents("new")}, []*v1alpha1.Installation{testbuilders.Importer(t, "new", used)}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			self := testbuilders.Root(t, "shop", nil, []string{"x"})
			self.Namespace = shop.Namespace
			s := snapshotOf(self)
			for _, option := range test.options {
				option(&s.Situation)
			}
			objects := []client.Object{
				self, x.DeepCopy(), testbuilders.DataOf("other", "1"),
				testbuilders.ImportCopy("beside", `"new"`, "a"), testbuilders.ImportCopy("both", `"old"`, "a"), testbuilders.ImportCopy("late", `"new"`, "before-a"),
			}
			for _, other := range test.others {
				objects = append(objects, other)
			}
			b := newBench(t, objects...)
			// The cache still has the value of the job before.
			b.Client = stale{b.api, testbuilders.DataOf("x", `"old"`)}
			if err := b.noteDependents(t.Context(), s, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{x}}); err != nil {
				t.Fatal(err)
			}
			if got := toAskOf(s.Inst); !slices.Equal(got, test.want) {
				t.Errorf("it concerns %v, want %v", got, test.want)
			}
		})
	}
}

// TestMissingIsNews: an import that was missing in the last job counts as changed when it is back,
// also if an earlier job has used the same value.
func TestMissingIsNews(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	exporter := testbuilders.Root(t, "infra", nil, nil)
	exporter.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "cluster", Target: "cluster"}}
	if b.dependents().Concerns(t.Context(), exporter, b.installation(t), b.api) {
		t.Error("it has used what is there")
	}
	target := &v1alpha1.Target{}
	if err := b.api.Get(t.Context(), client.ObjectKey{Namespace: shop.Namespace, Name: "cluster"}, target); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Delete(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	b.request(t, v1alpha1.ReconcileOperation)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Failed" || s.JobIDFinished != "job-2" {
		t.Fatalf("without the import: %+v", s)
	}
	target.ResourceVersion = ""
	if err := b.api.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if !b.dependents().Concerns(t.Context(), exporter, b.installation(t), b.api) {
		t.Error("the last job had no such import, and no other job is requested")
	}
}

// stale is a cache that shows an older DataObject.
type stale struct {
	client.Client
	older *v1alpha1.DataObject
}

// Get implements client.Reader.
func (s stale) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if data, ok := object.(*v1alpha1.DataObject); ok && key.Name == s.older.Name {
		s.older.DeepCopyInto(data)
		return nil
	}
	return s.Client.Get(ctx, key, object, options...)
}

// TestPublished: objects that the job has just written are read from the API server, once; all
// others from the cache.
func TestPublished(t *testing.T) {
	c := fakeapi.New(t, testbuilders.DataOf("x", "2"), testbuilders.DataOf("y", "2"), testbuilders.TargetOf("x", "example.org/new"))
	counting := fakeapi.Fault{Reading: true, At: 0, Err: errors.New("busy")}
	p := &observe.WrittenReader{
		Cached: stale{c, testbuilders.DataOf("x", "1")}, Live: counting.Wrap(t, c), Read: map[observe.ObjectKey]client.Object{},
		Written: observe.KeysOf(dataflow.Exports{DataObjects: []*v1alpha1.DataObject{testbuilders.DataOf("x", "2")}, Targets: []*v1alpha1.Target{testbuilders.TargetOf("x", "example.org/new")}}),
	}
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: shop.Namespace, Name: name} }
	if err := p.Get(t.Context(), key("x"), &v1alpha1.DataObject{}); err == nil {
		t.Error("an error of the API server is lost")
	}
	for range 3 {
		data, target, other := &v1alpha1.DataObject{}, &v1alpha1.Target{}, &v1alpha1.DataObject{}
		if err := errors.Join(p.Get(t.Context(), key("x"), data), p.Get(t.Context(), key("x"), target), p.Get(t.Context(), key("y"), other)); err != nil {
			t.Fatal(err)
		}
		if string(data.Data.RawMessage) != "2" || target.Spec.Type != "example.org/new" || string(other.Data.RawMessage) != "2" {
			t.Errorf("read %s, %s, %s", data.Data.RawMessage, target.Spec.Type, other.Data.RawMessage)
		}
		// A caller that changes an object changes only its own copy.
		data.Data, target.Spec.Type = v1alpha1.AnyJSON{}, ""
	}
	if len(counting.Calls) != 3 {
		t.Errorf("the API server is asked by %v", counting.Calls)
	}
	list := &v1alpha1.TargetList{}
	if err := p.List(t.Context(), list); err != nil || len(list.Items) != 1 {
		t.Errorf("%d Targets, %v", len(list.Items), err)
	}
}
