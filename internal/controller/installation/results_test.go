package installation

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/controller/installation/wake"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/job"
)

// TestItemExports: what counts as the exports of deploy items, and that no error quotes
// a value.
func TestItemExports(t *testing.T) {
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "shop", UID: "uid-exec"}}
	ours := func(value string) *v1alpha1.DataObject {
		object, _, err := desired.ItemExports(exec, map[string]any{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		object.Data = v1alpha1.NewAnyJSON([]byte(value))
		return object
	}
	foreign := ours(`{"web": 1}`)
	foreign.OwnerReferences = []metav1.OwnerReference{testbuilders.Owner("Installation", "other", "9")}
	for _, test := range []struct {
		reason string
		exec   *v1alpha1.Execution
		object *v1alpha1.DataObject
		fault  fakeapi.Fault
		items  []string
		want   string
	}{
		{"no Execution, no exports", nil, nil, fakeapi.Fault{At: -1}, nil, ""},
		{"some items export", exec, ours(`{"web": {"a": 1}, "db": 2}`), fakeapi.Fault{At: -1}, []string{"db", "web"}, ""},
		{"no item exports", exec, ours(`{}`), fakeapi.Fault{At: -1}, nil, ""},
		{"upstream stores null without exports, which an API server drops", exec, ours(``), fakeapi.Fault{At: -1}, nil, ""},
		{"upstream stores null without exports, which an API server keeps", exec, ours(`null`), fakeapi.Fault{At: -1}, nil, ""},
		{"another client has deleted the DataObject", exec, nil, fakeapi.Fault{At: -1}, nil, "is missing: start another job"},
		{"the DataObject of the name is not of this Execution", exec, foreign, fakeapi.Fault{At: -1}, nil, "is missing: start another job"},
		{"another client has written a list", exec, ours(`["hunter2"]`), fakeapi.Fault{At: -1}, nil, "does not hold the exports of deploy items"},
		{"another client has written a text", exec, ours(`"hunter2"`), fakeapi.Fault{At: -1}, nil, "does not hold the exports of deploy items"},
		{"the DataObject cannot be read", exec, ours(`{}`), fakeapi.Fault{Reading: true, Err: errors.New("busy")}, nil, "busy"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t)
			if test.object != nil {
				b = newBench(t, test.object)
			}
			b.Reader = test.fault.Wrap(t, b.api)
			items, err := b.itemExports(t.Context(), test.exec)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("got %v", err)
			}
			if names := slices.Sorted(maps.Keys(items)); !slices.Equal(names, test.items) {
				t.Errorf("items %v, want %v", names, test.items)
			}
		})
	}
}

// TestResults: what in the scope of an Installation is a result of this job.
func TestResults(t *testing.T) {
	scoped := func(name, value, jobID string, change func(*v1alpha1.DataObject)) *v1alpha1.DataObject {
		object := testbuilders.DataOf(name, value)
		object.Labels = map[string]string{v1alpha1.DataObjectContextLabel: "Inst.shop", v1alpha1.DataObjectKeyLabel: name, v1alpha1.DataObjectJobIDLabel: jobID}
		if change != nil {
			change(object)
		}
		return object
	}
	elsewhere := scoped("elsewhere", "3", "job-2", func(o *v1alpha1.DataObject) { o.Labels[v1alpha1.DataObjectContextLabel] = "Inst.other" })
	byHand := scoped("by-hand", "4", "", func(o *v1alpha1.DataObject) { delete(o.Labels, v1alpha1.DataObjectJobIDLabel) })
	left := scoped("left", "5", "", func(o *v1alpha1.DataObject) {
		delete(o.Labels, v1alpha1.DataObjectJobIDLabel)
		o.OwnerReferences = []metav1.OwnerReference{testbuilders.Owner("Installation", "shop", "2")}
	})
	objects := []client.Object{scoped("now", "1", "job-2", nil), scoped("before", "2", "job-1", nil), elsewhere, byHand, left, testbuilders.CopyOf("target", "job-2"), testbuilders.CopyOf("old-target", "job-1")}
	b := newBench(t, objects...)
	s := snapshotOf(testbuilders.InstallationOf(t, "{}"))
	got, err := b.results(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got.DataObjects)); !slices.Equal(names, []string{"by-hand", "now"}) {
		t.Errorf("data %v: what an earlier job has left does not count, what a user has written does", names)
	}
	if names := slices.Sorted(maps.Keys(got.Targets)); !slices.Equal(names, []string{"target"}) {
		t.Errorf("Targets %v", names)
	}
	for at := range 2 {
		broken := fakeapi.Fault{Reading: true, At: at, Err: errors.New("busy")}
		b.Reader = broken.Wrap(t, b.api)
		if _, err := b.results(t.Context(), s); err == nil || job.OutcomeOf(err) != job.Transient {
			t.Errorf("when read %d fails: %v", at, err)
		}
	}
	_, secret := testbuilders.Concealed("conceals", "hunter2")
	referring := scoped("conceals", "", "job-2", nil)
	hidden, _ := testbuilders.Concealed("conceals", "hunter2")
	referring.Annotations, referring.Data = hidden.Annotations, hidden.Data
	b = newBench(t, referring, secret)
	broken := fakeapi.Fault{Reading: true, At: 2, Err: errors.New("busy")}
	b.Reader = broken.Wrap(t, b.api)
	if _, err := b.results(t.Context(), s); err == nil || !broken.Fired {
		t.Errorf("a value that cannot be read is not left out: %v", err)
	}
}

// TestScope: the objects that a job without subinstallations has written into its scope are taken
// from a cache that has all of them; all others are read from the API server.
func TestScope(t *testing.T) {
	inScope := func(name, jobID string) *v1alpha1.DataObject {
		object := testbuilders.DataOf(name, "1")
		object.Labels = map[string]string{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope("shop"), v1alpha1.DataObjectJobIDLabel: jobID}
		return object
	}
	target := testbuilders.TargetOf("c", "example.org/x")
	target.Labels = inScope("c", "job-2").Labels
	wrote := dataflow.Exports{DataObjects: []*v1alpha1.DataObject{inScope("a", "job-2"), inScope("b", "job-2")}, Targets: []*v1alpha1.Target{target}}
	all := []client.Object{inScope("a", "job-2"), inScope("b", "job-2"), target}
	for _, test := range []struct {
		reason string
		cached []client.Object
		knows  bool
		subs   []*v1alpha1.Installation
		asked  bool
	}{
		{"the cache has all objects", all, true, nil, false},
		{"the cache does not have a DataObject", all[1:], true, nil, true},
		{"the cache does not have the Target", all[:2], true, nil, true},
		{"the cache shows an object of an earlier job", append([]client.Object{inScope("a", "job-1")}, all[1:]...), true, nil, true},
		{"a subinstallation may have written more", all, true, []*v1alpha1.Installation{testbuilders.Sibling("sub")}, true},
		{"after a restart the written objects are unknown", all, false, nil, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := snapshotOf(testbuilders.InstallationOf(t, "{}"))
			s.Inst.Status.JobID, s.Subs = "job-2", test.subs
			b, counting := newBench(t, test.cached...), fakeapi.Fault{Reading: true, At: -1}
			b.Reader = counting.Wrap(t, newBench(t, all...).api)
			if test.knows {
				if _, err := b.planStore().Save(t.Context(), s.Inst, []byte("plan"), true); err != nil {
					t.Fatal(err)
				}
				b.memory.Of(s.Inst.UID).plan.RecordCopies(wrote)
			}
			data, targets, err := b.scope(t.Context(), s)
			if err != nil || len(data.Items) != 2 || len(targets.Items) != 1 {
				t.Fatal(len(data.Items), len(targets.Items), err)
			}
			if asked := len(counting.Calls) > 0; asked != test.asked {
				t.Errorf("asked: %v", counting.Calls)
			}
		})
	}
}

// TestRepeat: an automatic job is counted with the write that starts it, so that a crash adds no
// job, and the end of retries stays known.
func TestRepeat(t *testing.T) {
	for _, test := range []struct {
		reason string
		fault  fakeapi.Fault
	}{
		{"all writes succeed", fakeapi.Fault{At: -1}},
		{"the write that starts it is refused", fakeapi.Fault{Err: errors.New("busy")}},
		{"the answer to the write that starts it is lost", fakeapi.Fault{Lost: true, Err: errors.New("timeout")}},
		{"the write that accepts it is refused", fakeapi.Fault{At: 1, Err: errors.New("busy")}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.settle(t)
			inst := b.installation(t)
			testbuilders.Alter(inst, testbuilders.Every("2m", "", 2))
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			testbuilders.Ended(inst, "job-1", "Failed")
			if err := b.api.Status().Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			at := testbuilders.Noon.Add(time.Minute)
			b.Now = func() time.Time { return at }
			b.settle(t)
			if s := b.installation(t).Status; s.JobID != "job-1" || s.AutomaticReconcileStatus != nil {
				t.Fatalf("before the interval is over, there is %s", s.JobID)
			}
			at = testbuilders.Noon.Add(2 * time.Minute)
			b.Client = test.fault.Wrap(t, b.api)
			_, _ = b.Reconcile(t.Context(), wake.RequestFor(inst))
			_, _ = b.Reconcile(t.Context(), wake.RequestFor(inst))
			s := b.installation(t).Status
			if s.JobID != "job-2" || s.AutomaticReconcileStatus == nil || s.AutomaticReconcileStatus.NumberOfReconciles != 1 || !s.AutomaticReconcileStatus.LastReconcileTime.Time.Equal(at) {
				t.Errorf("%s, counted %+v", s.JobID, s.AutomaticReconcileStatus)
			}
			if s.History[0].Trigger != v1alpha1.TriggeredBySchedule || len(s.History) != 2 {
				t.Errorf("the history has %+v", s.History)
			}
		})
	}
}
