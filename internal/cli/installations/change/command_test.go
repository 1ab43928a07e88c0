package change

import (
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
	installations = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/installations"
	executions    = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/executions"
	deployItems   = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/deployitems"

	shop = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop}
spec: {blueprint: {ref: {resourceName: blueprint}}, imports: {data: [{name: size, dataRef: s}]}}
status: {phase: Failed, jobID: j1, jobIDFinished: j1, executionRef: {name: shop, namespace: default}}
`
	shopExecution = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Execution
metadata: {name: shop}
status: {phase: Failed, jobID: j1, jobIDFinished: j1}
`
	// What deployers record in a status is printed, and may be anybody's text.
	shopItem = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: DeployItem
metadata: {name: shop-item, labels: {execution.landscaper.gardener.cloud/managed-by: shop, execution.landscaper.gardener.cloud/name: item}}
spec: {type: landscaper.gardener.cloud/mock, target: {name: edge}}
status:
  phase: Failed
  jobID: j1
  jobIDFinished: j1
  providerStatus:
    managedResources:
    - {policy: manage, resource: {kind: Namespace, name: "\x1b[2Jgone"}}
    - {policy: manage, resource: {kind: ConfigMap, namespace: ns, name: c}}
    - {policy: keep, resource: {kind: ConfigMap, namespace: ns, name: kept}}
    cluster: {id: new}
    earlierClusters:
    - id: old
      server: "https://\x1b[2Jold.example"
      release: {name: r, namespace: ns}
      managedResources:
      - {policy: manage, resource: {kind: ConfigMap, namespace: ns, name: c}}
      - {policy: keep, resource: {kind: ConfigMap, namespace: ns, name: kept}}
`
	part = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop-web, labels: {landscaper.gardener.cloud/encompassed-by: shop}}
spec: {blueprint: {ref: {resourceName: blueprint}}}
status: {phase: Succeeded, jobID: j1, jobIDFinished: j1}
`
	tools = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: tools}
spec: {blueprint: {ref: {resourceName: blueprint}}}
status: {phase: Succeeded, jobID: j7, jobIDFinished: j7}
`
)

type constructor = func(terminal.Streams) *cobra.Command

func interrupt(terminal.Streams) *cobra.Command { return NewInterruptCommand() }

// asked is what a job is asked for with.
func asked(s *connectiontest.Server, name, operation string) bool {
	return strings.Contains(s.Object(installations+"/"+name), `"landscaper.gardener.cloud/operation":"`+operation+`"`)
}

// TestCommands: what each command prints, changes and ends with.
func TestCommands(t *testing.T) {
	for _, test := range []struct {
		reason  string
		command constructor
		args    string
		code    int
		out     string
		err     string
		writes  string
	}{
		{"a job is asked for with a patch of the annotation alone", NewReconcileCommand, "shop", 0,
			"The reconcile annotation was added to the installation\n", "", "PATCH shop"},
		{"only a root can have a job of its own", NewReconcileCommand, "shop-web", 1, "",
			"Error: the command is only supported for root installations", ""},
		{"an interruption is for parts as well", interrupt, "shop-web", 0, "The interrupt annotation was added to the installation\n", "Note: no job is running\n", "PATCH shop-web"},
		{"an Installation that is not there, in a command that is older than exit codes", NewReconcileCommand, "none", 1, "", "Error: ", ""},
		{"an Installation that does not exist, in a command with exit codes", NewRerunCommand, "none", 3, "", "Error: there is no Installation none in namespace default: see what exists with landscaper-cli installations inspect -A\n", ""},
		{"an Installation to run again must be named", NewRerunCommand, "", 64, "", "Error: NAME is missing: name the Installations, or choose with --failed those that have failed\nUsage:   rerun [NAME...]\n", ""},
		{"only those that have failed run again", NewRerunCommand, "--failed", 0, "shop: The reconcile annotation was added to the installation\n", "", "PATCH shop"},
		{"a name chooses among those that have failed", NewRerunCommand, "--failed tools", 0, "", "No root Installation has failed in namespace default.\n", ""},
		{"all that are named run again, in the order of the trees", NewRerunCommand, "tools shop", 0,
			"shop: The reconcile annotation was added to the installation\ntools: The reconcile annotation was added to the installation\n", "", "PATCH shop,PATCH tools"},
		{"an Installation that does not exist keeps the others from running", NewRerunCommand, "shop none", 3, "", "Error: there is no Installation none", ""},
		{"a part of a tree keeps the others from running", NewRerunCommand, "shop shop-web", 1, "", "Error: the command is only supported for root installations: shop-web is a part of shop, reconcile that\n", ""},
		{"a dry run shows the objects, and nothing acts on the terminal", NewDeleteCommand, "shop --dry-run", 0,
			"1. shop/item on edge\n   - Namespace ?[2Jgone\n   - ConfigMap ns/c\n" +
				"   - release ns/r on the earlier cluster https://?[2Jold.example\n   - ConfigMap ns/c on the earlier cluster https://?[2Jold.example\n", "", ""},
		{"objects that stay are not listed", NewDeleteCommand, "shop --dry-run --without-uninstall", 0, "1. shop/item on edge (what it has deployed stays)\n", "", ""},
		{"nothing is deployed", NewDeleteCommand, "tools --dry-run", 0, "Nothing is deployed.\n", "", ""},
		{"a part comes back", NewDeleteCommand, "shop-web --yes", 0, "Nothing is deployed.\nThe deletion of the Installation shop-web was asked for\n",
			"Warning: shop-web is a part of shop, whose next job brings it back\n", "DELETE shop-web"},
		{"deployed objects stay if the user asks for that", NewDeleteCommand, "tools --yes --without-uninstall", 0,
			"Nothing is deployed.\nThe deletion of the Installation tools was asked for\n", "", "PATCH tools,DELETE tools"},
		{"deletion of nothing", NewDeleteCommand, "none", 3, "", "Error: there is no Installation none in namespace default", ""},
		{"two names at once", NewDeleteCommand, "a b", 64, "", "Error: \"b\" is too much\nUsage:   delete NAME\n", ""},
		{"the last resort shows first what goes, the items before their Execution", NewForceDeleteCommand, "shop --dry-run", 0,
			"- would delete installation shop-web\n- would delete deployItem shop-item\n- would delete execution shop\n- would delete installation shop\n", "", ""},
		{"the last resort for nothing", NewForceDeleteCommand, "none --dry-run", 1, "", "Error: cannot collect installation: there is no Installation none", ""},
		{"an import gets a value", NewSetImportCommand, "shop size=3", 0,
			"Set size of the Installation shop; start a job with landscaper-cli installations reconcile shop\n", "", "PATCH shop"},
		{"an import that there is not", NewSetImportCommand, "shop weight=3", 1, "", "Error: import parameter 'weight' not found in the installation: if its blueprint has it, list it in spec.importDataMappings first\n", ""},
		{"a value without a name", NewSetImportCommand, "shop =3", 64, "", `Error: "=3": write KEY=VALUE, KEY:=VALUE or KEY@FILE` + "\n", ""},
		{"no value at all", NewSetImportCommand, "shop", 64, "", "Error: KEY=VALUE is missing\nUsage:   set-import NAME KEY=VALUE...\n", ""},
		{"an import of nothing", NewSetImportCommand, "none size=3", 3, "", "Error: read the Installation: ", ""},
		{"nothing to apply", NewApplyCommand, "", 64, "", "Error: nothing to apply: name a directory or file with -f\n", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, shop, shopExecution, shopItem, part, tools)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if diff := cmp.Diff(test.out, c.Out.String()); diff != "" {
				t.Error(diff)
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.err) || test.err == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.err)
			}
			if got := strings.ReplaceAll(strings.Join(s.Writes(), ","), installations+"/", ""); got != test.writes {
				t.Errorf("changed %s, want %s", got, test.writes)
			}
		})
	}
}

// TestRefusedDeletion: begun steps are reported, and only shown objects are deleted.
func TestRefusedDeletion(t *testing.T) {
	for _, test := range []struct {
		reason, refused, args string
		command               constructor
		code                  int
		err                   string
		writes                int
	}{
		{"the right to delete is missing", "DELETE " + installations + "/shop", "shop --yes", NewDeleteCommand, 4, "Error: delete the Installation: ", 0},
		{"without the right to say that software stays, nothing is deleted", "PATCH " + installations + "/shop", "shop --yes --without-uninstall", NewDeleteCommand, 4, "Error: ask for a deletion without uninstalling: ", 0},
		{"a preview without items says so", "GET " + deployItems, "shop --dry-run", NewDeleteCommand, 0, "Warning: the preview is not complete: list deployitems.landscaper.gardener.cloud in namespace default: ", 0},
		{"a tree whose items are hidden is not deleted by force", "GET " + deployItems, "shop --yes", NewForceDeleteCommand, 1, "Error: the tree is not complete: list deployitems.landscaper.gardener.cloud in namespace default: ", 0},
		{"a tree whose Executions are hidden is not deleted by force", "GET " + executions, "shop --yes", NewForceDeleteCommand, 1, "Error: the tree is not complete: list executions", 0},
		{"the right to see Installations is missing", "GET " + installations, "shop --yes", NewDeleteCommand, 4, "Error: list installations.landscaper.gardener.cloud in namespace default: ", 0},
		{"the right to see Installations is missing for another run", "GET " + installations, "--failed", NewRerunCommand, 4, "Error: list installations", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, shop, shopExecution, shopItem)
			s.Refuse(test.refused, 403, metav1.StatusReasonForbidden, "nothing\x1b[2J for you")
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.err) || !strings.Contains(got, "nothing?[2J for you") {
				t.Errorf("standard error %q", got)
			}
			if writes := s.Writes(); len(writes) != test.writes {
				t.Errorf("changed %v", writes)
			}
		})
	}
}

// TestAskedFirst: on a terminal, nothing goes without a yes.
func TestAskedFirst(t *testing.T) {
	for _, test := range []struct {
		reason  string
		command constructor
		answer  string
		code    int
	}{
		{"the answer is no", NewDeleteCommand, "n\n", 1},
		{"the input ends", NewDeleteCommand, "", 1},
		{"the answer is yes", NewDeleteCommand, "yes\n", 0},
		{"the last resort asks as well", NewForceDeleteCommand, "no\n", 1},
		{"the last resort goes on after a yes", NewForceDeleteCommand, "y\n", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, shop, shopExecution, shopItem)
			c := &terminaltest.Console{Columns: 80}
			answering := func(streams terminal.Streams) *cobra.Command {
				streams.In = strings.NewReader(test.answer)
				return test.command(streams)
			}
			if code := s.Run(t, c, answering, "shop"); code != test.code {
				t.Errorf("code %d, want %d: %s", code, test.code, c.Err.String())
			}
			if gone := s.Object(installations+"/shop") == ""; gone != (test.code == 0) {
				t.Errorf("gone: %t", gone)
			}
			if test.code != 0 && !strings.Contains(c.Err.String(), "nothing was changed: the answer was not yes") {
				t.Error(c.Err.String())
			}
		})
	}
}

// TestAppliedInOrder: what others need is there first, and a part that fails does not
// undo what was done, but is named.
func TestAppliedInOrder(t *testing.T) {
	const base = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/"
	files := map[string]string{
		"a.yaml":        strings.Split(shop, "status:")[0] + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: edge}\n",
		"pod.yaml":      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
		"part.yaml":     strings.Split(part, "status:")[0],
		"asks.yaml":     strings.Split(strings.Replace(tools, "{name: tools}", "{name: tools, annotations: {landscaper.gardener.cloud/operation: reconcile}}", 1), "status:")[0],
		"elsewhere.yml": strings.Split(strings.Replace(tools, "{name: tools}", "{name: tools, namespace: far}", 1), "status:")[0],
	}
	for _, test := range []struct {
		reason, refused, args string
		code                  int
		out, err, writes      string
	}{
		{"Secrets and Targets before Installations", "", "-f a.yaml", 0, "Secret s: created\nTarget edge: created\nInstallation shop: created\n", "", "PATCH /api/v1/namespaces/default/secrets/s,PATCH targets/edge,PATCH installations/shop"},
		{"a kind that cannot be applied is found before anything is written", "", "-f a.yaml -f pod.yaml", 1, "", "Error: Pod p: only kinds of Landscaper, and Namespaces, Secrets and ConfigMaps, can be applied here: use kubectl apply for the rest\n", ""},
		{"objects that were applied before a failure are reported", "PATCH " + base + "targets/edge", "-f a.yaml", 4, "Secret s: created\n", "Error: apply Target edge: ", "PATCH /api/v1/namespaces/default/secrets/s"},
		{"a root gets a job", "", "-f a.yaml --reconcile", 0, "Secret s: created\nTarget edge: created\nInstallation shop: created\nThe reconcile annotation was added to the installation\n", "",
			"PATCH /api/v1/namespaces/default/secrets/s,PATCH targets/edge,PATCH installations/shop,PATCH installations/shop"},
		{"a part gets no job: its root starts it", "", "-f part.yaml --reconcile", 0, "Installation shop-web: created\n", "", "PATCH installations/shop-web"},
		{"a root whose manifest asks for a job gets no second one", "", "-f asks.yaml --reconcile", 0, "Installation tools: created\n", "", "PATCH installations/tools"},
		{"the job is asked for where the Installation is", "", "-f elsewhere.yml --reconcile", 0, "Installation tools: created\nThe reconcile annotation was added to the installation\n", "",
			"PATCH /apis/landscaper.gardener.cloud/v1alpha1/namespaces/far/installations/tools,PATCH /apis/landscaper.gardener.cloud/v1alpha1/namespaces/far/installations/tools"},
		{"a file that is not there", "", "-f none.yaml", 1, "", "Error: read manifests: lstat none.yaml: no such file or directory\n", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t)
			terminaltest.WriteFiles(t, files)
			s.Refuse(test.refused, 403, metav1.StatusReasonForbidden, "not you")
			c := &terminaltest.Console{}
			if code := s.Run(t, c, NewApplyCommand, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if diff := cmp.Diff(test.out, c.Out.String()); diff != "" {
				t.Error(diff)
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.err) || test.err == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.err)
			}
			if got := strings.ReplaceAll(strings.Join(s.Writes(), ","), base, ""); got != test.writes {
				t.Errorf("changed %s", got)
			}
		})
	}
}

// TestAppliedAgain: what has not changed is said to be so, and a conflict says how to
// take fields over.
func TestAppliedAgain(t *testing.T) {
	s := connectiontest.New(t)
	terminaltest.WriteFiles(t, map[string]string{"tools.yaml": strings.Split(tools, "status:")[0]})
	for _, test := range []struct {
		reason, want string
	}{
		{"the first time", "Installation tools: created\n"},
		{"the second time", "Installation tools: unchanged\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{}
			if code := s.Run(t, c, NewApplyCommand, "-f", "tools.yaml"); code != 0 || c.Out.String() != test.want {
				t.Errorf("code %d: %s%s", code, c.Out.String(), c.Err.String())
			}
		})
	}
	s.Refuse("PATCH "+installations+"/tools", 409, metav1.StatusReasonConflict, "another client owns .spec")
	c := &terminaltest.Console{}
	if code := s.Run(t, c, NewApplyCommand, "-f", "tools.yaml"); code != 1 ||
		!strings.HasSuffix(c.Err.String(), "another client owns .spec: leave these fields out, or take them over with --force-conflicts\n") {
		t.Errorf("code %d: %s", code, c.Err.String())
	}
}

// TestJobIsAskedFor: the annotation is what starts a job.
func TestJobIsAskedFor(t *testing.T) {
	s := connectiontest.New(t, shop, tools)
	c := &terminaltest.Console{}
	s.Run(t, c, NewReconcileCommand, "shop")
	s.Run(t, c, interrupt, "tools")
	if !asked(s, "shop", "reconcile") || !asked(s, "tools", "interrupt") {
		t.Error(s.Object(installations+"/shop"), s.Object(installations+"/tools"))
	}
}

// TestHostileNames: an API server accepts no such names, but the one of a foreign
// kubeconfig may return anything.
func TestHostileNames(t *testing.T) {
	const name = "shop\x1b[2J"
	lie := strings.Replace(shop, "{name: shop}", `{name: "shop\x1b[2J"}`, 1)
	for _, test := range []struct {
		reason  string
		command constructor
		args    []string
	}{
		{"before the last resort", NewForceDeleteCommand, []string{name, "--dry-run"}},
		{"while it works", NewForceDeleteCommand, []string{name, "--yes"}},
		{"before a deletion", NewDeleteCommand, []string{name, "--yes"}},
		{"when jobs are started again", NewRerunCommand, []string{"--failed"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, lie)
			c := &terminaltest.Console{}
			s.Run(t, c, test.command, test.args...)
			if got := c.Out.String() + c.Err.String(); got == "" || strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), terminal.Controls) {
				t.Errorf("acts on the terminal: %q", got)
			}
		})
	}
}
