package treeview

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/landscape/inspect"
)

// TestPendingRemovalsAreShown: what is kept until the end of the job says so.
func TestPendingRemovalsAreShown(t *testing.T) {
	node := &inspect.Node{Kind: inspect.KindDeployItem, Name: "web", Phase: "Succeeded", State: inspect.Ready, Ready: true, Held: true, PendingRemovals: "not wanted any more"}
	var text strings.Builder
	if err := Write(&text, []*inspect.Node{node}, Options{ASCII: true}); err != nil {
		t.Fatal(err)
	}
	if want := "[Succeeded] DeployItem web\n    Pending removal: not wanted any more\n\n"; text.String() != want {
		t.Errorf("%q", text.String())
	}
}
