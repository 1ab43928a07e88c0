package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const (
	serverUser   = "landscaper-server"
	deployerUser = "landscaper-deployer"
	// creators is how many clients create objects at the same time.
	creators = 8
)

// bench is a lab with a server.
type bench struct {
	options
	lab              *lab.Lab
	admin, workload  client.WithWatch
	serverKubeconfig string
	targetKubeconfig string
	server           *landscape.Server
}

func start(ctx context.Context, options options) (*bench, error) {
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}, Profiling: options.record != ""})
	if err != nil {
		return nil, fmt.Errorf("start the lab: %w", err)
	}
	b := &bench{options: options, lab: started}
	if err := b.setUp(ctx); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

func (b *bench) setUp(ctx context.Context) error {
	resource, target := b.lab.Clusters["resource"], b.lab.Clusters["target"]
	var err error
	if b.admin, err = landscape.Connect(resource.Kubeconfig); err != nil {
		return err
	}
	if b.workload, err = landscape.Connect(target.Kubeconfig); err != nil {
		return err
	}
	if err := install.Run(ctx, b.admin, install.Options{}, &bytes.Buffer{}); err != nil {
		return err
	}
	user, err := resource.AddUser(ctx, lab.UserOptions{Name: serverUser, ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return err
	}
	deployer, err := target.AddUser(ctx, lab.UserOptions{Name: deployerUser, ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return err
	}
	b.serverKubeconfig = user.Kubeconfig
	content, err := os.ReadFile(deployer.Kubeconfig)
	b.targetKubeconfig = string(content)
	return err
}

func (b *bench) stop() {
	if err := errors.Join(b.stopServer(), b.lab.Down(context.Background())); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// stopServer ends the server, if one runs.
func (b *bench) stopServer() error {
	if b.server == nil {
		return nil
	}
	server := b.server
	b.server = nil
	return server.Stop()
}

func (b *bench) resource() *lab.Cluster { return b.lab.Clusters["resource"] }
func (b *bench) target() *lab.Cluster   { return b.lab.Clusters["target"] }

// startServer starts the server, or ends the running one and starts another.
func (b *bench) startServer(ctx context.Context, env ...string) error {
	if err := b.stopServer(); err != nil {
		return err
	}
	var err error
	b.server, err = landscape.Start(ctx, landscape.Options{
		Kubeconfig: b.serverKubeconfig, Quiet: true, Log: filepath.Join(b.lab.Directory, "landscaper.log"),
		Env: append(env, "PROFILE="+b.profileFile()), Program: b.program,
	})
	return err
}

// count counts what our users request from now on.
func (b *bench) count(ctx context.Context) (*landscape.Count, error) {
	return landscape.StartCount(ctx,
		landscape.Caller{Cluster: b.lab.Clusters["resource"], User: serverUser},
		landscape.Caller{Cluster: b.lab.Clusters["target"], User: deployerUser})
}

// idle counts the requests in a minute of a server that has nothing to do. What it still
// sends when everybody has been seen to wait, such as an event, is not counted; nor is what
// it reads once after a start, for which it goes through everything that there is.
func (b *bench) idle(ctx context.Context, duration time.Duration) (float64, error) {
	const calm, waitLimit = time.Second, 30
	for range waitLimit {
		before, err := b.server.CPU()
		if err != nil {
			return 0, err
		}
		requests, err := b.during(ctx, calm)
		if err != nil {
			return 0, err
		}
		after, err := b.server.CPU()
		if err != nil {
			return 0, err
		}
		if len(requests) == 0 && after-before < calm/20 {
			break
		}
	}
	requests, err := b.during(ctx, duration)
	if len(requests) > 0 {
		// A missed budget of nothing does not say which requests to look for.
		fmt.Fprintf(os.Stderr, "bench: requests while nothing happens: %v\n", landscape.Sums(requests))
	}
	return float64(len(requests)) / duration.Minutes(), err
}

// during returns the requests in a time.
func (b *bench) during(ctx context.Context, duration time.Duration) ([]landscape.Request, error) {
	counted, err := b.count(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(duration):
	}
	return counted.Requests(ctx)
}

// namespace makes a namespace on both clusters with a Target.
func (b *bench) namespace(ctx context.Context) (string, error) {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	if err := b.admin.Create(ctx, space); err != nil {
		return "", err
	}
	if err := b.workload.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space.Name}}); err != nil {
		return "", err
	}
	target, err := landscape.Target(space.Name, "host", b.targetKubeconfig)
	if err != nil {
		return "", err
	}
	return space.Name, b.admin.Create(ctx, target)
}

// inParallel calls a function for each number below count, some at a time.
func inParallel(count, workers int, do func(int) error) error {
	numbers := make(chan int)
	errs := make(chan error, workers)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var failed error
	for i := 0; i < count && failed == nil; i++ {
		select {
		case numbers <- i:
		case failed = <-errs:
		}
	}
	close(numbers)
	group.Wait()
	close(errs)
	for err := range errs {
		failed = errors.Join(failed, err)
	}
	return failed
}

// exponent says how a total grows with the number of things.
func exponent(smallTotal, bigTotal float64, small, big int) float64 {
	return math.Log(bigTotal/smallTotal) / math.Log(float64(big)/float64(small))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
