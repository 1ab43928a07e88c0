package flux

import (
	"bytes"
	"errors"
	"io"
	"net/http"
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
	var said bytes.Buffer
	code = demoTo(t, &said, program, directory, args...)
	return said.String(), code
}

// demoTo runs the program of the demo, and returns its exit code.
func demoTo(t *testing.T, said io.Writer, program, directory string, args ...string) (code int) {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Stdout, command.Stderr = root, said, said
	command.Env = append(os.Environ(), "LAB_DIR="+filepath.Join(t.TempDir(), "labs"), "PATH="+directory+string(os.PathListSeparator)+os.Getenv("PATH"))
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode()
}

// link is what the demo prints of its console.
var link = regexp.MustCompile(`(?m)^  (http://127\.0\.0\.1:\d+/login\?token=\w+)$`)

// opening is a user who opens the link of the demo as soon as it is printed.
type opening struct {
	said   bytes.Buffer
	opened bool
	status int
	err    error
}

// Write implements io.Writer.
func (o *opening) Write(text []byte) (int, error) {
	_, _ = o.said.Write(text)
	if found := link.FindSubmatch(o.said.Bytes()); found != nil && !o.opened {
		o.opened = true
		var answer *http.Response
		if answer, o.err = http.Get(string(found[1])); o.err == nil {
			_ = answer.Body.Close()
			o.status = answer.StatusCode
		}
	}
	return len(text), nil
}

// TestDemo runs the demo as a new user does.
func TestDemo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "demo")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "go.landscaper.dev/hack/demo").CombinedOutput(); err != nil {
		t.Fatalf("build the demo: %v\n%s", err, output)
	}
	t.Run("the demo shows what it has brought up, and cleans up", func(t *testing.T) {
		user := &opening{}
		code := demoTo(t, user, program, "/nowhere")
		said := user.said.String()
		// The console is there before the example is, so that it can be watched.
		if user.status != http.StatusOK || len(link.FindAllString(said, -1)) != 1 || link.FindStringIndex(said)[0] > strings.Index(said, "Publishing its blueprints") {
			t.Errorf("the link of the console: status %d, %v", user.status, user.err)
		}
		for _, want := range []string{"[✅ Succeeded] Installation dataflow-root", "cluster2   Opaque", "test-configmap   1", "is that of Secret test-secret"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not said", want)
			}
		}
		// Without a terminal, each step is one line with its duration, and nothing else is said.
		for _, step := range []string{"Starting 3 clusters", "Installing Landscaper", "Opening the console", "Creating the Context", "dataflow-secret: ", "dataflow-gitrepository: ", "dataflow-root: ", "Deleting all", "Ending the clusters"} {
			line := regexp.MustCompile(`(?m)^✔ ` + step + `.* \d+\.\d s$`)
			if len(line.FindAllString(said, -1)) != 1 {
				t.Errorf("there is not one line of the step %q", step)
			}
		}
		if count := strings.Count(said, "✔ "); count != 12 {
			t.Errorf("%d steps", count)
		}
		steps := regexp.MustCompile(`\n\nWatch the example .*\n.*\n\n`).ReplaceAllString(said, "\n")
		if begin := strings.Split(steps, "\n\n")[0]; !strings.Contains(begin, "dataflow-root: ") || strings.Count(begin, "\n") != strings.Count(begin, "✔ ")-1 || strings.ContainsAny(said, "\r\x1b") {
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
