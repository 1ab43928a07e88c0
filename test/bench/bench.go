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
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const (
	// writesPerInstallation is the budget of the smallest case.
	writesPerInstallation = 12
	serverUser            = "landscaper-server"
	deployerUser          = "landscaper-deployer"
	// creators is how many clients create objects at the same time.
	creators = 8
)

// bench is a lab with a server.
type bench struct {
	lab              *lab.Lab
	admin, workload  client.WithWatch
	serverKubeconfig string
	targetKubeconfig string
	server           *landscape.Server
}

func start(ctx context.Context) (*bench, error) {
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}})
	if err != nil {
		return nil, fmt.Errorf("start the lab: %w", err)
	}
	b := &bench{lab: started}
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
	if b.server != nil {
		if err := b.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	if err := b.lab.Down(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// startServer starts the server, or ends the running one and starts another.
func (b *bench) startServer(ctx context.Context, env ...string) error {
	if b.server != nil {
		if err := b.server.Stop(); err != nil {
			return err
		}
	}
	var err error
	b.server, err = landscape.Start(ctx, landscape.Options{
		Kubeconfig: b.serverKubeconfig, Quiet: true, Log: filepath.Join(b.lab.Directory, "landscaper.log"), Env: env,
	})
	return err
}

// calibrate returns how many status writes per second the API server can do.
func (b *bench) calibrate(ctx context.Context, duration time.Duration) (float64, error) {
	space, err := b.namespace(ctx)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var count atomic.Int64
	began := time.Now()
	err = inParallel(16, 16, func(i int) error {
		inst := newInstallation(space, fmt.Sprintf("calibration-%d", i))
		inst.Annotations = nil
		if err := b.admin.Create(ctx, inst); err != nil {
			return err
		}
		for n := 0; ctx.Err() == nil; n++ {
			inst.Status.ObservedGeneration, inst.Status.JobIDFinished = 1, strconv.Itoa(n)
			err := b.admin.Status().Update(ctx, inst)
			if err != nil && ctx.Err() == nil {
				return err
			}
			count.Add(1)
		}
		return nil
	})
	return float64(count.Load()) / time.Since(began).Seconds(), err
}

// countRequests counts the requests of the smallest case. The first one pays for
// what is done once for a cluster and is not counted.
func (b *bench) countRequests(ctx context.Context) (map[string]int, error) {
	if _, err := b.latency(ctx, 1); err != nil {
		return nil, err
	}
	counted, err := b.count(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := b.latency(ctx, 1); err != nil {
		return nil, err
	}
	return b.requests(ctx, counted)
}

// count counts what our users request from now on.
func (b *bench) count(ctx context.Context) (*landscape.Count, error) {
	return landscape.StartCount(ctx,
		landscape.Caller{Cluster: b.lab.Clusters["resource"], User: serverUser},
		landscape.Caller{Cluster: b.lab.Clusters["target"], User: deployerUser})
}

// requests sums up by cluster, verb and kind.
func (b *bench) requests(ctx context.Context, count *landscape.Count) (map[string]int, error) {
	requests, err := count.Requests(ctx)
	return landscape.Sums(requests), err
}

// latency brings up Installations one after the other.
func (b *bench) latency(ctx context.Context, count int) (Latency, error) {
	space, err := b.namespace(ctx)
	if err != nil {
		return Latency{}, err
	}
	events, err := b.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space))
	if err != nil {
		return Latency{}, err
	}
	defer events.Stop()
	var times []float64
	for i := range count {
		began := time.Now()
		if err := b.admin.Create(ctx, newInstallation(space, fmt.Sprintf("single-%d", i))); err != nil {
			return Latency{}, err
		}
		for event := range events.ResultChan() {
			inst, ok := event.Object.(*v1alpha1.Installation)
			if !ok || inst.Name != fmt.Sprintf("single-%d", i) || inst.Status.JobID == "" || inst.Status.JobIDFinished != inst.Status.JobID {
				continue
			}
			if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
				return Latency{}, fmt.Errorf("installation %s: %+v", inst.Name, inst.Status.LastError)
			}
			times = append(times, float64(time.Since(began).Microseconds())/1000)
			break
		}
	}
	if len(times) < count {
		return Latency{}, errors.New("the watch ended")
	}
	slices.Sort(times)
	trip, err := b.roundTrip(ctx, space, 100)
	if err != nil {
		return Latency{}, err
	}
	result := Latency{Count: count, Median: times[count/2], P90: times[count*9/10], Max: times[count-1]}
	result.RoundTrips = result.Median * 1000 / float64(trip.Microseconds())
	return result, nil
}

// total is how many requests there were.
func total(counts map[string]int) int {
	sum := 0
	for _, count := range counts {
		sum += count
	}
	return sum
}

// idle counts the requests of a server that has nothing to do.
func (b *bench) idle(ctx context.Context, duration time.Duration) (float64, error) {
	counted, err := b.count(ctx)
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(duration):
	}
	counts, err := b.requests(ctx, counted)
	return float64(total(counts)) / duration.Minutes(), err
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

// exponent says how a total grows between two runs, given the cost of each part.
func exponent(small, big Run, each func(Run) float64) float64 {
	all := func(r Run) float64 { return each(r) * float64(r.Installations) }
	return math.Log(all(big)/all(small)) / math.Log(float64(big.Installations)/float64(small.Installations))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
