// Package causes is a catalogue of faults. Each row causes one, in an Installation and
// three levels below one, and looks at the root, while the job runs and after its end:
// every look must name the reason, the object, the cluster and the next step, and no
// value of a Secret.
package causes

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// env is the lab that all rows share.
var env = &scenario.World{}

// atOnce bounds how many rows play at the same time: they wait most of their time.
const atOnce = "40"

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := env.Main(m, lab.Options{Clusters: []string{"second"}, With: []string{"registry-auth", "registry-tls"}})
	results.write(os.Stdout)
	os.Exit(code)
}

// results is the table of all rows.
var results table

// pickup is how long an item waits for a deployer that does not run.
const pickup = "75s"

// startServer starts the server that all rows share.
func startServer(t *testing.T) *scenario.Server {
	t.Helper()
	return env.StartRegistryServer(t, "deployItemTimeouts: {pickup: "+pickup+"}")
}

// second connects to the second target cluster as an administrator, once.
var second = sync.OnceValues(func() (client.WithWatch, error) {
	return landscape.Connect(env.Lab.Clusters["second"].Kubeconfig)
})
