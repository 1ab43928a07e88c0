package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

const (
	deployItems = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/deployitems"
	events      = "/api/v1/namespaces/default/events"
)

// landscape is a tree with a failed item whose message has control characters, and a
// healthy tree.
var landscape = []string{`
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, uid: u1, generation: 1}
spec: {componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}, blueprint: {ref: {resourceName: blueprint}}, exports: {data: [{name: host, dataRef: host}]}}
status:
  phase: Failed
  jobID: j1
  jobIDFinished: j1
  observedGeneration: 1
  executionRef: {name: shop, namespace: default}
  transitionTimes: {triggerTime: "2024-01-01T10:00:00Z", initTime: "2024-01-01T10:00:01Z", finishedTime: "2024-01-01T10:00:09Z"}
`, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Execution
metadata: {name: shop, uid: u2}
status: {phase: Failed, jobID: j1, jobIDFinished: j1}
`, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: DeployItem
metadata: {name: shop-item, uid: u3, labels: {execution.landscaper.gardener.cloud/managed-by: shop, execution.landscaper.gardener.cloud/name: item}}
spec: {type: landscaper.gardener.cloud/mock, target: {name: edge}}
status: {phase: Failed, jobID: j1, jobIDFinished: j1, lastError: {message: "no\x1b[2J way", reason: "Broken", lastUpdateTime: "2024-01-01T10:00:05Z"}}
`, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: tools, uid: u4, generation: 1}
spec: {blueprint: {inline: {filesystem: "x"}}, imports: {data: [{name: host, dataRef: host}]}}
status: {phase: Succeeded, jobID: j7, jobIDFinished: j7, observedGeneration: 1}
`, `
apiVersion: v1
kind: Event
metadata: {name: e1}
involvedObject: {uid: u3}
type: Warning
reason: "Bad\x1b[0m"
message: "first\nsecond\x1b]0;t\a"
count: 3
lastTimestamp: "2024-01-01T10:00:04Z"
`, `
apiVersion: v1
kind: Event
metadata: {name: e2}
involvedObject: {uid: u1}
type: Normal
reason: Begun
message: it begins
lastTimestamp: "2024-01-01T10:00:02Z"
`, `
apiVersion: v1
kind: Event
metadata: {name: e3}
involvedObject: {uid: other}
type: Normal
reason: Elsewhere
message: of an unknown object
lastTimestamp: "2024-01-01T10:00:03Z"
`}

const (
	shopTree = `[❌ Failed] Installation shop
    Last error: no\x1b[2J way
        at item item on Target edge
    └── [❌ Failed] Execution shop
        └── [❌ Failed] DeployItem shop-item

`
	toolsTree = "[✅ Succeeded] Installation tools\n\n"
	both      = shopTree + toolsTree
)

// TestCommands: what each command prints and ends with.
func TestCommands(t *testing.T) {
	for _, test := range []struct {
		reason    string
		command   func(terminal.Streams) *cobra.Command
		args      string
		code      int
		out, errs string
	}{
		{"all roots", NewInspectCommand, "", 0, both, ""},
		{"one", NewInspectCommand, "tools", 0, toolsTree, ""},
		{"only what has failed", NewInspectCommand, "-f", 0, shopTree, ""},
		{"nothing has failed, which is no error and needs no word", NewInspectCommand, "tools -f", 0, "", ""},
		{"in ASCII", NewInspectCommand, "shop --ascii --hide-executions", 0, "[Failed] Installation shop\n    Last error: no\\x1b[2J way\n        at item item on Target edge\n    `-- [Failed] DeployItem shop-item\n\n", ""},
		{"with what is deployed", NewInspectCommand, "tools -w", 0, "[✅ Succeeded] Installation tools\n    Blueprint: inline\n\n", ""},
		{"of another namespace", NewInspectCommand, "-n far", 0, "", "No installations found in namespace far.\n"},
		{"an Installation that does not exist", NewInspectCommand, "none", 1, "", "Error: cannot collect installation: there is no Installation none in namespace default"},
		{"an Installation that does not exist, with exit codes", NewInspectCommand, "none --strict", 3, "", "Error: cannot collect installation: there is no Installation none"},
		{"until the end, which is now, and was bad", NewInspectCommand, "-W --until finished shop", 2, "", "Error: ended in a failed phase: shop\n"},
		{"until the end, which is now, and was good", NewInspectCommand, "-W --until finished tools", 0, "", ""},
		{"events, the oldest first", NewEventsCommand, "shop", 0, `LAST SEEN              TYPE      REASON    OBJECT                 MESSAGE
2024-01-01T10:00:02Z   Normal    Begun     Installation shop      it begins
2024-01-01T10:00:04Z   Warning   Bad?[0m   DeployItem shop-item   first second?]0;t? (3 times)
`, ""},
		{"warnings alone", NewEventsCommand, "shop --types Warning", 0, `LAST SEEN              TYPE      REASON    OBJECT                 MESSAGE
2024-01-01T10:00:04Z   Warning   Bad?[0m   DeployItem shop-item   first second?]0;t? (3 times)
`, ""},
		{"no events", NewEventsCommand, "tools", 0, "", ""},
		{"events of nothing", NewEventsCommand, "none", 3, "", "Error: there is no Installation none"},
		{"events of all is not a thing", NewEventsCommand, "", 64, "", "Error: installationName was not defined: NAME is missing: name the Installation\nUsage:   events NAME\n"},
		{"events in another form", NewEventsCommand, "shop -o yaml", 64, "", `Error: invalid option for '--output'/'-o' flag: "yaml": use json` + "\n"},
		{"a story, from events and statuses", NewLogsCommand, "shop", 0, `10:00:00   Installation shop: job j1 was assigned
10:00:01   Installation shop: the work has begun
10:00:02   Installation shop: it begins
10:00:04 ! DeployItem shop-item: first second?]0;t? (3 times)
10:00:05 ! DeployItem shop-item: no?[2J way
10:00:09 ! Installation shop: the job ended in phase Failed
`, ""},
		{"a story that has ended badly, for those who follow it", NewLogsCommand, "shop --follow", 2, "", "Error: the job ended in phase Failed\n"},
		{"a story that has ended well", NewLogsCommand, "tools --follow", 0, "", ""},
		{"how values flow", NewGraphCommand, "", 0, "", ""},
		{"inside of one", NewGraphCommand, "shop", 0, "", ""},
		{"inside of nothing", NewGraphCommand, "none", 3, "", "Error: there is no Installation none"},
		{"a picture of another kind", NewGraphCommand, "-o png", 64, "", `Error: invalid option for '--output'/'-o' flag: "png": use text, dot, mermaid, svg or json` + "\n"},
		{"a picture of two", NewGraphCommand, "a b", 64, "", "Error: \"b\" is too much\nUsage:   graph [NAME]\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, landscape...)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if diff := cmp.Diff(test.out, c.Out.String()); test.out != "" && diff != "" {
				t.Error(diff)
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.errs) || test.errs == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.errs)
			}
			if strings.ContainsFunc(strings.ReplaceAll(c.Out.String(), "\n", ""), terminal.Controls) {
				t.Errorf("acts on the terminal: %q", c.Out.String())
			}
		})
	}
}

// TestForPrograms: the shapes that programs read, in which nothing acts on a terminal
// either.
func TestForPrograms(t *testing.T) {
	for _, test := range []struct {
		reason  string
		command func(terminal.Streams) *cobra.Command
		args    string
		want    []string
	}{
		{"trees as older releases had them", NewInspectCommand, "-o json", []string{`[{"installation":{`, `"execution":{"execution":{`, `"deployItems":[{"deployItem":{`}},
		{"trees as older releases had them, with the short flag", NewInspectCommand, "-j shop", []string{`[{"installation":{`}},
		{"only what has failed, in JSON as well", NewInspectCommand, "-j -f", []string{`"name":"shop"`}},
		{"no tree is an empty list", NewInspectCommand, "tools -f -j", []string{"[]"}},
		{"no tree is an empty list of items", NewInspectCommand, "tools -f -o tree-json", []string{`"items":[]`, `"kind":"InstallationTree"`, `"apiVersion":"cli.landscaper.gardener.cloud/v1alpha1"`}},
		{"the tree with what follows from it", NewInspectCommand, "-o tree-json", []string{`"state":"Failed"`, `"ready":true`, `no\u001b[2J way`}},
		{"events, one in a line", NewEventsCommand, "shop -o json", []string{`"reason":"Bad\u001b[0m"`, `"count":3`}},
		{"how values flow", NewGraphCommand, "-o json", []string{`"shop"`, `"tools"`, `"host"`}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, landscape...)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != 0 || (c.Err.Len() > 0 && !strings.Contains(test.reason, "no tree")) {
				t.Fatalf("code %d: %s", code, c.Err.String())
			}
			for _, want := range test.want {
				if !strings.Contains(c.Out.String(), want) {
					t.Errorf("%s is missing in %s", want, c.Out.String())
				}
			}
			for decoder := json.NewDecoder(&c.Out); decoder.More(); {
				var value any
				if err := decoder.Decode(&value); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestPictures: each form is its own language.
func TestPictures(t *testing.T) {
	for form, want := range map[string]string{"text": "shop", "dot": "digraph", "mermaid": "flowchart", "svg": "<svg", "json": "{\n"} {
		t.Run(form, func(t *testing.T) {
			s := connectiontest.New(t, landscape...)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, NewGraphCommand, "-o", form); code != 0 || !strings.HasPrefix(c.Out.String(), want) && !strings.Contains(c.Out.String(), want) {
				t.Errorf("code %d: %s", code, c.Out.String())
			}
		})
	}
}

// TestMissingPermissions: a tree without some of its parts is shown, says what is missing,
// and with --strict it is an error.
func TestMissingPermissions(t *testing.T) {
	for _, test := range []struct {
		reason, refused string
		command         func(terminal.Streams) *cobra.Command
		args            string
		code            int
		errs            string
	}{
		{"items are hidden", deployItems, NewInspectCommand, "shop", 0, "Warning: the tree is not complete: list deployitems.landscaper.gardener.cloud in namespace default: go?[2J away\n"},
		{"items are hidden, which is an error with --strict", deployItems, NewInspectCommand, "shop --strict", 4, "Warning: the tree is not complete: list deployitems.landscaper.gardener.cloud in namespace default: go?[2J away\nError: the tree is not complete: permissions are missing\n"},
		{"events are hidden", events, NewEventsCommand, "shop", 0, "Warning: something is missing here: list events in namespace default: go?[2J away\n"},
		{"a story without events", events, NewLogsCommand, "shop", 0, "Warning: something is missing here: list events"},
		{"Installations are hidden", strings.Replace(deployItems, "deployitems", "installations", 1), NewInspectCommand, "shop", 1, "Error: cannot collect installation: list installations.landscaper.gardener.cloud in namespace default: go?[2J away\n"},
		{"Installations are hidden from a graph", strings.Replace(deployItems, "deployitems", "installations", 1), NewGraphCommand, "", 4, "Error: list installations"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, landscape...)
			s.Refuse("GET "+test.refused, 403, metav1.StatusReasonForbidden, "go\x1b[2J away")
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != test.code || !strings.HasPrefix(c.Err.String(), test.errs) {
				t.Errorf("code %d: %q", code, c.Err.String())
			}
		})
	}
}

// TestNoDefinitions: a cluster without Landscaper says so, and what to do.
func TestNoDefinitions(t *testing.T) {
	for _, test := range []struct {
		reason  string
		command func(terminal.Streams) *cobra.Command
		args    string
		code    int
	}{
		{"for trees", NewInspectCommand, "--strict", 3},
		{"for a story", NewLogsCommand, "shop", 3},
		{"for a picture", NewGraphCommand, "", 3},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t)
			s.Gone("GET " + strings.Replace(deployItems, "deployitems", "installations", 1))
			c := &terminaltest.Console{}
			code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...)
			if want := "the CustomResourceDefinition installations.landscaper.gardener.cloud is not installed in the cluster http://127.0.0.1"; code != test.code || !strings.Contains(c.Err.String(), want) || !strings.Contains(c.Err.String(), "install it with landscaper install") {
				t.Errorf("code %d: %s", code, c.Err.String())
			}
		})
	}
}
