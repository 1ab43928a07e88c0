package cases

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/local"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

var options = Options{Timeout: time.Minute}

// TestCases runs the cases of a blueprint: all pass.
func TestCases(t *testing.T) {
	file, err := Read("testdata/web/web_test.yaml", "testdata/web")
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range file.Test.Cases {
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			if outcome := Run(t.Context(), file, i, options); len(outcome.Failures) > 0 {
				t.Error(strings.Join(outcome.Failures, "\n"))
			}
		})
	}
}

// TestFailures: what is not as expected is said with its place, and both values.
func TestFailures(t *testing.T) {
	for _, test := range []struct{ reason, expect, want string }{
		{"another value of an export", "exports: {address: 10.0.0.1}", `exports.address: want "10.0.0.1", have "192.0.2.10"`},
		{"an export that does not exist", "exports: {host: x}", "there is no export host: there are address"},
		{"another field of an object", "objects: [{object: {kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}}]", "objects[0]: Deployment web.spec.replicas: want 3, have 2"},
		{"more fields than wanted", "objects: [{whole: true, object: {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}}}]", "Service web.spec: have {"},
		{"an object that does not exist", "objects: [{object: {kind: Deployment, metadata: {name: shop}}}]", "Deployment shop does not exist: there are "},
		{"an object that should not exist", "objects: [{absent: true, object: {kind: Service, metadata: {name: web}}}]", "is there, and should not be"},
		{"a condition that does not hold", "objects: [{object: {kind: Deployment, metadata: {name: web}}, conditions: ['spec.replicas > 2']}]", `the condition "spec.replicas > 2" does not hold`},
		{"another phase", "phase: Failed", "want phase Failed, have Succeeded"},
		{"an Installation that does not exist", "phases: {shop: Succeeded}", "there is no Installation shop: there are test"},
		{"no error", "error: broken", `no error has "broken"`},
		{"another order", "order: [Service web, Namespace shop]", "Namespace shop is not created then"},
		{"nothing waits", "waits: forbidden", `nothing has waited with "forbidden" until all have ended`},
		{"no snapshot", "snapshot: true", "take one with --update"},
		{"what remains", "deletion: {remain: [Secret web]}", `want ["Secret web"], have []`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			outcome := Run(t.Context(), written(t, "cases: [{name: a, expect: {"+test.expect+"}}]"), 0, options)
			if got := strings.Join(outcome.Failures, "\n"); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestLate: a case that has not ended says what is waited for.
func TestLate(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file := written(t, "cases: [{name: a, given: {calls: [{match: {kind: Deployment}, verbs: [create], forbidden: true}]}}]")
	settings, err := file.settings(&file.Test.Cases[0])
	if err != nil {
		t.Fatal(err)
	}
	settings.Log = local.Discard()
	landscape, err := local.Start(ctx, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer landscape.Close()
	if err := landscape.WaitFor(ctx, "forbidden"); err != nil {
		t.Fatal(err)
	}
	want := "\n  waiting: apply Deployment shop/web: the API server answers Forbidden (403)"
	if text := describe(landscape); !strings.Contains(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
}

// written is a file with tests of the blueprint of the test data.
func written(t *testing.T, text string) *File {
	t.Helper()
	directory := t.TempDir()
	blueprint, err := os.ReadFile("testdata/web/blueprint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(directory, "a_test.yaml")
	head := "apiVersion: local.landscaper.gardener.cloud/v1alpha1\nkind: LandscapeTest\nblueprint: .\ngiven: {imports: {replicas: 2}}\n"
	for path, content := range map[string]string{filepath.Join(directory, "blueprint.yaml"): string(blueprint), name: head + text + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := Read(name, filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSnapshot: a snapshot is taken when that is asked for, and what has changed since is said.
func TestSnapshot(t *testing.T) {
	file := written(t, "cases: [{name: a, expect: {snapshot: true}}]")
	update := options
	update.Update = true
	for _, step := range []struct {
		options Options
		imports map[string]any
		want    string
	}{
		{update, nil, ""},
		{options, nil, ""},
		{options, map[string]any{"replicas": int64(5)}, "spec.replicas: want 2, have 5 (accept it with --update)"},
		{update, map[string]any{"replicas": int64(5)}, ""},
		{options, map[string]any{"replicas": int64(5)}, ""},
	} {
		file.Test.Cases[0].Given.Imports = step.imports
		got := strings.Join(Run(t.Context(), file, 0, step.options).Failures, "\n")
		if !strings.Contains(got, step.want) || step.want == "" && got != "" {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// TestSnapshotOfAttacker: a snapshot that is a link is neither read nor written, wherever it leads.
func TestSnapshotOfAttacker(t *testing.T) {
	const kept = `{"a": "kept"}`
	victim := filepath.Join(t.TempDir(), "victim.json")
	file := written(t, "cases: [{name: a, expect: {snapshot: true}}]")
	snapshots := filepath.Join(filepath.Dir(file.Path), snapshotsDirectory)
	for _, err := range []error{
		os.WriteFile(victim, []byte(kept), 0o600), os.Mkdir(snapshots, 0o755),
		os.Symlink(victim, filepath.Join(snapshots, filepath.Base(file.Path)+".json")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	update := options
	update.Update = true
	if failures := Run(t.Context(), file, 0, update).Failures; len(failures) == 0 {
		t.Error("the link was followed")
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != kept {
		t.Errorf("the file elsewhere has %q, %v", text, err)
	}
}

// TestWrongFiles: a file that cannot be meant says where and what.
func TestWrongFiles(t *testing.T) {
	const head = "apiVersion: local.landscaper.gardener.cloud/v1alpha1\nkind: LandscapeTest\n"
	for _, test := range []struct{ reason, text, want string }{
		{"another kind", "apiVersion: v1\nkind: ConfigMap", "write apiVersion: local.landscaper.gardener.cloud/v1alpha1"},
		{"a field that does not exist", head + "blueprint: .\ncases: [{name: a, expects: {}}]", `there is no field "expects": did you mean expect?`},
		{"neither a blueprint nor a landscape", head + "cases: [{name: a}]", "write either blueprint or landscape"},
		{"a path of the machine", head + "landscape: /etc\ncases: [{name: a}]", "write a path beside the file"},
		{"a path out of the directory", head + "landscape: ../..\ncases: [{name: a}]", "is outside of"},
		{"two cases of a name", head + "blueprint: .\ncases: [{name: a}, {name: a}]", `two cases have the name "a"`},
		{"no case", head + "blueprint: .\ncases: []", "there are no cases"},
		{"a verb that does not exist", head + "blueprint: .\ncases: [{name: a, given: {calls: [{match: {}, verbs: [push], forbidden: true}]}}]", `there is no verb "push"`},
		{"a verb that does not exist, for all cases", head + "blueprint: .\ngiven: {calls: [{match: {}, verbs: [push], forbidden: true}]}\ncases: [{name: a}]", `given: calls[0].verbs: there is no verb "push"`},
		{"files, which would not be read", head + "blueprint: .\ncases: [{name: a, given: {clusters: [{cluster: '*', files: [b.yaml]}]}}]", `case "a": given: files are for local.yaml: write b.yaml under manifests`},
		{"files of what appears, for all cases", head + "blueprint: .\ngiven: {objects: [{match: {}, create: [{files: [b.yaml]}]}]}\ncases: [{name: a}]", "given: files are for local.yaml"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a_test.yaml")
			if err := os.WriteFile(name, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(name, filepath.Dir(name)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
