package cli

import (
	"os"
	"os/exec"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// alone is the environment variable of the process that has this test alone: what a process
// has said first about the log holds.
const alone = "LANDSCAPER_CLI_TEST_ALONE"

// TestLogOfTheLibrary: after half a minute, the library for controllers prints a stack trace
// if its logger was not set. Until then its logger is not enabled.
func TestLogOfTheLibrary(t *testing.T) {
	if os.Getenv(alone) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLogOfTheLibrary$")
		command.Env = append(os.Environ(), alone+"=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if setVerbosity(2); !log.Log.Enabled() {
		t.Error("the logger is not set")
	}
}
