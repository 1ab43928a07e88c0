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

// finder reads from one API server in memory, and notes the roots that it has triggered.
func finder(t *testing.T, known ...client.Object) (Finder, *[]string) {
	t.Helper()
	api, asked := fakeapi.New(t, known...), &[]string{}
	return Finder{
		Reader: observe.Reader{Cached: api, Live: api, Relations: &siblings.Cache{}, Sources: &repocontext.Reader{}},
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

// TestConcernedBy: which roots the end of a job concerns.
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
		{"no root imports the export", nil, nil, ""},
		{"an importer that has never had a job", nil, []client.Object{testbuilders.Importer(t, "dep", nil)}, "dep"},
		{"an importer that has used an older value", nil, []client.Object{testbuilders.Importer(t, "dep", usedValue(t, `"old"`))}, "dep"},
		{"an importer that has used the present value", nil, []client.Object{testbuilders.Importer(t, "dep", usedValue(t, `"new"`))}, ""},
		{"two importers are listed in order", nil, []client.Object{testbuilders.Importer(t, "b", nil), testbuilders.Importer(t, "a", nil)}, "a b"},
		{"an importer without automatic jobs", nil, []client.Object{testbuilders.Importer(t, "dep", skips)}, ""},
		{"an importer has used the present value, and another of its imports has changed", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other"; both(inst) }), copied(`"new"`), testbuilders.DataOf("y", "1"),
		}, ""},
		{"another import of the importer is missing, so that the used value is unknown", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other"; both(inst) }), copied(`"new"`),
		}, "dep"},
		{"the copy of the importer has the former value", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other" }), copied(`"old"`),
		}, "dep"},
		{"the copy of the importer is of an earlier job", nil, []client.Object{
			testbuilders.Importer(t, "dep", func(inst *v1alpha1.Installation) { inst.Status.ImportsHash = "other" }), testbuilders.ImportCopy("dep", `"new"`, "z"),
		}, "dep"},
		{"the exporter has the hint that no sibling imports its exports", []testbuilders.Option{optimized}, []client.Object{testbuilders.Importer(t, "dep", nil)}, ""},
		{"the exporter exports nothing any more", []testbuilders.Option{silent}, []client.Object{testbuilders.Importer(t, "dep", nil)}, ""},
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
	t.Run("a subinstallation concerns no root: its siblings wait for it", func(t *testing.T) {
		f, _ := finder(t, testbuilders.Importer(t, "dep", nil))
		if concerned, err := f.ConcernedBy(t.Context(), siblings.Family{Inst: exporter(t), Parent: testbuilders.ParentWith("a", "")}, dataflow.Exports{}); err != nil || concerned != nil {
			t.Errorf("%v, %v", concerned, err)
		}
	})
	t.Run("importers that cannot be listed are not forgotten", func(t *testing.T) {
		f, _ := finder(t)
		fault := fakeapi.Fault{Reading: true, Err: errors.New("busy")}
		f.Reader.Cached = fault.Wrap(t, fakeapi.New(t))
		if _, err := f.ConcernedBy(t.Context(), siblings.Family{Inst: exporter(t)}, dataflow.Exports{}); !errors.Is(err, fault.Err) || !strings.Contains(err.Error(), "look for the Installations") {
			t.Errorf("%v", err)
		}
	})
}

// TestAskOutcomes: what becomes of a request, and that a request which was not made is retried.
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
		{"the importer gets a job", []client.Object{dep()}, false, nil, true, nil, true},
		{"the importer does not exist any more", nil, false, nil, true, nil, false},
		{"the cache is behind our own writes", []client.Object{dep()}, true, nil, false, expectations.StaleCacheError{RetryAfter: time.Second}, false},
		{"another client has changed the importer meanwhile", []client.Object{dep()}, false, conflict, false, expectations.StaleCacheError{RetryAfter: reporter.ConflictBackoff}, true},
		{"the importer may not be changed", []client.Object{dep()}, false, broken, true, broken, true},
		{"the importer is at work, and its end triggers the next attempt", []client.Object{dep(testbuilders.Jobs("b", "a", "Progressing"))}, false, nil, false, nil, false},
		{"a request exists already", []client.Object{dep(testbuilders.Requested("reconcile"))}, false, nil, true, nil, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f, _ := finder(t, append(test.known, testbuilders.DataOf("x", "1"))...)
			requests := 0
			f.Await = func(context.Context, *v1alpha1.Installation) error {
				if test.behind {
					return expectations.StaleCacheError{RetryAfter: time.Second}
				}
				return nil
			}
			f.Request = func(context.Context, *v1alpha1.Installation, *v1alpha1.Installation) error {
				requests++
				return test.says
			}
			by := exporter(t)
			done, err := f.Trigger(t.Context(), by, "dep", f.Reader.AfterWrites(observe.ExportsOf(by)))
			if done != test.done || !errors.Is(err, test.fails) || (err != nil) != (test.fails != nil) || (requests > 0) != test.request || requests > 1 {
				t.Errorf("done: %t, %v, %d requests", done, err, requests)
			}
		})
	}
}
