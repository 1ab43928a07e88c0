// Package console opens the console in a real browser, against a server in the lab.
package console

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

var env = &scenario.World{}

func TestMain(m *testing.M) { os.Exit(env.Main(m, lab.Options{})) }

// openConsole starts the command and returns its link. The command ends with the test.
func openConsole(t *testing.T, args ...string) string {
	t.Helper()
	labProgram, err := lab.Program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(filepath.Join(filepath.Dir(labProgram), "landscaper-cli"), append([]string{"console"}, args...)...)
	command.Env = []string{"KUBECONFIG=" + env.Resource.Kubeconfig, "HOME=" + t.TempDir()}
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil {
			t.Errorf("the command ends with an error: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the command prints no link: %v", err)
	}
	_, link, found := strings.Cut(strings.TrimSpace(line), "http://")
	if !found {
		t.Fatalf("the command prints no link: %q", line)
	}
	t.Log(line)
	return "http://" + link
}
