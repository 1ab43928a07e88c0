// Package console opens the console in a real browser, against a server in the lab.
package console

import (
	"os"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

var env = &scenario.World{}

func TestMain(m *testing.M) { os.Exit(env.Main(m, lab.Options{})) }
