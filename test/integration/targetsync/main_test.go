// Package targetsync_test holds the tests of TargetSyncs against real API servers.
package targetsync_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/controller/targetsync"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/garden"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// user is the name of the controller in the audit log of the resource cluster. It has
// the rules of the chart and nothing else.
const user = "landscaper-server"

// lifeline bounds every wait; a wait ends with its event, long before. It is less than the
// time after which a TargetSync runs again by itself.
const lifeline = 2 * time.Minute

var (
	// resource is the cluster with the TargetSyncs, source the one that they look at.
	resource, source *lab.Cluster
	// here and there are administrators' clients for both.
	here, there client.WithWatch
	// shoots is the garden that the source is.
	shoots *garden.Garden
	// clock is that of the controller.
	clock shiftedClock
)

// shiftedClock is the real clock, ahead by the time that a test sets.
type shiftedClock struct{ ahead atomic.Int64 }

func (c *shiftedClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *shiftedClock) forward(by time.Duration) { c.ahead.Add(int64(by)) }

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	environment, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "source"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := environment.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	resource, source = environment.Clusters["resource"], environment.Clusters["source"]
	stop, err := start(ctx, environment.Directory)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	return m.Run()
}

// start prepares the clusters and runs the controller.
func start(ctx context.Context, directory string) (stop func(), err error) {
	if here, err = landscape.Connect(resource.Kubeconfig); err != nil {
		return nil, err
	}
	if there, err = landscape.Connect(source.Kubeconfig); err != nil {
		return nil, err
	}
	if shoots, err = garden.Start(ctx, source); err != nil {
		return nil, err
	}
	shoots.Follow(clock.now)
	if err := install.Run(ctx, here, install.Options{SkipPolicies: true}, &bytes.Buffer{}); err != nil {
		return nil, err
	}
	rules, err := landscape.WriteRules(directory, user, nil)
	if err != nil {
		return nil, err
	}
	controllerUser, err := resource.AddUser(ctx, lab.UserOptions{Name: user, ManifestFile: rules})
	if err != nil {
		return nil, err
	}
	return runController(controllerUser.Kubeconfig)
}

// runController runs the controller until it is stopped.
func runController(kubeconfig string) (stop func(), err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	ctrl.SetLogger(logr.Discard())
	settings := server.Default()
	settings.Cluster, settings.MetricsAddress = config, "0"
	manager, err := ctrl.NewManager(config, server.ManagerOptions(settings, logr.Discard()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = (&targetsync.Reconciler{
		Client: manager.GetClient(), Reader: manager.GetAPIReader(), Events: manager.GetEventRecorder("Landscaper"),
		Pool: cluster.NewPoolFor(manager, "test", egress.Policy{AllowLoopback: true}),
		Now:  clock.now, Spread: func() float64 { return 1 },
	}).SetupWithManager(ctx, manager, controller.Options{MaxConcurrentReconciles: 2})
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Fprintln(os.Stderr, "the controller ended:", err)
		}
	}, nil
}
