package kinds

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWrite: the pages say what the comments say, and each link leads to a heading of its page.
func TestWrite(t *testing.T) {
	folder := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(root, folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(root, relative); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, file, want string }{
		{"a required field", "installation", "| `blueprint` | [BlueprintDefinition](#blueprintdefinition) | **Required.** Blueprint names the blueprint to bring up: exactly one of ref and inline. |\n"},
		{"a default", "installation", "for this Installation. Default: `default`. |\n"},
		{"an own type in a list", "installation", "| `history` | list of [JobRecord](#jobrecord) |"},
		{"the values of a word", "installation", "| `reconcile` | is the operation \"reconcile\". |\n"},
		{"the version of a deployer", "helm", "`apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1`\n"},
		{"fields of an embedded structure", "helm", "| `identity` | string | Identity names the process"},
		{"a type of another package", "helm", "\n## UpdateStrategy\n"},
		{"what is no kind, and has a page", "target", "\n## KubernetesClusterTargetConfig\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, test.file+".md"))
			if err != nil || !strings.Contains(string(text), test.want) {
				t.Errorf("%v: %q is missing", err, test.want)
			}
		})
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.md"))
	if len(files) != len(specs) {
		t.Errorf("%d pages, want %d", len(files), len(specs))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkLinks(t, filepath.Base(file), string(text))
	}
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	link    = regexp.MustCompile(`\]\(#([^)]+)\)`)
)

func checkLinks(t *testing.T, name, text string) {
	t.Helper()
	anchors := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		anchor := strings.ReplaceAll(strings.ToLower(found[1]), " ", "-")
		if anchors[anchor] {
			t.Errorf("%s has two headings %q", name, found[1])
		}
		anchors[anchor] = true
	}
	for _, found := range link.FindAllStringSubmatch(text, -1) {
		if !anchors[found[1]] {
			t.Errorf("%s: #%s leads nowhere", name, found[1])
		}
	}
}
