package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/install"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/test/lab"
)

const (
	// writesPerInstallation is the budget of the smallest case.
	writesPerInstallation = 14
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
	process          *exec.Cmd
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
	if b.admin, err = connect(resource.Kubeconfig); err != nil {
		return err
	}
	if b.workload, err = connect(target.Kubeconfig); err != nil {
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

func connect(kubeconfig string) (client.WithWatch, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	return client.NewWithWatch(config, client.Options{Scheme: scheme()})
}

func (b *bench) stop() {
	if b.process != nil {
		_ = b.process.Process.Signal(syscall.SIGTERM)
		_ = b.process.Wait()
	}
	if err := b.lab.Down(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

func (b *bench) startServer(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	health := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(b.lab.Directory, "landscaper.log"))
	if err != nil {
		return err
	}
	b.process = exec.Command("bin/landscaper", "run", "--kubeconfig", b.serverKubeconfig, "--metrics-address", "0", "--health-address", health)
	b.process.Stdout, b.process.Stderr = log, log
	b.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.process.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	return server.WaitReady(ctx, health)
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
	marks, err := b.marks(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := b.latency(ctx, 1); err != nil {
		return nil, err
	}
	return b.requests(ctx, marks)
}

func (b *bench) marks(ctx context.Context) (map[string]lab.Mark, error) {
	marks := map[string]lab.Mark{}
	for name, cluster := range b.lab.Clusters {
		mark, err := cluster.Mark(ctx)
		if err != nil {
			return nil, err
		}
		marks[name] = mark
	}
	return marks, nil
}

// requests counts what our users have requested since the marks, by cluster, verb
// and kind.
func (b *bench) requests(ctx context.Context, marks map[string]lab.Mark) (map[string]int, error) {
	counts := map[string]int{}
	for name, user := range map[string]string{"resource": serverUser, "target": deployerUser} {
		list, err := b.lab.Clusters[name].Requests(ctx, marks[name], user)
		if err != nil {
			return nil, err
		}
		for _, request := range list {
			if request.Verb != "watch" && !strings.HasPrefix(request.Resource, "leases") {
				counts[name+" "+request.Verb+" "+request.Resource]++
			}
		}
	}
	return counts, nil
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
	return Latency{Count: count, Median: times[count/2], P90: times[count*9/10], Max: times[count-1]}, nil
}

// idle counts the requests of a server that has nothing to do.
func (b *bench) idle(ctx context.Context, duration time.Duration) (float64, error) {
	marks, err := b.marks(ctx)
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(duration):
	}
	counts, err := b.requests(ctx, marks)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, count := range counts {
		total += count
	}
	return float64(total) / duration.Minutes(), nil
}

// many brings up Installations at once in one namespace.
func (b *bench) many(ctx context.Context, count int) (*Run, error) {
	space, err := b.namespace(ctx)
	if err != nil {
		return nil, err
	}
	marks, err := b.marks(ctx)
	if err != nil {
		return nil, err
	}
	cpu, err := b.cpu()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	events, err := b.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space))
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	began := time.Now()
	created := make(chan error, 1)
	go func() {
		created <- inParallel(count, creators, func(i int) error {
			return b.admin.Create(ctx, newInstallation(space, fmt.Sprintf("unit-%04d", i)))
		})
	}()
	finished := map[string]time.Duration{}
	for len(finished) < count {
		event, open := <-events.ResultChan()
		if !open {
			return nil, fmt.Errorf("the watch ended after %d of %d Installations", len(finished), count)
		}
		inst, ok := event.Object.(*v1alpha1.Installation)
		if !ok || inst.Status.JobID == "" || inst.Status.JobIDFinished != inst.Status.JobID {
			continue
		}
		if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			return nil, fmt.Errorf("installation %s: %+v", inst.Name, inst.Status.LastError)
		}
		if _, known := finished[inst.Name]; !known {
			finished[inst.Name] = time.Since(began)
		}
	}
	if err := <-created; err != nil {
		return nil, err
	}
	return b.summarize(ctx, count, marks, cpu, slices.Sorted(maps.Values(finished)))
}

func (b *bench) summarize(ctx context.Context, count int, marks map[string]lab.Mark, cpuBefore time.Duration, finished []time.Duration) (*Run, error) {
	cpu, err := b.cpu()
	if err != nil {
		return nil, err
	}
	counts, err := b.requests(ctx, marks)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	memory, err := b.memory()
	if err != nil {
		return nil, err
	}
	last := finished[count-1]
	return &Run{
		Installations: count, Seconds: last.Seconds(), PerSecond: float64(count) / last.Seconds(),
		CPUMillis:    float64((cpu - cpuBefore).Microseconds()) / 1000 / float64(count),
		RequestsEach: float64(total) / float64(count), FirstHalfAt: finished[count/2-1].Seconds() / last.Seconds(),
		MaxMemoryMBytes: memory,
	}, nil
}

// cpu returns the CPU time of the server so far.
func (b *bench) cpu() (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.process.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of the server: %w", err)
	}
	// The name of the program may contain blanks; it ends with a parenthesis.
	_, after, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(after)
	var ticks int64
	for _, field := range fields[11:13] {
		value, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of the server: %w", err)
		}
		ticks += value
	}
	const ticksPerSecond = 100
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// memory returns the largest memory use of the server so far, in MB.
func (b *bench) memory() (float64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.process.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of the server: %w", err)
	}
	_, after, _ := strings.Cut(string(content), "VmHWM:")
	var kilobytes float64
	_, err = fmt.Sscan(after, &kilobytes)
	return kilobytes / 1024, err
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
	access, err := yaml.Marshal(map[string]string{"kubeconfig": b.targetKubeconfig})
	if err != nil {
		return "", err
	}
	raw, err := yaml.YAMLToJSON(access)
	if err != nil {
		return "", err
	}
	target := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "host"},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(raw)},
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
	total := func(r Run) float64 { return each(r) * float64(r.Installations) }
	return math.Log(total(big)/total(small)) / math.Log(float64(big.Installations)/float64(small.Installations))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
