package deployer_test

import (
	"context"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/release/common"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// awaitEvent waits for an event about an item and returns its text.
func awaitEvent(t *testing.T, item *v1alpha1.DeployItem, reason string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// TestWarningsOfCharts tells what is probably not meant, without the values.
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

// TestSwitchOfMode makes objects of their own of a release, and a release of them again:
// they stay, what is no longer wanted goes, and so do records.
func TestSwitchOfMode(t *testing.T) {
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
				t.Error("the object was made anew, or what is not wanted is left")
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
				t.Error("the object was made anew, or what is not wanted is left")
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

// TestReleaseOfTheSameName leaves the release of a stranger alone.
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
		t.Error("an object of somebody else is gone")
	}
}
