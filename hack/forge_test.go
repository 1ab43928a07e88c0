package hack

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWorkflowsCallMake: each job of a workflow runs targets of make that exist, and a change has
// to pass all parts of "make test".
func TestWorkflowsCallMake(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, found := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, found[1])
	}
	called := map[string][]string{}
	for _, file := range []string{"ci", "nightly", "release"} {
		called[file] = calls(t, "../.github/workflows/"+file+".yaml")
		for _, target := range called[file] {
			if !slices.Contains(targets, target) {
				t.Errorf("workflow %s calls make %s, which does not exist", file, target)
			}
		}
		if len(called[file]) == 0 {
			t.Errorf("workflow %s calls no target", file)
		}
	}
	parts := regexp.MustCompile(`(?m)^PARTS := (.*)$`).FindStringSubmatch(string(makefile))
	if parts == nil || !slices.Equal(strings.Fields(parts[1]), called["ci"]) {
		t.Errorf("make test has the parts %v, and the workflow %v", parts, called["ci"])
	}
}

// calls returns the targets of make that a workflow calls.
func calls(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Target  []string
					Include []struct{ Target string }
				}
			}
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, job := range workflow.Jobs {
		targets = append(targets, job.Strategy.Matrix.Target...)
		for _, row := range job.Strategy.Matrix.Include {
			targets = append(targets, row.Target)
		}
		for _, step := range job.Steps {
			for _, found := range regexp.MustCompile(`\bmake ([a-z0-9-]+)`).FindAllStringSubmatch(step.Run, -1) {
				targets = append(targets, found[1])
			}
		}
	}
	return targets
}

// TestUpdates: each module gets updates of what it depends on.
func TestUpdates(t *testing.T) {
	text, err := os.ReadFile("../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem string `json:"package-ecosystem"`
			Directory string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var updated, modules []string
	for _, update := range config.Updates {
		if update.Ecosystem == "gomod" {
			updated = append(updated, update.Directory)
		}
	}
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "--full-name", "..").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.Lines(string(list)) {
		folder, name := path.Split(strings.TrimSpace(file))
		// Folders that Go ignores stand for modules of others.
		if name == "go.mod" && !strings.Contains(folder, "/_") {
			modules = append(modules, "/"+strings.TrimSuffix(folder, "/"))
		}
	}
	slices.Sort(updated)
	slices.Sort(modules)
	if !slices.Equal(updated, modules) {
		t.Errorf("the modules are %v, and updates are for %v", modules, updated)
	}
}
