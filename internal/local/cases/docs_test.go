package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/local/rules"
)

// TestDocumentedFiles: what the documentation shows can be read as it is, with all its fields.
func TestDocumentedFiles(t *testing.T) {
	text, err := os.ReadFile("../../../docs/local.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		sample, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("a sample has no end: %s", block)
		}
		switch {
		case strings.Contains(sample, "kind: "+rules.Kind+"\n"):
			found[rules.Kind]++
			if _, err := rules.Parse(rules.FileName, []byte(sample)); err != nil {
				t.Error(err)
			}
		case strings.Contains(sample, "kind: "+Kind+"\n"):
			found[Kind]++
			name := filepath.Join(t.TempDir(), "sample"+suffix)
			if err := os.WriteFile(name, []byte(sample), 0o600); err != nil {
				t.Fatal(err)
			}
			if file, err := Read(name, filepath.Dir(name)); err != nil || len(file.Test.Cases) != 4 {
				t.Errorf("%v, %+v", err, file)
			}
		default:
			t.Errorf("a sample is of no kind that is known here: %s", sample)
		}
	}
	if found[rules.Kind] != 1 || found[Kind] != 1 {
		t.Errorf("the samples are %v", found)
	}
}
