package e2e

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// TestObjectCounts: the record of a job has what it has created, changed and deleted, whatever deploys it,
// and so have the commands.
func TestObjectCounts(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	chart := func(text string) string {
		archive, err := landscape.Chart("counted", "1.0.0", "", map[string]string{
			"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: charted, namespace: " + space + "}\ndata: {text: " + text + "}\n",
		})
		if err != nil {
			t.Fatal(err)
		}
		return "- {name: charted, type: landscaper.gardener.cloud/helm, target: {import: cluster}, config: {apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, " +
			"name: counted, namespace: " + space + ", chart: {archive: {raw: " + archive + "}}}}\n"
	}
	merged := func(text string) string {
		return strings.ReplaceAll(note("merged", "import: cluster", text), "updateStrategy: update", "updateStrategy: apply")
	}
	one, two := note("one", "import: cluster", "a"), note("two", "import: cluster", "a")
	inst := create(t, installationOf(space, "counted", itemsOn(t, space, "host", one, two, merged("a"), chart("a"))))
	waitSucceeded(t, inst)
	for i, test := range []struct {
		reason string
		items  []string
		want   v1alpha1.ObjectCounts
	}{
		{"all are new", nil, v1alpha1.ObjectCounts{Created: 4}},
		{"nothing changes", []string{one, two, merged("a"), chart("a")}, v1alpha1.ObjectCounts{}},
		{"all but one change", []string{note("one", "import: cluster", "b"), two, merged("b"), chart("b")}, v1alpha1.ObjectCounts{Changed: 3}},
		{"two items are removed, and one is new", []string{note("one", "import: cluster", "b"), merged("b"), note("three", "import: cluster", "a")}, v1alpha1.ObjectCounts{Created: 1, Deleted: 2}},
	} {
		if i > 0 {
			inst = again(t, inst, itemsOn(t, space, "host", test.items...), v1alpha1.InstallationPhases.Succeeded)
		}
		if got := getInstallation(t, inst).Status.History[0].Objects; got == nil || *got != test.want {
			t.Errorf("%s: %+v, want %+v", test.reason, got, test.want)
		}
	}
	if _, out, _ := cli(t, "installations", "history", "counted", "-n", space); !strings.Contains(out, "+1 ~0 -2") || !strings.Contains(out, "+4 ~0 -0") {
		t.Error(out)
	}
}
