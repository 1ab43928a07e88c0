package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/tree"
	"go.landscaper.dev/internal/inspect"
)

// console records what a command prints.
type console struct {
	out, err    bytes.Buffer
	environment map[string]string
	// columns is the width of the terminal: 0 without one, -1 if it is not known.
	columns int
}

func (c *console) streams() Streams {
	return Streams{
		In: strings.NewReader(""), Out: &c.out, Err: &c.err,
		Getenv:   func(name string) string { return c.environment[name] },
		Terminal: c.columns != 0,
		Columns:  func() int { return max(c.columns, 0) },
	}
}

func TestCommandLine(t *testing.T) {
	strictly := map[string]string{exitCodesVariable: "2"}
	tests := []struct {
		reason      string
		args        string
		environment map[string]string
		code        int
		out, err    string
	}{
		{"without a command, help", "", nil, 0, "Available Commands", ""},
		{"help of the group", "inst", nil, 0, "interrupt", ""},
		{"an old command knows 0 and 1 only", "installations inspect a b", nil, 1, "", "Error: accepts at most 1 arg(s), received 2\n"},
		{"unless the flag asks for more", "installations inspect a b --strict-exit-codes", nil, 64, "", "accepts at most"},
		{"or the environment", "installations inspect a b", strictly, 64, "", "accepts at most"},
		{"a new command always tells", "installations wait", nil, 64, "", "Error: installationName was not defined: name the Installation\n"},
		{"a new command does so under its short name", "wait", nil, 64, "", "installationName was not defined"},
		{"a flag that nobody knows", "wait a --nonsense", nil, 64, "", "unknown flag: --nonsense"},
		{"a name is needed", "i reconcile", nil, 1, "", "installationName was not defined"},
		{"an empty name is none", "i interrupt \"\"", nil, 1, "", "installationName was not defined"},
		{"a goal that nobody knows", "wait a --for glory", nil, 64, "", `invalid option for '--for' flag: "glory": use one of succeeded, failed, finished, deleted`},
		{"a mode that nobody knows", "inst inspect -o xml", nil, 1, "", `Error: invalid option for '--output'/'-o' flag: "xml"` + "\n"},
		{"two modes", "inst inspect -y -w", nil, 1, "", "no more than one output mode may be set: yaml=true, json=false, wide=true"},
		{"one namespace or all", "inst status -A a", nil, 1, "", "the --all-namespaces option cannot be used when an installation name is provided"},
		{"a watch has no end in JSON", "inst i -W -o json", nil, 64, "", "--watch shows trees only"},
		{"until without watch", "inst i --until finished", nil, 1, "", "--until needs --watch"},
		{"until something else", "inst i -W --until later", nil, 64, "", "use finished"},
		{"names of another kind", "inst i --names nick", nil, 1, "", "use object or template"},
		{"no kubeconfig", "inspect --kubeconfig /does/not/exist", nil, 1, "", "read kubeconfig: stat /does/not/exist: no such file or directory"},
		{"the former logger flags", "version -o short --cli --dev --disable-caller --disable-timestamp --disable-stacktrace -v 3", nil, 0, "development", ""},
		{"version under its alias", "v", nil, 0, "\nLandscaper-CLI Version: development", ""},
		{"version for programs", "version -o json", nil, 0, `{"version":"development`, ""},
		{"version in another form", "version -o xml", nil, 1, "", "use short, json or yaml"},
		{"a script for a shell", "completion bash", nil, 0, "bash completion V2 for landscaper-cli", ""},
		{"a shell that nobody knows", "completion tcsh", nil, 1, "", `invalid argument "tcsh"`},
		{"one shell at a time", "completion", nil, 1, "", "accepts 1 arg(s)"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := &console{environment: test.environment}
			code := Run(t.Context(), c.streams(), fields(test.args))
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if out := c.out.String(); !strings.Contains(out, test.out) || test.out == "" && out != "" {
				t.Errorf("printed %q, want %q", out, test.out)
			}
			if err := c.err.String(); !strings.Contains(err, test.err) || test.err == "" && err != "" {
				t.Errorf("complained %q, want %q", err, test.err)
			}
		})
	}
}

// fields splits a command line; "" is an empty argument.
func fields(line string) []string {
	args := strings.Fields(line)
	for i := range args {
		if args[i] == `""` {
			args[i] = ""
		}
	}
	return args
}

func TestHelpOfAllCommands(t *testing.T) {
	c := &console{}
	pending := []string{""}
	for len(pending) > 0 {
		path := pending[0]
		pending = pending[1:]
		root := NewCommand(c.streams())
		command, _, err := root.Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		if command.Short == "" || strings.HasSuffix(command.Short, ".") {
			t.Errorf("%q: short description %q", path, command.Short)
		}
		for _, child := range command.Commands() {
			pending = append(pending, strings.TrimSpace(path+" "+child.Name()))
		}
	}
}

func TestExitCode(t *testing.T) {
	resource := schema.GroupResource{Resource: "installations"}
	tests := []struct {
		reason    string
		err       error
		old, full int
	}{
		{"success", nil, 0, 0},
		{"anything", errors.New("x"), 1, 1},
		{"a chosen code", fmt.Errorf("x: %w", exitf(ExitTimeout, "late")), 1, 5},
		{"a missing object", fmt.Errorf("x: %w", apierrors.NewNotFound(resource, "a")), 1, 3},
		{"a missing permission", &inspect.ReadError{Resource: resource, Err: apierrors.NewForbidden(resource, "", nil)}, 1, 4},
		{"bad credentials", apierrors.NewUnauthorized("x"), 1, 4},
		{"the user stopped it, in old commands as well", fmt.Errorf("x: %w", context.Canceled), 130, 130},
	}
	for _, test := range tests {
		if got := exitCode(test.err, false); got != test.old {
			t.Errorf("%s: code %d, want %d in old commands", test.reason, got, test.old)
		}
		if got := exitCode(test.err, true); got != test.full {
			t.Errorf("%s: code %d, want %d", test.reason, got, test.full)
		}
	}
}

func TestExplainMissingDefinition(t *testing.T) {
	c := &connection{where: "the cluster c"}
	missing := apierrors.NewGenericServerResponse(404, "list", schema.GroupResource{}, "", "404 page not found", 0, true)
	err := c.explain(&inspect.ReadError{Resource: v1alpha1.Resource("deployitems"), Err: missing})
	if !strings.Contains(err.Error(), "deployitems.landscaper.gardener.cloud is not installed in the cluster c") || exitCode(err, true) != ExitNotFound {
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

func TestTerminal(t *testing.T) {
	tests := []struct {
		reason       string
		columns      int
		environment  map[string]string
		color, ascii bool
	}{
		{"a terminal", 80, nil, true, false},
		{"a terminal of unknown width", -1, nil, true, false},
		{"a file gets no colours, and UTF-8 in every locale", 0, map[string]string{"LANG": "C"}, false, false},
		{"the user wants no colours", 80, map[string]string{"NO_COLOR": "1"}, false, false},
		{"an empty NO_COLOR is none", 80, map[string]string{"NO_COLOR": ""}, true, false},
		{"the terminal has no colours", 80, map[string]string{"TERM": "dumb"}, false, false},
		{"the locale has no UTF-8", 80, map[string]string{"LANG": "de_DE.ISO-8859-1"}, true, true},
		{"the locale has UTF-8", 80, map[string]string{"LANG": "de_DE.utf8"}, true, false},
		{"the more special variable counts", 80, map[string]string{"LC_ALL": "C.UTF-8", "LANG": "C"}, true, false},
	}
	for _, test := range tests {
		s := (&console{columns: test.columns, environment: test.environment}).streams()
		if s.color() != test.color || s.ascii() != test.ascii {
			t.Errorf("%s: colour %t, ASCII %t", test.reason, s.color(), s.ascii())
		}
	}
	f := inspectFlags{noColor: true, ascii: true, names: string(tree.ObjectNames)}
	if options := f.treeOptions((&console{columns: 80}).streams()); options.Color || !options.ASCII || options.Columns != 80 {
		t.Errorf("flags decide before the terminal: %+v", options)
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
