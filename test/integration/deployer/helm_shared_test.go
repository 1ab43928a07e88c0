package deployer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/release/common"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// awaitEvent waits for an event about an item and returns its text.
func awaitEvent(t *testing.T, item *v1alpha1.DeployItem, reason string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := items.Watch(ctx, &eventsv1.EventList{}, client.InNamespace(item.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if found, ok := event.Object.(*eventsv1.Event); ok && event.Type != watch.Deleted && found.Reason == reason && found.Regarding.Name == item.Name {
			return found.Note
		}
	}
	t.Fatal("no event " + reason)
	return ""
}

// TestWarningsOfCharts reports probable mistakes, without the values.
func TestWarningsOfCharts(t *testing.T) {
	files := with(notes, map[string]string{"values.yaml": notes["values.yaml"] + "server: {port: 1}\n"})
	item := helmItem(t, files, "values: {server: {port: {of: top-secret}}}")
	create(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if note := awaitEvent(t, item, "ValuesWarning"); note != "values: server.port is a map, and the chart has a single value there" || strings.Contains(note, "top-secret") {
		t.Errorf("the event says %q", note)
	}
}

// uid is the identity of the note of a release.
func uid(t *testing.T, namespace string) types.UID {
	t.Helper()
	found := configMap(namespace, "notes-note")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(found), found); err != nil {
		t.Fatal(err)
	}
	return found.UID
}

// TestSwitchOfMode makes objects of their own of a release, and a release of them again: they stay,
// objects that are no longer wanted are deleted, and so are records.
func TestSwitchOfMode(t *testing.T) {
	t.Parallel()
	plain := "helmDeployment: false\n"
	for name, server := range map[string]map[string]string{"with a workload": {"templates/server.yaml": workload("server", 0)}, "without one": {}} {
		t.Run(name, func(t *testing.T) {
			files := with(notes, server)
			item := helmItem(t, files, "values: {text: first, extra: true}")
			create(t, item)
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			first := uid(t, item.Namespace)

			item = reconfigured(t, item, helmConfig(t, files, plain+"values: {text: second}"))
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			checkRevisions(t, item.Namespace, map[string]string{})
			checkNote(t, item.Namespace, "second")
			if uid(t, item.Namespace) != first || note(t, item.Namespace, "notes-extra") != nil {
				t.Error("the object was created again, or an unwanted object is left")
			}
			if got := managed(t, item); len(got) != 1+len(server) || got[0] != "notes-note" {
				t.Errorf("recorded are %v", got)
			}

			item = reconfigured(t, item, helmConfig(t, files, plain+"values: {text: third, extra: true}"))
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			item = reconfigured(t, item, helmConfig(t, files, "values: {text: fourth}"))
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			checkRevisions(t, item.Namespace, map[string]string{"1": "deployed"})
			checkNote(t, item.Namespace, "fourth")
			if uid(t, item.Namespace) != first || note(t, item.Namespace, "notes-extra") != nil {
				t.Error("the object was created again, or an unwanted object is left")
			}
			if strings.Contains(string(item.Status.ProviderStatus.Raw), "notes-note") {
				t.Errorf("the status still has %s", item.Status.ProviderStatus.Raw)
			}
			remove(t, item)
			awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
			if note(t, item.Namespace, "notes-note") != nil {
				t.Error("an object is left")
			}
		})
	}
}

// TestDeletionAfterSwitch deletes an item that was to be deployed in the other way, and
// never was.
func TestDeletionAfterSwitch(t *testing.T) {
	plain := "helmDeployment: false\n"
	for _, modes := range [][]string{{"", plain}, {plain, ""}} {
		item := helmItem(t, notes, modes[0])
		create(t, item)
		item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		// The last job comes from the time before.
		setConfig(t, item, helmConfig(t, notes, modes[1]))
		if err := items.Update(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		remove(t, item)
		awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
		if note(t, item.Namespace, "notes-note") != nil || len(revisions(t, item.Namespace)) > 0 {
			t.Errorf("from %q to %q: something is left", modes[0], modes[1])
		}
	}
}

// TestReleaseOfTheSameName leaves a foreign release alone.
func TestReleaseOfTheSameName(t *testing.T) {
	item := helmItem(t, map[string]string{"templates/none.yaml": ""}, "helmDeployment: false")
	put(t, foreign(t, item.Namespace, 1, common.StatusDeployed, "theirs"), false)
	foreignObjects(t, item.Namespace)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	handOver(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	checkRevisions(t, item.Namespace, map[string]string{"1": "deployed"})
	if note(t, item.Namespace, "notes-note") == nil {
		t.Error("a foreign object was deleted")
	}
}

// TestSharedParts checks and exports with a chart what the other deployers do, on two
// clusters, with and without a release.
func TestSharedParts(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"helmDeployment: true\n", "helmDeployment: false\n"} {
		item := helmItem(t, notes, mode+`
readinessChecks:
  custom:
  - {name: here, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: signal, namespace: NAMESPACE}], requirements: [{jsonPath: .data.go, operator: ==, values: [{value: now}]}]}
  - {name: there, targetName: edge, labelSelector: {apiVersion: v1, kind: ConfigMap, matchLabels: {of: NAMESPACE}}, requirements: [{jsonPath: .data.go, operator: exists}]}
exports:
  exports:
  - {key: given, jsonPath: .Values.text}
  - {key: both, jsonPath: .Values.text}
  - {key: both, jsonPath: .data.text, targetName: edge, fromResource: {apiVersion: v1, kind: ConfigMap, name: there, namespace: NAMESPACE}}
exportsFromManifests:
- {key: old, jsonPath: .data.revision, fromResource: {apiVersion: v1, kind: ConfigMap, name: notes-note, namespace: NAMESPACE}}
`)
		createTarget(t, item.Namespace, "edge", edgeAccess)
		create(t, item)
		awaitText(t, item, "ConfigMap "+item.Namespace+"/signal to become ready")
		signal := configMap(item.Namespace, "signal")
		signal.Data = map[string]string{"go": "now"}
		if err := deployed.Create(t.Context(), signal); err != nil {
			t.Fatal(err)
		}
		awaitText(t, item, "ConfigMap of="+item.Namespace+` on Target edge to become ready (check "there": `)
		signal = configMap(item.Namespace, "signal")
		signal.Labels, signal.Data = map[string]string{"of": item.Namespace}, map[string]string{"go": ""}
		if err := items.Create(t.Context(), signal); err != nil {
			t.Fatal(err)
		}
		awaitText(t, item, "ConfigMap "+item.Namespace+"/there on Target edge, to export both")
		there := configMap(item.Namespace, "there")
		there.Data = map[string]string{"text": "of the edge"}
		if err := items.Create(t.Context(), there); err != nil {
			t.Fatal(err)
		}
		item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		_, values := exported(t, item)
		if diff := cmp.Diff(map[string]any{"given": "hello", "both": "of the edge", "old": "1"}, values); diff != "" {
			t.Errorf("%s: exports, -want +got\n%s", mode, diff)
		}
	}
}

// TestGroupsWithoutRelease deletes the objects of a chart in the order of groups.
func TestGroupsWithoutRelease(t *testing.T) {
	item := helmItem(t, with(notes, map[string]string{
		"templates/first.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first, finalizers: [acme.example/hold]}\n",
		"templates/stays.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: stays}\n",
	}), `helmDeployment: false
deletionGroups:
- customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, names: [first]}]}
- customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap}]}
`)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	remove(t, item)
	awaitText(t, item, "the end of ConfigMap "+item.Namespace+"/first (finalizer acme.example/hold)")
	if got := left(t, deployed, item.Namespace); got != "notes-note" {
		t.Errorf("while the first group waits there are %q", got)
	}
	hold(t, item.Namespace, "first")
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	if got := left(t, deployed, item.Namespace); got != "" {
		t.Errorf("there are %q", got)
	}
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: item.Namespace, Name: "stays"}, &corev1.ServiceAccount{}); err != nil {
		t.Errorf("what no group takes stays: %v", err)
	}
}

// TestOptions uses each option of a release, and what happens without it.
func TestOptions(t *testing.T) {
	t.Run("force", func(t *testing.T) {
		for option, want := range map[string]string{"false": "theirs", "true": ""} {
			item := helmItem(t, notes, "")
			create(t, item)
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			if err := deployed.Patch(t.Context(), configMap(item.Namespace, "notes-note"), client.RawPatch(types.MergePatchType, []byte(`{"data":{"more":"theirs"}}`))); err != nil {
				t.Fatal(err)
			}
			item = reconfigured(t, item, helmConfig(t, notes, "values: {text: second}\nhelmDeploymentConfig: {upgrade: {force: "+option+"}}"))
			awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			if data := note(t, item.Namespace, "notes-note"); data["more"] != want || data["text"] != "second" {
				t.Errorf("force %s: the note is %v", option, data)
			}
		}
	})
	t.Run("skipSchemaValidation", func(t *testing.T) {
		files := with(notes, map[string]string{"values.schema.json": `{"properties": {"text": {"type": "integer"}}}`})
		item := helmItem(t, files, "")
		create(t, item)
		item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed)
		if message := item.Status.LastError.Message; !strings.Contains(message, "values.schema.json of chart notes") || strings.Contains(message, "hello") {
			t.Errorf("the message is %q", message)
		}
		item = reconfigured(t, item, helmConfig(t, files, "helmDeploymentConfig: {install: {skipSchemaValidation: true}}"))
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	})
	t.Run("takeOwnership", func(t *testing.T) {
		item := helmItem(t, notes, "")
		foreign := configMap(item.Namespace, "notes-note")
		if err := deployed.Create(t.Context(), foreign); err != nil {
			t.Fatal(err)
		}
		create(t, item)
		awaitItem(t, item, "the refusal", func(item *v1alpha1.DeployItem) bool {
			return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, "ConfigMap "+item.Namespace+"/notes-note exists and does not belong to the release")
		})
		item = reconfigured(t, item, helmConfig(t, notes, "helmDeploymentConfig: {install: {takeOwnership: true}}"))
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		checkNote(t, item.Namespace, "hello")
	})
	t.Run("timeout", func(t *testing.T) {
		item := helmItem(t, with(notes, map[string]string{"templates/server.yaml": gated(workload("server", 1))}), "helmDeploymentConfig: {install: {atomic: true, timeout: 1s}}")
		create(t, item)
		awaitItem(t, item, "the end of the operation", func(item *v1alpha1.DeployItem) bool {
			return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, `timeout at: "helm deployer: before installing release": it waited for Deployment `+item.Namespace+"/server to become ready")
		})
		openGate(t, item.Namespace)
		item = reconfigured(t, item, helmConfig(t, notes, ""))
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	})
}
