package dependents

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/reporter"
)

// finder reads from one API server in memory, and notes whom it has asked for a job.
func finder(t *testing.T, known ...client.Object) (Finder, *[]string) {
	t.Helper()
	api, asked := fakeapi.API(t, known...), &[]string{}
	return Finder{
		Reader: observe.Reader{Cached: api, Live: api, Relations: &siblings.Relations{}, Sources: &repocontext.Reader{}},
		Await:  func(context.Context, *v1alpha1.Installation) error { return nil },
		Request: func(_ context.Context, dependent, _ *v1alpha1.Installation) error {
			*asked = append(*asked, dependent.Name)
			return nil
		},
	}, asked
}

// exporter is a root that exports "x".
func exporter(t *testing.T, options ...testbuilders.Option) *v1alpha1.Installation {
	t.Helper()
	inst := testbuilders.Root(t, "by", nil, []string{"x"})
	inst.Namespace = "team-a"
	testbuilders.Alter(inst, options...)
	return inst
}

// usedValue lets a value of its import be that of its last job.
func usedValue(t *testing.T, value string) func(*v1alpha1.Installation) {
	t.Helper()
	return func(inst *v1alpha1.Installation) {
		f, _ := finder(t, testbuilders.DataOf("x", value))
		hash, known := f.Reader.HashOfImports(t.Context(), inst, f.Reader.Live)
		if !known {
			t.Fatal("its imports have no hash")
		}
		inst.Status.ImportsHash = hash
	}
}

// TestConcernedBy: whom the end of a job concerns.
func TestConcernedBy(t *testing.T) {
	x := testbuilders.DataOf("x", `"new"`)
	optimized := func(s *decide.Situation) {
		s.Inst.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	}
	silent := func(s *decide.Situation) { s.Inst.Spec.Exports = v1alpha1.InstallationExports{} }
	skips := func(inst *v1alpha1.Installation) {
		testbuilders.Alter(inst, testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"))
	}
	both := func(inst *v1alpha1.Installation) {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: "in-y", DataRef: "y"})
	}
	copied := func(value string) client.Object { return testbuilders.ImportCopy("dep", value, "a") }
	for _, test := range []struct {
		reason string
		self   []testbuilders.Option
		known  []client.Object
		want   string
	}{
		{"nobody imports it", nil, nil, ""},
		{"who imports it and has never had a job", nil, []client.Object{testbuilders.Importer(t, "dep", nil)}, "dep"},
		{"who has used an older value", nil, []client.Object{testbuilders.Importer(t, "dep", usedValue(t, `"old"`))}, "dep"},
		{"who has used the value as it is", nil, []client.Object{testbuilders.Importer(t, "dep", usedValue(t, `"new"`))}, ""},
		{"two, in order", nil, []client.Object{testbuilders.Importer(t, "b", nil), testbuilders.Importer(t, "a", nil)}, "a b"},
		{"who wants no automatic jobs", nil, []client.Object{testbuilders.Importer(t, "dep", skips)}, ""},
		{"another import has changed, and this one was used as it is", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other"; both(inst) }), copied(`"new"`), testbuilders.DataOf("y", "1"),
		}, ""},
		{"another import is missing: nobody knows what was used", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other"; both(inst) }), copied(`"new"`),
		}, "dep"},
		{"its copy is of the value before", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other" }), copied(`"old"`),
		}, "dep"},
		{"its copy is of an earlier job", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other" }), testbuilders.ImportCopy("dep", `"new"`, "z"),
		}, "dep"},
		{"it says that nobody imports what it exports", []testbuilders.Option{optimized}, []client.Object{testbuilders.Importer(t, "dep", nil)}, ""},
		{"it exports nothing any more", []testbuilders.Option{silent}, []client.Object{testbuilders.Importer(t, "dep", nil)}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			self := exporter(t, test.self...)
			f, asked := finder(t, append(test.known, self, x)...)
			concerned, err := f.ConcernedBy(t.Context(), siblings.Family{Inst: self}, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{x}})
			var names []string
			for _, dependent := range concerned {
				names = append(names, dependent.Name)
			}
			if got := strings.Join(names, " "); err != nil || got != test.want || len(*asked) > 0 {
				t.Errorf("%q, %v, asked %v", got, err, *asked)
			}
		})
	}
	t.Run("a subinstallation concerns nobody: its siblings wait for it", func(t *testing.T) {
		f, _ := finder(t, testbuilders.Importer(t, "dep", nil))
		if concerned, err := f.ConcernedBy(t.Context(), siblings.Family{Inst: exporter(t), Parent: testbuilders.ParentWith("a", "")}, dataflow.Exports{}); err != nil || concerned != nil {
			t.Errorf("%v, %v", concerned, err)
		}
	})
	t.Run("who cannot be listed is not forgotten", func(t *testing.T) {
		f, _ := finder(t)
		fault := fakeapi.Fault{Reading: true, Err: errors.New("busy")}
		f.Reader.Cached = fault.Wrap(t, fakeapi.API(t))
		if _, err := f.ConcernedBy(t.Context(), siblings.Family{Inst: exporter(t)}, dataflow.Exports{}); !errors.Is(err, fault.Err) || !strings.Contains(err.Error(), "look for the Installations") {
			t.Errorf("%v", err)
		}
	})
}

// TestAskOutcomes: what becomes of a request, and that what is not done stays to be done.
func TestAskOutcomes(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("installations"), "dep", errors.New("newer"))
	broken := errors.New("busy")
	dep := func(options ...testbuilders.Option) *v1alpha1.Installation {
		return testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { testbuilders.Alter(inst, options...) })
	}
	for _, test := range []struct {
		reason  string
		known   []client.Object
		behind  bool
		says    error
		done    bool
		fails   error
		request bool
	}{
		{"it gets a job", []client.Object{dep()}, false, nil, true, nil, true},
		{"it does not exist any more", nil, false, nil, true, nil, false},
		{"the cache is behind what we have written ourselves", []client.Object{dep()}, true, nil, false, expectations.Behind{Pause: time.Second}, false},
		{"somebody has changed it meanwhile", []client.Object{dep()}, false, conflict, false, expectations.Behind{Pause: reporter.ConflictPause}, true},
		{"it has gone meanwhile", []client.Object{dep()}, false, reporter.ErrGone, true, nil, true},
		{"it may not be changed", []client.Object{dep()}, false, broken, true, broken, true},
		{"it works: its end will tell", []client.Object{dep(testbuilders.Jobs("b", "a", "Progressing"))}, false, nil, false, nil, false},
		{"somebody has asked for it", []client.Object{dep(testbuilders.Requested("reconcile"))}, false, nil, true, nil, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f, _ := finder(t, append(test.known, testbuilders.DataOf("x", "1"))...)
			requests := 0
			f.Await = func(context.Context, *v1alpha1.Installation) error {
				if test.behind {
					return expectations.Behind{Pause: time.Second}
				}
				return nil
			}
			f.Request = func(context.Context, *v1alpha1.Installation, *v1alpha1.Installation) error {
				requests++
				return test.says
			}
			by := exporter(t)
			done, err := f.Ask(t.Context(), by, "dep", f.Reader.AfterWrites(observe.ExportsOf(by)))
			if done != test.done || !errors.Is(err, test.fails) || (err != nil) != (test.fails != nil) || (requests > 0) != test.request || requests > 1 {
				t.Errorf("done: %t, %v, %d requests", done, err, requests)
			}
		})
	}
}
