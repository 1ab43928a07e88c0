package spiff

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var block = regexp.MustCompile("(?ms)^```(yaml|console)(?: (\\S+))?\n(.*?)^```$")

// TestTutorial runs the commands of the tutorial and compares their output.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../../docs/spiff/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	runs := 0
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		kind, name, content := m[1], m[2], m[3]
		if kind == "yaml" {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		command, want, _ := strings.Cut(content, "\n")
		args := strings.Fields(strings.TrimPrefix(command, "$ landscaper-cli spiff "))
		got, err := execute(t, "", args...)
		if err != nil {
			got += err.Error() + "\n"
		}
		if got != want {
			t.Errorf("%s\nprints\n%s\ninstead of\n%s", command, got, want)
		}
		runs++
	}
	if runs == 0 {
		t.Error("the tutorial has no commands")
	}
}
