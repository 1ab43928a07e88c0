package plan

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/diff"
)

const (
	deployItems = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/deployitems"

	empty = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: empty, uid: u}
spec: {blueprint: {inline: {filesystem: {blueprint.yaml: "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"}}}}
status: {phase: Succeeded, jobID: j, jobIDFinished: j}
`
)

// TestCommand: what a plan of nothing says, and what keeps it from being one.
func TestCommand(t *testing.T) {
	for _, test := range []struct {
		reason, refused, args string
		code                  int
		out, err              string
	}{
		{"nothing would change", "", "empty", 0, "Plan: 0 to create, 0 to change, 0 to delete, 0 unchanged\n", ""},
		{"a plan that does not know what is there says so", "GET " + deployItems, "empty", 0, "Plan: 0 to create, 0 to change, 0 to delete, 0 unchanged\n", "Warning: the plan is not complete: list deployitems.landscaper.gardener.cloud in namespace default: not?[2J you\n"},
		{"a plan for nothing", "", "none", 3, "", "Error: there is no Installation none in namespace default"},
		{"without the right to see Installations", "GET " + strings.Replace(deployItems, "deployitems", "installations", 1), "empty", 4, "", "Error: list installations.landscaper.gardener.cloud in namespace default: not?[2J you\n"},
		{"an unknown form", "", "empty -o xml", 64, "", `Error: invalid option for '--output'/'-o' flag: "xml": use text, json or yaml` + "\n"},
		{"no name", "", "", 64, "", "Error: installationName was not defined: NAME is missing: name the Installation\nUsage:   plan NAME\n"},
		{"two names", "", "a b", 64, "", "Error: \"b\" is too much\nUsage:   plan NAME\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, empty)
			s.Refuse(test.refused, 403, metav1.StatusReasonForbidden, "not\x1b[2J you")
			c := &terminaltest.Console{}
			if code := s.Run(t, c, NewCommand, terminaltest.Fields(test.args)...); code != test.code || !strings.HasPrefix(c.Out.String(), test.out) {
				t.Errorf("code %d, want %d: %s", code, test.code, c.Out.String())
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.err) || test.err == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.err)
			}
			if writes := s.Writes(); len(writes) > 0 {
				t.Errorf("a plan changes nothing: %v", writes)
			}
		})
	}
}

// FuzzLineDiff: what stays of both sides is the same.
func FuzzLineDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nc")
	f.Add("", "x\nx")
	f.Add("a\na\nb", "a\nb\na")
	f.Add("one", "one\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 400 {
			return
		}
		old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
		left, right := slices.Clone(old), slices.Clone(now)
		for _, step := range lineDiff(old, now) {
			side := &right
			if step.action == diff.Delete {
				side = &left
			}
			at := slices.Index(*side, step.line)
			if at < 0 {
				t.Fatalf("%q to %q: %s %q is in no side", before, after, step.action, step.line)
			}
			*side = slices.Delete(*side, at, at+1)
		}
		slices.Sort(left)
		slices.Sort(right)
		if !slices.Equal(left, right) {
			t.Errorf("%q to %q: %q stays of the one, %q of the other", before, after, left, right)
		}
	})
}

// TestShown: a value in lines.
func TestShown(t *testing.T) {
	for _, test := range []struct {
		reason string
		value  any
		want   string
	}{
		{"a text as it is", "a: b", "a: b"},
		{"a text of lines", "a\nb\n", "a|b"},
		{"an empty text", "", `""`},
		{"only an end of line", "\n", ""},
		{"a number", 3, "3"},
		{"nothing", nil, "null"},
		{"a list", []any{"a", 1}, "- a|- 1"},
		{"what YAML does not know", func() {}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := strings.Join(shown(test.value), "|")
			if got != test.want && test.want != "" || got == "" && test.want != "" {
				t.Errorf("%q", got)
			}
		})
	}
}
