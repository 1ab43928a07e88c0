package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/lab/internal/podrunner"
	"go.landscaper.dev/lab/internal/ports"
	"go.landscaper.dev/lab/internal/process"
)

// podHost runs the processes of a cluster's pods as components of the lab.
type podHost struct {
	supervisor *Supervisor
	cluster    *cluster

	mu   sync.Mutex
	pods map[types.UID]*component
}

// runPods starts to run the pods of a cluster that are for known programs.
func (s *Supervisor) runPods(ctx context.Context, c *cluster) error {
	host := &podHost{supervisor: s, cluster: c, pods: map[types.UID]*component{}}
	runner := &podrunner.Runner{
		Client: c.objects.Clientset, Host: host, Prepare: host.prepare, Log: s.log.With("cluster", c.Name),
	}
	// Where KWOK plays the kubelets, two would report about the same pod.
	if !slices.Contains(s.config.Kwok, c.Name) {
		runner.Images.Registry = s.openRegistry
	}
	return runner.Start(ctx)
}

// openRegistry is the address of the registry that needs no login; empty if the lab has no registry.
func (s *Supervisor) openRegistry() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.registry == nil || s.config.RegistryAuth || s.config.RegistryTLS {
		return ""
	}
	return s.registry.Address
}

func (h *podHost) directory(pod types.UID) string { return h.cluster.path("pods", string(pod)) }

// prepare sets a directory and ports aside.
func (h *podHost) prepare(pod *corev1.Pod, _ podrunner.Program) (podrunner.Prepared, error) {
	prepared := podrunner.Prepared{Directory: h.directory(pod.UID), API: strings.TrimPrefix(h.cluster.Server(), "https://"), Port: h.port}
	for _, directory := range []string{"storage", "tmp"} {
		if err := os.MkdirAll(filepath.Join(prepared.Directory, directory), 0o700); err != nil {
			return prepared, fmt.Errorf("make the directory of the pod: %w", err)
		}
	}
	for _, address := range []*string{&prepared.Metrics, &prepared.Health, &prepared.Storage} {
		var err error
		if *address, err = h.port(); err != nil {
			return prepared, err
		}
	}
	return prepared, nil
}

// port sets a port aside.
func (h *podHost) port() (string, error) {
	port, err := h.supervisor.ports.Reserve()
	return ports.Address(port), err
}

// Start starts a pod's program as a component that is named after the pod.
func (h *podHost) Start(ctx context.Context, pod *corev1.Pod, run podrunner.Run) error {
	spec, err := h.spec(ctx, pod, run)
	if err != nil {
		return err
	}
	c, err := h.supervisor.add(spec)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil { // the pod was deleted while we were busy, and Stop found nothing
		h.supervisor.remove(c)
		return ctx.Err()
	}
	h.pods[pod.UID] = c
	if err := c.start(); err != nil {
		return err
	}
	go h.keep(ctx, c, run)
	return nil
}

// spec describes the component of a pod.
func (h *podHost) spec(ctx context.Context, pod *corev1.Pod, run podrunner.Run) (Spec, error) {
	name := h.cluster.Name + "/" + pod.Name
	command := process.Command{Dir: h.directory(pod.UID), Log: h.supervisor.instance.Log(name)}
	if run.Container != nil {
		return h.containerSpec(name, run, command)
	}
	built, err := h.supervisor.workshop.Ensure(ctx, run.Program.Tool)
	if err != nil {
		return Spec{}, err
	}
	access, err := h.access(pod, run)
	if err != nil {
		return Spec{}, err
	}
	command.Program, command.Args = built.Program(run.Program.Tool.Name), run.Args
	// A kubeconfig that the pod names itself has precedence over that of its service account.
	command.Env = slices.Concat(access, run.Env, []string{"HOME=" + command.Dir,
		"TMPDIR=" + filepath.Join(command.Dir, "tmp"), "PATH=" + os.Getenv("PATH")})
	return Spec{Name: name, Command: command, Ready: healthy(run.Health)}, nil
}

// containerSpec runs this program first, which changes what it sees and becomes that of the image.
func (h *podHost) containerSpec(name string, run podrunner.Run, command process.Command) (Spec, error) {
	if err := run.Container.Prepare(); err != nil {
		return Spec{}, fmt.Errorf("prepare the files of the image: %w", err)
	}
	encoded, err := json.Marshal(run.Container)
	if err != nil {
		return Spec{}, fmt.Errorf("encode the container: %w", err)
	}
	file := filepath.Join(command.Dir, "container.json")
	if err := writeFiles(map[string][]byte{file: encoded}); err != nil {
		return Spec{}, err
	}
	if command.Program, err = os.Executable(); err != nil {
		return Spec{}, fmt.Errorf("find this program: %w", err)
	}
	command.Args = []string{"serve", "container", file}
	command.User = &process.User{UID: run.Container.UID, GID: run.Container.GID}
	ready := func(context.Context) error { return nil }
	if run.Ready != nil {
		ready = run.Ready.Ask
	}
	return Spec{Name: name, Command: command, Ready: ready}, nil
}

// access is the way of a pod to the API server as its service account, if it wants that.
func (h *podHost) access(pod *corev1.Pod, run podrunner.Run) ([]string, error) {
	if run.Token == "" {
		return nil, nil
	}
	kubeconfig := filepath.Join(h.directory(pod.UID), "kubeconfig")
	user := "system:serviceaccount:" + pod.Namespace + ":" + pod.Spec.ServiceAccountName
	if err := h.cluster.TokenAccess(user, run.Token).Write(kubeconfig); err != nil {
		return nil, err
	}
	return []string{"KUBECONFIG=" + kubeconfig}, nil
}

func healthy(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("/readyz: %s", response.Status)
		}
		return nil
	}
}

// keep reports about a pod's process and starts it again when it ends by itself. A process that was
// killed on purpose stays down until it is restarted.
func (h *podHost) keep(ctx context.Context, c *component, run podrunner.Run) {
	for ctx.Err() == nil {
		present := c.current()
		restarts := int32(c.report().Restarts)
		run.Changed(podrunner.State{Running: true, Restarts: restarts})
		// As with a kubelet, an end before that is a restart that the pod shows.
		waiting, cancel := context.WithTimeout(ctx, readyTimeout)
		if ready, err := c.awaitReady(waiting, present); err == nil && ready {
			run.Changed(podrunner.State{Running: true, Ready: true, Restarts: restarts})
		}
		cancel()
		h.watch(ctx, present, run, restarts)
		if ctx.Err() != nil {
			return
		}
		if run.Once {
			run.Changed(podrunner.State{Ended: true, Code: int32(present.ExitCode()), Restarts: restarts, Message: c.logEnd()})
			return
		}
		run.Changed(podrunner.State{Restarts: restarts + 1, Message: run.Program.Name + " has ended: " + present.Exit()})
		if !h.startAgain(ctx, c, present) {
			return
		}
	}
}

// watch asks the probes of a container until its process has ended. A container that is not alive
// is killed; one that is not ready says so.
func (h *podHost) watch(ctx context.Context, present *process.Process, run podrunner.Run, restarts int32) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go repeat(ctx, run.Live, func(failed bool) {
		if failed {
			h.supervisor.log.Warn("a container is not alive", "program", run.Program.Name)
			_ = present.Signal(syscall.SIGKILL)
		}
	})
	go repeat(ctx, run.Ready, func(failed bool) {
		run.Changed(podrunner.State{Running: true, Ready: !failed, Restarts: restarts})
	})
	select {
	case <-present.Done():
	case <-ctx.Done():
	}
}

// repeat asks a probe again and again, and reports each change: of one that is in order at first.
func repeat(ctx context.Context, probe *podrunner.Probe, changed func(failed bool)) {
	if probe == nil || sleep(ctx, probe.Delay) != nil {
		return
	}
	failed, bad := false, 0
	for sleep(ctx, probe.Period) == nil {
		if probe.Ask(ctx) == nil {
			bad = 0
		} else if ctx.Err() == nil {
			bad++
		}
		if now := bad >= probe.Failures || failed && bad > 0; now != failed {
			failed = now
			changed(failed)
		}
	}
}

// startAgain waits until there is a new process, or makes it after a pause.
func (h *podHost) startAgain(ctx context.Context, c *component, ended *process.Process) bool {
	const pause = time.Second
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
		if c.current() != ended {
			return true // it was restarted meanwhile
		}
		again, err := c.revive(ended)
		if err != nil {
			h.supervisor.log.Error("cannot start a pod's program again", "component", c.spec.Name, "error", err)
			return false
		}
		if again {
			return true
		}
	}
}

// Stop gives the program a moment to end by itself, and removes what it left.
func (h *podHost) Stop(pod types.UID) {
	h.mu.Lock()
	c, known := h.pods[pod]
	delete(h.pods, pod)
	h.mu.Unlock()
	if !known {
		return
	}
	h.supervisor.remove(c)
	if running := c.current(); running != nil {
		_ = running.Signal(syscall.SIGTERM)
		select {
		case <-running.Done():
		case <-time.After(3 * time.Second):
		}
	}
	if err := c.retire(); err != nil {
		h.supervisor.log.Error("cannot stop a pod's program", "component", c.spec.Name, "error", err)
	}
	_ = os.RemoveAll(h.directory(pod))
}
