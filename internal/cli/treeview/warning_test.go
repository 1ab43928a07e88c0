package treeview

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/landscape/inspect"
)

// TestWarningsAreShown: a job that has succeeded may have done something else than meant.
func TestWarningsAreShown(t *testing.T) {
	node := &inspect.Node{Kind: inspect.KindDeployItem, Name: "web", Phase: "Succeeded", State: inspect.Ready, Ready: true, Warnings: "spec.config.createNamespce: unknown field, it is ignored"}
	var text strings.Builder
	if err := Write(&text, []*inspect.Node{node}, Options{ASCII: true}); err != nil {
		t.Fatal(err)
	}
	if want := "[Succeeded] DeployItem web\n    Warning: spec.config.createNamespce: unknown field, it is ignored\n\n"; text.String() != want {
		t.Errorf("%q", text.String())
	}
}
