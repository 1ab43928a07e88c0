package rebuild

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCount: which files make another program.
func TestCount(t *testing.T) {
	sources, err := read("/src", strings.NewReader(`
{"Dir": "/go/fmt"}
{"Dir": "/mod/cobra", "Module": {"Main": false}, "EmbedFiles": ["help.txt"]}
{"Dir": "/src/api", "Module": {"Main": true}, "EmbedFiles": ["crds/a.yaml", "README"]}
{"Dir": "/src/cmd/server", "Module": {"Main": true}}
{"Module": {"Main": true}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/src", "/src/api", "/src/api/crds", "/src/cmd/server"}, sources.Directories()); diff != "" {
		t.Errorf("watched directories: %s", diff)
	}
	for _, test := range []struct {
		reason, path string
		want         bool
	}{
		{"a file of a package", "/src/cmd/server/main.go", true},
		{"a file that was not there before", "/src/cmd/server/new.go", true},
		{"a test", "/src/cmd/server/main_test.go", false},
		{"a package that the program does not have", "/src/cmd/client/main.go", false},
		{"a package of another module", "/mod/cobra/command.go", false},
		{"the versions of modules", "/src/go.mod", true},
		{"the sums of modules", "/src/go.sum", true},
		{"the versions of another module", "/src/api/go.mod", false},
		{"an embedded file", "/src/api/crds/a.yaml", true},
		{"a file that may be embedded", "/src/api/crds/b.yaml", true},
		{"an embedded file without an extension", "/src/api/README", true},
		{"a page beside embedded files", "/src/api/crds/README.md", false},
		{"a file that vim swaps to", "/src/cmd/server/.main.go.swp", false},
		{"a file that vim tries the directory with", "/src/api/crds/4913", false},
		{"a lock of Emacs", "/src/cmd/server/.#main.go", false},
		{"what Emacs saves by itself", "/src/cmd/server/#main.go#", false},
		{"a backup", "/src/cmd/server/main.go~", false},
		{"a file that the go command ignores", "/src/cmd/server/_main.go", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := sources.Count(test.path); got != test.want {
				t.Errorf("%s counts: %t", test.path, got)
			}
		})
	}
}

// TestDescribe: the first file is enough to recognise a change.
func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		reason string
		files  []string
		want   string
	}{
		{"a file", []string{"internal/controller/execution/setup.go"}, "execution/setup.go"},
		{"a file of the root", []string{"go.mod"}, "go.mod"},
		{"several files", []string{"api/a.go", "api/b.go", "api/c.go"}, "api/a.go and 2 more"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := describe(test.files); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// greeting is a program of two packages with an embedded file. It says what it was built from, and runs until
// it is asked to end.
var greeting = map[string]string{
	"go.mod":            "module example.org/greeting\n\ngo 1.26\n",
	"main.go":           "package main\n\nimport (\n\t_ \"embed\"\n\t\"io\"\n\t\"os\"\n\n\t\"example.org/greeting/word\"\n)\n\n//go:embed name.txt\nvar name string\n\nfunc main() {\n\tos.Stdout.WriteString(word.Word + \" \" + name)\n\tio.Copy(io.Discard, os.Stdin)\n}\n",
	"name.txt":          "world\n",
	"word/word.go":      "package word\n\nconst Word = \"hello\"\n",
	"other/other.go":    "package other\n\nconst Other = \"good\"\n",
	"word/word_test.go": "package word\n",
}

// greeter runs the program of a directory, and records what the loop reports.
type greeter struct {
	t         *testing.T
	directory string
	command   *exec.Cmd
	input     io.Closer
	ended     chan struct{}
	// greetings has what each program says first, done the end of each step, failures each
	// failure.
	greetings, done chan string
	failures        chan error
}

// write writes a file as editors do: at no time, the file has a part of the content only.
func (g *greeter) write(name, content string) {
	g.t.Helper()
	path := filepath.Join(g.directory, name)
	temporary := filepath.Join(filepath.Dir(path), ".saving")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(temporary, []byte(content), 0o644), os.Rename(temporary, path)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *greeter) Build(ctx context.Context) (time.Duration, error) {
	command := exec.CommandContext(ctx, "go", "build", "-o", "program", ".")
	command.Dir = g.directory
	if output, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, output)
	}
	return command.ProcessState.UserTime(), nil
}

func (g *greeter) Restart(ctx context.Context) error {
	g.stop()
	g.command = exec.CommandContext(ctx, filepath.Join(g.directory, "program"))
	input, err := g.command.StdinPipe()
	if err != nil {
		return err
	}
	output, err := g.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := g.command.Start(); err != nil {
		return err
	}
	g.input, g.ended = input, make(chan struct{})
	said, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return err
	}
	go func(command *exec.Cmd, ended chan struct{}) {
		_ = command.Wait()
		close(ended)
	}(g.command, g.ended)
	g.greetings <- strings.TrimSpace(said)
	return nil
}

func (g *greeter) stop() {
	if g.input != nil {
		_ = g.input.Close()
		<-g.ended
	}
}

func (g *greeter) Ended() <-chan struct{} { return g.ended }

func (g *greeter) Sources(ctx context.Context) (Sources, error) { return List(ctx, g.directory, ".") }

func (g *greeter) StepTo(_ string, do func(io.Writer) (string, error)) error {
	done, err := do(io.Discard)
	if err == nil {
		g.done <- done
	}
	return err
}

func (g *greeter) Failed(err error) { g.failures <- err }

// expect returns when the program was restarted, and checks what it says and because of what it
// was built.
func (g *greeter) expect(greeting, because string) {
	g.t.Helper()
	select {
	case said := <-g.greetings:
		if done := <-g.done; said != greeting || !strings.HasSuffix(done, "s of CPU): "+because) {
			g.t.Errorf("%q after %q, want %q after %q", said, done, greeting, because)
		}
	case err := <-g.failures:
		g.t.Fatalf("failed: %v", err)
	}
}

// TestRun changes files of a program that runs.
func TestRun(t *testing.T) {
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Channels have space for what a test does not look at.
	g := &greeter{t: t, directory: directory, greetings: make(chan string, 10), done: make(chan string, 10), failures: make(chan error, 10)}
	for name, content := range greeting {
		g.write(name, content)
	}
	sources, err := g.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	watcher, err := Watch(ctx, sources)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Build(ctx); err != nil {
		t.Fatal(err)
	}
	if err := g.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if said := <-g.greetings; said != "hello world" {
		t.Fatalf("the program says %q", said)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); Run(ctx, g, watcher, g) }()

	// What the program does not have is no reason to build it; an embedded file and a package are.
	g.write("other/other.go", "package other\n\nconst Other = \"new\"\n")
	g.write("word/word_test.go", "package word\n\nimport \"testing\"\n")
	g.write("name.txt", "moon\n")
	g.expect("hello moon", "name.txt")
	g.write("word/word.go", "package word\n\nconst Word = \"goodbye\"\n")
	g.expect("goodbye moon", "word/word.go")

	// What does not compile leaves the program alone.
	g.write("word/word.go", "package word\n\nconst Word = = 1\n")
	if err := <-g.failures; !strings.Contains(err.Error(), "word.go:3") {
		t.Errorf("the failure is %v", err)
	}
	select {
	case <-g.ended:
		t.Error("the program was ended")
	default:
	}

	// A package that is used for the first time is watched from then on.
	g.write("word/word.go", "package word\n\nimport \"example.org/greeting/other\"\n\nconst Word = other.Other\n")
	g.expect("new moon", "word/word.go")
	g.write("other/other.go", "package other\n\nconst Other = \"full\"\n")
	g.expect("full moon", "other/other.go")

	// A program that ends by itself is reported once, and the next change starts it.
	if err := g.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-g.failures; !errors.Is(err, errEnded) {
		t.Errorf("the failure is %v", err)
	}
	g.write("name.txt", "sun\n")
	g.expect("full sun", "name.txt")

	cancel()
	<-ended
	g.stop()
}
