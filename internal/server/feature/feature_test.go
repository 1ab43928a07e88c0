package feature

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/component-base/featuregate"
)

// TestStages: what is alpha is off by default, what is beta is on, and a feature never goes back.
func TestStages(t *testing.T) {
	order := []string{string(featuregate.Alpha), string(featuregate.Beta), string(featuregate.GA)}
	for name, specs := range stages {
		before := -1
		for _, spec := range specs {
			stage := slices.Index(order, string(spec.PreRelease))
			if stage <= before {
				t.Errorf("%s has the stages %v", name, specs)
			}
			if before = stage; spec.Default != (spec.PreRelease != featuregate.Alpha) {
				t.Errorf("%s is %t by default as %s", name, spec.Default, spec.PreRelease)
			}
		}
	}
}

// TestGates: gates are as the last stage says, until they are set.
func TestGates(t *testing.T) {
	gates := Gates()
	if gates.Enabled(ServerConsole) {
		t.Error("an alpha feature is on by default")
	}
	if err := gates.Set("ServerConsole=true"); err != nil || !gates.Enabled(ServerConsole) {
		t.Errorf("it cannot be switched on: %v", err)
	}
	if on := On(gates); !slices.Equal(on, []string{"ServerConsole"}) || len(On(Gates())) != 0 {
		t.Errorf("these are on: %v", on)
	}
	if Gates().Enabled(ServerConsole) {
		t.Error("the gates of one server are those of another one")
	}
	if err := gates.Set("Console=true"); err == nil {
		t.Error("a gate that does not exist is accepted")
	}
}

// TestTable: the table for operators has each feature with its present stage, and no other one.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(text), "### Feature gates\n")
	chapter, _, _ = strings.Cut(chapter, "\n#")
	if rows := strings.Count(chapter, "\n| `"); rows != len(stages) {
		t.Errorf("the table has %d rows for %d features", rows, len(stages))
	}
	for name, specs := range stages {
		now := specs[len(specs)-1]
		stage, state := strings.ToLower(string(now.PreRelease)), "off"
		if now.PreRelease == featuregate.GA {
			stage = "stable"
		}
		if now.Default {
			state = "on"
		}
		if row := fmt.Sprintf("\n| `%s` | %s | v%s | %s | ", name, stage, now.Version, state); !strings.Contains(chapter, row) {
			t.Errorf("the table lacks the row %q", row)
		}
	}
}
