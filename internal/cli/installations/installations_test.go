package installations

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/cli/tree"
	"go.landscaper.dev/internal/inspect"
)

func TestExplainMissingDefinition(t *testing.T) {
	c := &connection{where: "the cluster c"}
	missing := apierrors.NewGenericServerResponse(404, "list", schema.GroupResource{}, "", "404 page not found", 0, true)
	err := c.explain(&inspect.ReadError{Resource: v1alpha1.Resource("deployitems"), Err: missing})
	if !strings.Contains(err.Error(), "deployitems.landscaper.gardener.cloud is not installed in the cluster c") || terminal.ExitCode(err, true) != terminal.ExitNotFound {
		t.Error(err)
	}
	object := apierrors.NewNotFound(v1alpha1.Resource("installations"), "a")
	if got := c.explain(object); !errors.Is(got, object) {
		t.Errorf("a missing object is no missing definition: %v", got)
	}
}

func TestOutputModes(t *testing.T) {
	tests := []struct {
		reason string
		flags  outputFlags
		want   outputMode
	}{
		{"a tree", outputFlags{}, outputTree},
		{"by name", outputFlags{output: "json"}, outputJSON},
		{"by letter", outputFlags{wide: true}, outputWide},
		{"twice the same is once", outputFlags{output: "yaml", yaml: true}, outputYAML},
		{"the tree for programs", outputFlags{output: "tree-json"}, outputTreeJSON},
	}
	for _, test := range tests {
		if err := test.flags.check(); err != nil || test.flags.mode != test.want {
			t.Errorf("%s: mode %q, error %v", test.reason, test.flags.mode, err)
		}
	}
	both := outputFlags{output: "tree-json", json: true}
	if both.check() == nil {
		t.Error("tree-json and json are two modes")
	}
}

func TestRemarks(t *testing.T) {
	tests := []struct {
		reason    string
		pending   string
		running   bool
		operation v1alpha1.Operation
		want      string
	}{
		{"nothing to remark", "", false, "reconcile", ""},
		{"another operation is lost", "interrupt", false, "reconcile", `Warning: operation "interrupt" was pending and is replaced`},
		{"the same operation is asked for again", "reconcile", false, "reconcile", `Warning: operation "reconcile" was already pending`},
		{"the new job has to wait", "", true, "reconcile", "Note: a job is running; the new one starts when it has ended"},
		{"nothing to interrupt", "", false, "interrupt", "Note: no job is running"},
		{"something to interrupt", "", true, "interrupt", ""},
	}
	for _, test := range tests {
		before := &v1alpha1.Installation{}
		if test.pending != "" {
			before.Annotations = map[string]string{v1alpha1.OperationAnnotation: test.pending}
		}
		if test.running {
			before.Status.JobID = "j"
		}
		if got := strings.Join(remarks(before, test.operation), "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}

func TestArrived(t *testing.T) {
	state := func(operation, job string) *v1alpha1.Installation {
		return &v1alpha1.Installation{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.OperationAnnotation: operation}},
			Status:     v1alpha1.InstallationStatus{JobID: job},
		}
	}
	tests := []struct {
		reason          string
		before, present *v1alpha1.Installation
		want            bool
	}{
		{"the first attempt was lost on its way", state("", "1"), state("", "1"), false},
		{"only the answer was lost", state("", "1"), state("reconcile", "1"), true},
		{"a controller has even begun", state("", "1"), state("", "2"), true},
		{"the annotation was there before, so nothing is known", state("reconcile", "1"), state("reconcile", "1"), false},
	}
	for _, test := range tests {
		if got := arrived(test.before, test.present, v1alpha1.ReconcileOperation); got != test.want {
			t.Errorf("%s: %t", test.reason, got)
		}
	}
}

func TestTreeOptions(t *testing.T) {
	f := inspectFlags{noColor: true, ascii: true, names: string(tree.ObjectNames)}
	if options := f.treeOptions((&terminaltest.Console{Columns: 80}).Streams()); options.Color || !options.ASCII || options.Columns != 80 {
		t.Errorf("flags decide before the terminal: %+v", options)
	}
}
