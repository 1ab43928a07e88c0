// Package console opens the console in a real browser, against a server in the lab.
package console

import (
	"os"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

var env = &scenario.World{}

func TestMain(m *testing.M) { os.Exit(env.Main(m, lab.Options{})) }

// openConsole starts the command and returns its link. The command ends with the test.
func openConsole(t *testing.T, args ...string) string {
	t.Helper()
	console, err := landscape.StartConsole(landscape.ConsoleOptions{
		Kubeconfig: env.Resource.Kubeconfig, Args: args, Env: []string{"HOME=" + t.TempDir()}, Errors: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := console.Stop(); err != nil {
			t.Error(err)
		}
	})
	return console.Link
}
