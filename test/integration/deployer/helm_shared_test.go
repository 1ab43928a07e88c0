package deployer_test

import (
	"context"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
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
