package e2e

import (
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// awaitSeen runs the command line until it shows all texts, and returns what it has shown.
func awaitSeen(t *testing.T, texts []string, args ...string) string {
	t.Helper()
	seen := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(time.Second) {
		_, seen, _ = cli(t, args...)
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(seen, text)
		}
		if !missing {
			return seen
		}
	}
	t.Fatalf("%v does not show %q:\n%s", args, texts, seen)
	return ""
}

// slowNote is a note that becomes ready when its field state is written.
func slowNote(name string) string {
	check := "readinessChecks: {custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: " + name + ", namespace: NAMESPACE}], requirements: [{jsonPath: .data.state, operator: exists}]}]}, "
	return strings.Replace(note(name, onCluster, "a"), "manifests: [", check+"manifests: [", 1)
}

// TestWaitingRoots: what a root waits for that imports from one at work, and who has to do
// something about it.
func TestWaitingRoots(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	exports := singleImport + `
exports: [{name: url, type: data, schema: {type: string}}]
exportExecutions: [{name: main, type: GoTemplate, template: "exports: {url: hello}"}]
`
	imports := `imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}, {name: url, type: data, schema: {}}, {name: more, type: data, schema: {}}]`
	giver := rootOf(t, space, `{imports: {targets: [{name: cluster, target: host}]}, exports: {data: [{name: url, dataRef: url}]}}`, blueprintOf(t, exports, slowNote("one")))
	taker := func(more string) v1alpha1.InstallationSpec {
		return rootOf(t, space, `imports: {targets: [{name: cluster, target: host}], data: [{name: url, dataRef: url}, {name: more, dataRef: `+more+`}]}`, blueprintOf(t, imports, note("two", onCluster, "a")))
	}
	data := &v1alpha1.DataObject{}
	data.Namespace, data.Name, data.Data = space, "there", v1alpha1.NewAnyJSON([]byte(`"x"`))
	if err := env.Admin.Create(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	create(t, installationOf(space, "giver", giver))
	awaitSeen(t, []string{"state", "at item one on Target host"}, "inst", "inspect", "giver", "-n", space, "--no-wrap")
	create(t, installationOf(space, "waits", taker("there")))
	create(t, installationOf(space, "lacks", taker("ghost")))

	const (
		waits  = `waiting for Installation giver, which exports DataObject "url" for import url`
		create = "create it"
	)
	once := func(what, seen string, times int, texts ...string) {
		for _, text := range texts {
			if !strings.Contains(seen, text) {
				t.Errorf("%s does not show %q:\n%s", what, text, seen)
			}
		}
		if got := strings.Count(seen, create); got != times {
			t.Errorf("%s says %d times %q, want %d:\n%s", what, got, create, times, seen)
		}
	}
	for _, flags := range [][]string{{"--no-wrap"}, {"--no-wrap", "-f"}} {
		seen := awaitSeen(t, []string{waits + ": ", "state", "at item one on Target host"}, append([]string{"inst", "inspect", "waits", "-n", space}, flags...)...)
		once("the tree of a root that waits", seen, 0)
	}
	code, seen, complaints := cli(t, "inst", "plan", "waits", "-n", space)
	once("the plan of a root that waits", seen+complaints, 0, "? waits is known only when the job runs: "+waits, "1 known only when the job runs")
	if code != 2 {
		t.Errorf("a plan of what is not known yet ends with code %d", code)
	}
	const coming = `Installation giver is about to export DataObject "url"`
	seen = awaitSeen(t, []string{"Failed"}, "inst", "inspect", "lacks", "-n", space, "--no-wrap")
	once("the tree of a root that lacks an import", seen, 1, `there is no DataObject "ghost" in namespace `+space+": "+create, coming)
	code, seen, complaints = cli(t, "inst", "plan", "lacks", "-n", space)
	once("the plan of a root that lacks an import", seen+complaints, 1, `there is no DataObject "ghost" in namespace `+space+": "+create, coming)
	if code != 1 {
		t.Errorf("a plan of what would fail ends with code %d", code)
	}
}

// TestItemsBeforeTheirJob: an item without a phase says why in its place.
func TestItemsBeforeTheirJob(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	for _, test := range []struct {
		reason, items, cause, want string
	}{
		{"an item waits for its turn in a first job", slowNote("one") + note("two", onCluster, "a", "dependsOn: [one]"), "at item one on Target host", "[waits for item one] DeployItem tree-two-"},
		{"no deployer knows the type of an item", "- {name: one, type: example.org/unserved, target: {import: cluster}, config: {apiVersion: example.org/v1, kind: Page}}\n", "no deployer has picked it up", "[not picked up] DeployItem tree-one-"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			space := namespace(t)
			inst := create(t, installationOf(space, "tree", itemsOn(t, space, "host", test.items)))
			for _, flags := range [][]string{{"--no-wrap"}, {"--no-wrap", "-f"}} {
				awaitSeen(t, []string{test.cause, test.want}, append([]string{"inst", "inspect", "tree", "-n", space}, flags...)...)
			}
			request(t, inst, v1alpha1.InterruptOperation)
			waitFinished(t, inst, "")
			if _, seen, _ := cli(t, "inst", "inspect", "tree", "-n", space); strings.Contains(seen, "[]") || strings.Contains(seen, "[ (outdated)]") {
				t.Errorf("an object has no word after the job:\n%s", seen)
			}
		})
	}
}
