// Package attacks is a table of attacks by tenants, authors of blueprints, registries and target
// clusters. All of them meet one server with 512 MiB, one after the other, while another tenant
// installs something small again and again: the server must live, stay within its memory, and serve
// the other tenant almost as fast as usual.
package attacks

import (
	"fmt"
	"os"
	"testing"

	"go.landscaper.dev/test/hostile"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

// env is the lab that all rows share.
var env = &scenario.World{}

func TestMain(m *testing.M) {
	code := env.Main(m, lab.Options{})
	if err := results.write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// hostileWorld starts what the clusters and registries of the attackers need. It ends with the test.
func hostileWorld(t *testing.T) *hostile.World {
	t.Helper()
	world, err := hostile.NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	return world
}
