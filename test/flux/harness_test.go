// Package flux holds whole scenarios in which Landscaper deploys objects of Flux, and
// Flux deploys the rest: the real server program and the real controllers of Flux.
package flux

import (
	"os"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

// env is the lab that all scenarios share. Flux works on the cluster "flux", and deploys
// to "workload" as well.
var env = &scenario.World{}

func TestMain(m *testing.M) {
	os.Exit(env.Main(m, lab.Options{Clusters: []string{"flux", "workload"}, With: []string{"flux=flux", "git", "registry"}}))
}
