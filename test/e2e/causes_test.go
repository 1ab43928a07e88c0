package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// closedItem deploys a ConfigMap that is not ready until its field open is yes.
const closedItem = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
deployExecutions:
- name: main
  type: GoTemplate
  template: |
    deployItems:
    - name: server
      type: landscaper.gardener.cloud/kubernetes-manifest
      target: {import: cluster}
      timeout: TIMEOUT
      config:
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        kind: ProviderConfiguration
        updateStrategy: update
        readinessChecks:
          custom:
          - name: open
            resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: gate, namespace: NAMESPACE}]
            requirements: [{jsonPath: .data.open, operator: ==, values: [{value: "yes"}]}]
        manifests:
        - policy: manage
          manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: gate, namespace: NAMESPACE}, data: {open: "no"}}
`

// nested puts a blueprint below subinstallations of these names, the lowest last.
func nested(t *testing.T, blueprint string, names ...string) map[string]any {
	t.Helper()
	for i := len(names) - 1; i >= 0; i-- {
		above := map[string]any{}
		decode(t, `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint,
  imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]}`, &above)
		above["subinstallations"] = []any{map[string]any{
			"name": names[i], "imports": map[string]any{"targets": []any{map[string]any{"name": "cluster", "target": "cluster"}}},
			"blueprint": map[string]any{"filesystem": map[string]any{"blueprint.yaml": blueprint}},
		}}
		text, err := json.Marshal(above)
		if err != nil {
			t.Fatal(err)
		}
		blueprint = string(text)
	}
	return map[string]any{"blueprint.yaml": blueprint}
}

// createNested stores a root with an item at the bottom of some subinstallations.
func createNested(t *testing.T, space, blueprint string, names ...string) *v1alpha1.Installation {
	t.Helper()
	files, err := json.Marshal(nested(t, blueprint, names...))
	if err != nil {
		t.Fatal(err)
	}
	var spec v1alpha1.InstallationSpec
	decode(t, `{imports: {targets: [{name: cluster, target: host}]}}`, &spec)
	spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(files)}
	return create(t, installationOf(space, "root", spec))
}

// ready is the message of the condition Ready.
func ready(inst *v1alpha1.Installation) string {
	found := job.GetCondition(inst.Status.Conditions, v1alpha1.ReadyCondition)
	if found == nil {
		return ""
	}
	return found.Message
}

// TestCauseThroughAllLevels: while a job runs and after it, one look at the root names what is
// wrong at depth 3: in its status, in the tree, and in the tree of blocked objects.
func TestCauseThroughAllLevels(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	const place = "at item server on Target host; in backend > store > base"
	root := createNested(t, space, strings.NewReplacer("TIMEOUT", "25s", "NAMESPACE", space).Replace(closedItem), "backend", "store", "base")

	root = waitFor(t, client.ObjectKeyFromObject(root), "names the blocker", func(inst *v1alpha1.Installation) bool { return strings.HasSuffix(ready(inst), place) })
	if message := ready(root); root.Status.InstallationPhase != v1alpha1.InstallationPhases.Progressing || !strings.HasPrefix(message, "waiting for ") || strings.Count(message, "ConfigMap "+space+"/gate") != 1 {
		t.Errorf("%s: %s", root.Status.InstallationPhase, message)
	}
	looks := func(word string) {
		t.Helper()
		for _, args := range [][]string{{"inst", "inspect", "root"}, {"inst", "inspect", "root", "-f"}} {
			code, out, complaints := cli(t, append(args, "-n", space, "--no-wrap")...)
			t.Logf("%v\n%s", args, out)
			lines := strings.Split(out, "\n")
			if code != 0 || len(lines) < 8 || !strings.HasPrefix(strings.TrimSpace(lines[1]), word) || strings.TrimSpace(lines[2]) != place || strings.Count(out, "/gate") != 1 {
				t.Errorf("%v: code %d %s\n%s", args, code, complaints, out)
			}
		}
	}
	looks("Waiting: ")
	root = waitFinished(t, root, "")
	t.Logf("%s", root.Status.LastError.Message)
	wantFailure(t, root, place, "children failed")
	looks("Last error: ")
	if message := ready(root); message != root.Status.LastError.Message || strings.Count(message, "/gate") > 1 {
		t.Errorf("Ready says %s, lastError %s", message, root.Status.LastError.Message)
	}
}

// TestItemThatIsNotPickedUp: an item at depth 3 whose type no deployer serves: the root says so
// before the time is over.
func TestItemThatIsNotPickedUp(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	blueprint := strings.NewReplacer("TIMEOUT", "5m", "NAMESPACE", space, "landscaper.gardener.cloud/kubernetes-manifest", "example.org/unserved").Replace(closedItem)
	root := createNested(t, space, blueprint, "backend", "store", "base")
	const place = "at item server on Target host; in backend > store > base"
	root = waitFor(t, client.ObjectKeyFromObject(root), "names the blocker", func(inst *v1alpha1.Installation) bool { return strings.HasSuffix(ready(inst), place) })
	if message := ready(root); !strings.HasPrefix(message, "no deployer has picked DeployItem ") || !strings.Contains(message, "type example.org/unserved") {
		t.Error(message)
	}
	_, out, _ := cli(t, "inst", "inspect", "root", "-f", "-n", space, "--no-wrap")
	if !strings.Contains(out, "Waiting: no deployer has picked it up yet (type example.org/unserved") || !strings.Contains(out, place) {
		t.Errorf("the tree does not say it:\n%s", out)
	}
	request(t, root, v1alpha1.InterruptOperation)
	waitFinished(t, root, "")
}
