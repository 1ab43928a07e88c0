package flux

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.landscaper.dev/test/lab"
)

// TestDev runs the development loop until its landscape is up, and interrupts it.
func TestDev(t *testing.T) {
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	program, labs := filepath.Join(t.TempDir(), "dev"), filepath.Join(t.TempDir(), "labs")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "go.landscaper.dev/hack/dev").CombinedOutput(); err != nil {
		t.Fatalf("build the loop: %v\n%s", err, output)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Dir, command.Env = root, append(os.Environ(), "LAB_DIR="+labs)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Ctrl-C ends everything") {
			if err := command.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the loop ends with %v", err)
	}
	for _, want := range []string{
		"✔ Building the server", "[✅ Succeeded] Installation network", "[✅ Succeeded] Installation database", "[✅ Succeeded] Installation shop",
		"  export KUBECONFIG=" + labs, "✔ Ending the server and the clusters",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not said", want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(labs, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind (%v)", left, err)
	}
	if t.Failed() {
		t.Log(said.String())
	}
}
