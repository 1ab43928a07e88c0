package flux

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/showcase"
)

// demo runs the program of the demo without a terminal, with a directory before all others in its
// PATH, and returns what it says and its exit code.
func demo(t *testing.T, program, directory string, args ...string) (output string, code int) {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Stdout, command.Stderr = root, &said, &said
	command.Env = append(os.Environ(), "LAB_DIR="+filepath.Join(t.TempDir(), "labs"), "PATH="+directory+string(os.PathListSeparator)+os.Getenv("PATH"))
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said.String(), command.ProcessState.ExitCode()
}

// TestDemo runs the demo as a new user does.
func TestDemo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "demo")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "go.landscaper.dev/hack/demo").CombinedOutput(); err != nil {
		t.Fatalf("build the demo: %v\n%s", err, output)
	}
	t.Run("the demo shows what it has brought up, and cleans up", func(t *testing.T) {
		said, code := demo(t, program, "/nowhere")
		for _, want := range []string{"[✅ Succeeded] Installation dataflow-root", "cluster2   Opaque", "test-configmap   1", "is that of Secret test-secret"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not said", want)
			}
		}
		// Without a terminal, each step is one line with its duration, and nothing else is said.
		for _, step := range []string{"Starting 3 clusters", "Installing Landscaper", "Creating the Context", "dataflow-secret: ", "dataflow-gitrepository: ", "dataflow-root: ", "Deleting all", "Ending the clusters"} {
			line := regexp.MustCompile(`(?m)^✔ ` + step + `.* \d+\.\d s$`)
			if len(line.FindAllString(said, -1)) != 1 {
				t.Errorf("there is not one line of the step %q", step)
			}
		}
		if steps := strings.Count(said, "✔ "); steps != 11 {
			t.Errorf("%d steps", steps)
		}
		if begin := strings.Split(said, "\n\n")[0]; strings.Count(begin, "\n") != strings.Count(begin, "✔ ")-1 || strings.ContainsAny(said, "\r\x1b") {
			t.Error("there is more than a line for each step")
		}
		if code != 0 || t.Failed() {
			t.Errorf("exit code %d:\n%s", code, said)
		}
	})
	t.Run("the demo reports a difference", func(t *testing.T) {
		// This kubectl does not see one of the Kustomizations.
		directory := t.TempDir()
		kubectl, err := showcase.Client("kubectl")
		if err != nil {
			t.Fatal(err)
		}
		script := "#!/bin/sh\ncase \"$*\" in \"get kustomizations\"*) " + kubectl + " \"$@\" | grep -v tokenconsumer ;; *) exec " + kubectl + " \"$@\" ;; esac\n"
		if err := os.WriteFile(filepath.Join(directory, "kubectl"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		said, code := demo(t, program, directory, "-one-target")
		if code != 1 || !strings.Contains(said, "demo: Comparing the clusters with what should be there: the example has brought up something else than expected:\nkubectl get kustomizations -n flux-system: got") {
			t.Errorf("exit code %d:\n%s", code, said)
		}
		_, logs, _ := strings.Cut(said, "logs of the server and of the clusters: ")
		logs, _, _ = strings.Cut(logs, "\n")
		for _, log := range []string{"landscaper.log", "supervisor.log"} {
			if content, err := os.ReadFile(filepath.Join(logs, log)); err != nil || len(content) == 0 {
				t.Errorf("the log %s was not kept: %v", log, err)
			}
		}
	})
}
