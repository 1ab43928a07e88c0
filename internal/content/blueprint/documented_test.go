package blueprint

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestReferencePage loads the example of the reference page.
func TestReferencePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/blueprint-files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```yaml\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the page has no example")
	}
	files, err := inline(t, block)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(files)
	if err != nil || len(loaded.Warnings) > 0 || loaded.Info.DeployExecutions[0].File != "templates/items.yaml" {
		t.Errorf("got %+v, %v", loaded, err)
	}
	for path, want := range map[string]string{
		"templates/items.yaml": "deployItems: []\n", "schemas/size.json": `{"type":"integer"}`, "replicas": "3", "logo.png": "hello",
	} {
		t.Run(path, func(t *testing.T) {
			if got, err := fs.ReadFile(files, path); err != nil || string(got) != want {
				t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
			}
		})
	}
}

// TestDocumentedInlineBlueprints loads the forms in which the documentation of
// Installations shows inline blueprints: as a text that an ellipsis ends, and as
// a map.
func TestDocumentedInlineBlueprints(t *testing.T) {
	for _, filesystem := range []string{
		"blueprint.yaml: |\n  apiVersion: landscaper.gardener.cloud/v1alpha1\n  kind: Blueprint\n  ...\n",
		"blueprint.yaml:\n  apiVersion: landscaper.gardener.cloud/v1alpha1\n  kind: Blueprint\n  imports: [{name: a, targetType: kubernetes-cluster}]\n",
	} {
		files, err := inline(t, filesystem)
		if err != nil {
			t.Fatal(err)
		}
		if loaded, err := Load(files); err != nil || loaded.Info.Kind != "Blueprint" || len(loaded.Warnings) > 0 {
			t.Errorf("%s: got %+v, %v", filesystem, loaded, err)
		}
	}
}
