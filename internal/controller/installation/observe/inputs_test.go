package observe_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// wantOperation checks the operation of an error in the status.
func wantOperation(t *testing.T, err error, operation string, reason reasons.Reason) {
	t.Helper()
	var of *job.Error
	if !errors.As(err, &of) || of.Operation != operation || of.Reason != reason {
		t.Errorf("want an error of %s, %s: %v", operation, reason, err)
	}
}

func secretOf(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: "uid-s"}, Data: map[string][]byte{key: []byte(value)}}
}

const (
	blueprintOf = "blueprint: {inline: {filesystem: {blueprint.yaml: \"{}\"}}}\n"
	importsX    = blueprintOf + "imports: {data: [{name: in-x, dataRef: x}]}"
	importsS    = blueprintOf + "imports: {data: [{name: in-s, secretRef: {name: s, key: k}}]}"
)

// TestReadImports: missing, wrong and unreadable imports are different results.
func TestReadImports(t *testing.T) {
	exporter := testbuilders.Root(t, "db", nil, []string{"x"})
	exporter.Namespace = "team-a"
	for _, test := range []struct {
		reason, spec             string
		known                    objects
		missing, broken, exports string
	}{
		{"nothing is imported", blueprintOf, nil, "", "", ""},
		{"all imports exist", importsX, objects{testbuilders.DataOf("x", "1"), exporter}, "", "", ""},
		{"an import is missing, and no sibling exports it", importsX, nil, "in-x", "", ""},
		{"an import is missing, and a sibling exports it", importsX, objects{exporter}, "in-x", "", "db"},
		{"the Secret is missing", importsS, nil, "in-s", "", ""},
		{"the Secret exists without the key", importsS, objects{secretOf("s", "other", "hidden-value")}, "", "in-s", ""},
		{"the value cannot be used", importsS, objects{secretOf("s", "k", "{hidden-value: [")}, "", "in-s", ""},
		{
			"an import is missing and another one is wrong: waiting would not help",
			blueprintOf + "imports: {data: [{name: in-x, dataRef: x}, {name: in-s, secretRef: {name: s, key: k}}]}", objects{secretOf("s", "k", "{hidden-value: ["), exporter}, "", "in-s", "",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := same(t, test.known...)
			inst := testbuilders.InstallationOf(t, test.spec)
			// Results of an earlier read do not count for this one.
			in := &decide.Inputs{Missing: testbuilders.Missing("stale"), ImportsErr: errors.New("stale")}
			if err := w.ReadImports(t.Context(), siblings.Family{Inst: inst}, in, observe.Reading(w.Cached, w.Live, inst)); err != nil {
				t.Fatal(err)
			}
			missing, exports := "", ""
			for _, m := range in.Missing {
				missing += m.Import
			}
			for _, e := range in.Exporters {
				exports += e.Name
			}
			if missing != test.missing || exports != test.exports || (in.ImportsErr != nil) != (test.broken != "") {
				t.Errorf("missing %q, exported by %q, wrong: %v", missing, exports, in.ImportsErr)
			}
			if in.ImportsErr != nil && (!strings.Contains(in.ImportsErr.Error(), test.broken) || strings.Contains(in.ImportsErr.Error(), "hidden-value")) {
				t.Errorf("the import is to be named, and no value: %v", in.ImportsErr)
			}
		})
	}
}

// TestReadImportsFails: an attempt whose reads have failed ends no job.
func TestReadImportsFails(t *testing.T) {
	inst := testbuilders.InstallationOf(t, importsX)
	t.Run("the API server does not answer", func(t *testing.T) {
		w := same(t)
		w.server.At, w.server.Err = 0, errors.New("busy")
		in := &decide.Inputs{}
		err := w.ReadImports(t.Context(), siblings.Family{Inst: inst}, in, observe.Reading(w.Cached, w.Live, inst))
		wantOperation(t, err, published.Init, "ImportsSatisfied")
		if len(in.Missing) > 0 || in.ImportsErr != nil || job.OutcomeOf(err) != job.Transient {
			t.Errorf("%+v, %v", in, err)
		}
	})
	t.Run("the possible exporters of a missing import cannot be listed", func(t *testing.T) {
		w := same(t)
		w.cache.At, w.cache.Err = 1, errors.New("busy") // 0 is the import
		err := w.ReadImports(t.Context(), siblings.Family{Inst: inst}, &decide.Inputs{}, observe.Reading(w.Cached, w.Live, inst))
		wantOperation(t, err, published.Init, "ImportsSatisfied")
		if !errors.Is(err, w.cache.Err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("the server ends meanwhile: an import that it did not find may exist", func(t *testing.T) {
		w := same(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.server.At, w.server.Then, w.server.Lost = 0, cancel, true
		in := &decide.Inputs{}
		if err := w.ReadImports(ctx, siblings.Family{Inst: inst}, in, observe.Reading(w.Cached, w.Live, inst)); err == nil || len(in.Missing) > 0 || in.ImportsErr != nil {
			t.Errorf("%+v, %v", in, err)
		}
	})
}

// TestInputs: how far an attempt reads, and from the cache or the API server. Each request to the
// API server costs: the rows are a budget.
func TestInputs(t *testing.T) {
	root := func(*v1alpha1.Installation) {}
	failed := func(inst *v1alpha1.Installation) { inst.Status.LastError = &v1alpha1.Error{} }
	updating := func(inst *v1alpha1.Installation) { inst.Status.DataUpdate = &v1alpha1.DataUpdate{} }
	landscape := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}}
	x, s := testbuilders.DataOf("x", "1"), secretOf("s", "k", "1")
	coming := testbuilders.Root(t, "db", nil, []string{"x"})
	coming.Namespace, coming.Status.JobID, coming.Status.InstallationPhase = "team-a", "a", "Progressing"
	for _, test := range []struct {
		reason, spec string
		change       func(*v1alpha1.Installation)
		planning     bool
		known        objects
		missing      bool
		hashed       bool
		// cache and server are the reads of each of them.
		cache, server string
	}{
		{"the inputs of a spec that is not valid are not read", "imports: {data: [{name: a}]}", root, false, nil, false, false, "", ""},
		{"a root reads its imports once more from the API server: they may be newer than their watch", importsX, root, false, objects{x}, false, false, "Context DataObject", "DataObject"},
		{"a root does not read its imports again while a plan is made of them", importsX, root, true, objects{x}, false, false, "Context DataObject", ""},
		{"a data update reads the imports again each time", importsX, updating, true, objects{x}, false, true, "Context DataObject", "DataObject"},
		{"imports without a cache are read from the API server only", importsS, root, false, objects{s}, false, false, "Context", "Secret"},
		{"a job that waits already reads the cache first", importsS, failed, false, objects{s}, false, false, "Context Secret", "Secret"},
		{"a missing import that is about to be exported needs no request", importsX, root, false, objects{coming}, true, false, "Context DataObject InstallationList", ""},
		{"a missing import without an exporter ends the job, so the API server decides", importsX, root, false, nil, true, false, "Context DataObject InstallationList DataObject InstallationList", "DataObject"},
		{"nothing is missing that a data update could identify", importsX, updating, false, nil, true, false, "Context DataObject InstallationList DataObject InstallationList", "DataObject"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := same(t, append(test.known, landscape)...)
			inst := testbuilders.InstallationOf(t, test.spec)
			test.change(inst)
			in, err := w.Inputs(t.Context(), siblings.Family{Inst: inst}, test.planning)
			if err != nil || (len(in.Missing) > 0) != test.missing || (in.Hash != "") != test.hashed || in.ImportsErr != nil {
				t.Fatalf("%+v, %v", in, err)
			}
			if got := asked(w.cache); got != test.cache {
				t.Errorf("the cache was asked for %q", got)
			}
			if got := asked(w.server); got != test.server {
				t.Errorf("the API server was asked for %q", got)
			}
		})
	}
	t.Run("TargetSyncs are read once, where a Target is missing that nothing is about to bring", func(t *testing.T) {
		sync := &v1alpha1.TargetSync{}
		sync.Namespace, sync.Name = "team-a", "garden"
		const imports = blueprintOf + "imports: {targets: [{name: cluster, target: blue}]}"
		w := same(t, landscape, sync)
		in, err := w.Inputs(t.Context(), siblings.Family{Inst: testbuilders.InstallationOf(t, imports)}, false)
		if err != nil || len(in.Syncs) != 1 || strings.Count(asked(w.server), "TargetSyncList") != 1 {
			t.Errorf("%+v, %v: %v", in.Syncs, err, w.server.Calls)
		}
		w = same(t, landscape, sync)
		w.server.At, w.server.Err = 1, errors.New("forbidden")
		if in, err = w.Inputs(t.Context(), siblings.Family{Inst: testbuilders.InstallationOf(t, imports)}, false); len(in.Missing) != 1 || len(in.Syncs) != 0 || err != nil {
			t.Errorf("a server that may not read TargetSyncs: %+v, %v, %v", in, err, w.server.Calls)
		}
	})
	t.Run("a subinstallation whose turn has not come reads no imports", func(t *testing.T) {
		parent := testbuilders.ParentWith("job-2", "")
		parent.Namespace = "team-a"
		before := testbuilders.Sibling("before => x")
		before.Namespace, before.Status.JobID = "team-a", "job-2"
		inst := testbuilders.InstallationOf(t, blueprintOf+"imports: {data: [{name: in-x, dataRef: x}]}")
		inst.OwnerReferences = []metav1.OwnerReference{testbuilders.Owner("Installation", "parent", "parent")}
		w := same(t, parent, before, inst)
		in, err := w.Inputs(t.Context(), siblings.Family{Inst: inst, Parent: parent}, false)
		if err != nil || in.Turn.Ready() || asked(w.cache) != "InstallationList" || asked(w.server) != "" {
			t.Errorf("%+v, %v: %v, %v", in.Turn, err, w.cache.Calls, w.server.Calls)
		}
	})
}

// asked are the kinds that were read, in order.
func asked(of *fakeapi.Fault) string {
	text := strings.Join(of.Calls, " ")
	return strings.NewReplacer("get ", "", "list ", "", "*v1.", "").Replace(text)
}

// TestHashOfImports: the same values have the same hash, another value another one, and unknown
// values have none.
func TestHashOfImports(t *testing.T) {
	hash := func(spec string, known ...*v1alpha1.DataObject) (string, bool) {
		var all objects
		for _, object := range known {
			all = append(all, object)
		}
		w := newWorld(t, all, nil)
		return w.HashOfImports(t.Context(), testbuilders.InstallationOf(t, spec), w.Cached)
	}
	first, known := hash(importsX, testbuilders.DataOf("x", `{"a":1,"b":[true,null]}`))
	if !known || first == "" {
		t.Fatal("a value has no hash")
	}
	for _, test := range []struct {
		reason, spec, value string
		known, same         bool
	}{
		{"nothing has changed", importsX, `{"a":1,"b":[true,null]}`, true, true},
		{"a value has changed", importsX, `{"a":1,"b":[true,false]}`, true, false},
		{"a text that looks like the number", importsX, `{"a":"1","b":[true,null]}`, true, false},
		{"an entry that is null is not a missing entry", importsX, `{"a":1,"b":[true,null],"c":null}`, true, false},
		{"a list has an order", importsX, `{"a":1,"b":[null,true]}`, true, false},
		{"something is missing", blueprintOf + "imports: {data: [{name: in-x, dataRef: y}]}", `1`, false, false},
		{"the Installation cannot be used", "imports: {data: [{name: in-x}]}", `1`, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, known := hash(test.spec, testbuilders.DataOf("x", test.value))
			if known != test.known || known && (got == first) != test.same || !known && got != "" {
				t.Errorf("%q, %t; the first one %q", got, known, first)
			}
		})
	}
}

// TestExportKeys: objects that an Installation is about to write, and those that it has written,
// have the same keys.
func TestExportKeys(t *testing.T) {
	for _, test := range []struct {
		reason, exports string
		want            []observe.ObjectKey
	}{
		{"nothing", "{}", nil},
		{"a real name is used as it is written", "{data: [{name: a, dataRef: '#x'}]}", []observe.ObjectKey{{Name: "x"}}},
		{"data and a Target of one name are two objects", "{data: [{name: a, dataRef: x}], targets: [{name: b, target: x}]}", []observe.ObjectKey{{Name: "x"}, {Target: true, Name: "x"}}},
		{"two exports to one object are one", "{data: [{name: a, dataRef: x}, {name: b, dataRef: x}]}", []observe.ObjectKey{{Name: "x"}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := observe.ExportsOf(testbuilders.InstallationOf(t, "exports: "+test.exports))
			if len(got) != len(test.want) {
				t.Errorf("%v", got)
			}
			for _, key := range test.want {
				if !got[key] {
					t.Errorf("%v is missing in %v", key, got)
				}
			}
		})
	}
}
