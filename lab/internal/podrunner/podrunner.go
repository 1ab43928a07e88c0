// Package podrunner is the kubelet for a few known programs, and for images of the lab's
// registry: it runs their pods as plain processes, with the arguments, the environment and the
// service account that the pods ask for, and reports about them in the pods' status. So
// installing such a program by its manifests works as it does on a cluster with nodes:
// Deployments roll out, scale and are deleted.
//
// A known program is one that the lab has built. Of an image, what runs is what is in it: the
// image is pulled by the reference of the pod and unpacked, and its entry point sees these files,
// the volumes of the pod, and no other file. It runs as the user of the pod without capabilities,
// and cannot write to a root that the pod wants to be read-only.
//
// This is no isolation. The process has the network, the process table and the memory of the
// machine; network policies, limits, and profiles for system calls do nothing; outside, it is the
// user that runs the lab. So do not run what you do not trust. A pod that asks for what is not
// done here, such as a second container or a probe that is a command, does not run, and its
// status says why.
package podrunner

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Node is the name of the node that pods are bound to if no scheduler binds them. The node has no
// object.
const Node = "lab"

// Host starts and stops the processes of pods.
type Host interface {
	// Start starts a pod's program. ended is called when the process ends
	// without Stop, restarting says whether the host will start it again.
	Start(ctx context.Context, pod *corev1.Pod, run Run) error
	// Stop ends a pod's program, if it runs, and forgets it.
	Stop(pod types.UID)
}

// Run is what to run for a pod.
type Run struct {
	Program Program
	Args    []string
	Env     []string
	// Health is the address on which the program says whether it is ready.
	Health string
	// Token is of the pod's service account; empty if the pod wants none.
	Token string
	// Container is what runs instead of a program that the lab has built.
	Container *Container
	// Live and Ready are the addresses that are asked whether the container is in order;
	// empty if nothing is asked.
	Live, Ready *Probe
	// Once says that the process is not started again when it has ended.
	Once bool
	// Changed is to be called when the process has started, became ready or ended.
	Changed func(State)
}

// State is what is known about a pod's process.
type State struct {
	Running  bool
	Ready    bool
	Message  string
	Restarts int32
	// Ended says that the process has ended for good, and Code how.
	Ended bool
	Code  int32
}

// Runner runs the pods of one cluster.
type Runner struct {
	Client  kubernetes.Interface
	Host    Host
	Prepare func(pod *corev1.Pod, program Program) (Prepared, error)
	// Images runs pods whose images are in the lab's registry.
	Images Images
	Log    *slog.Logger

	mu   sync.Mutex
	pods map[types.UID]*running
}

// running is a pod that the runner has taken over.
type running struct {
	cancel context.CancelFunc
	states chan State
}

// Start follows the cluster's pods until the context ends.
func (r *Runner) Start(ctx context.Context) error {
	r.pods = map[types.UID]*running{}
	factory := informers.NewSharedInformerFactory(r.Client, 0)
	pods := factory.Core().V1().Pods().Informer()
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.observe(ctx, object) },
		UpdateFunc: func(_, object any) { r.observe(ctx, object) },
		DeleteFunc: func(object any) { r.deleted(object) },
	})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	factory.Start(ctx.Done())
	return nil
}

// ProgramOf returns the program that a pod is for, if it is one of ours.
func ProgramOf(pod *corev1.Pod) (Program, corev1.Container, bool) {
	for _, container := range pod.Spec.Containers {
		repository, _, _ := strings.Cut(path.Base(container.Image), "@")
		name, _, _ := strings.Cut(repository, ":")
		for _, program := range programs {
			if program.Name == name {
				return program, container, true
			}
		}
	}
	return Program{}, corev1.Container{}, false
}

func (r *Runner) observe(ctx context.Context, object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	program, container, ours := ProgramOf(pod)
	if !ours {
		program, container, ours = r.Images.programOf(pod)
	}
	if !ours {
		return
	}
	if pod.DeletionTimestamp != nil {
		r.end(pod.UID)
		go r.confirmDeletion(ctx, pod)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.pods[pod.UID]; known || finished(pod) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	taken := &running{cancel: cancel, states: make(chan State, 16)}
	r.pods[pod.UID] = taken
	go r.run(ctx, pod, program, container, taken)
}

func finished(pod *corev1.Pod) bool {
	return slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, pod.Status.Phase)
}

func (r *Runner) deleted(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		r.end(pod.UID)
	}
}

func (r *Runner) end(pod types.UID) {
	r.mu.Lock()
	taken, known := r.pods[pod]
	delete(r.pods, pod)
	r.mu.Unlock()
	if known {
		taken.cancel()
		r.Host.Stop(pod)
	}
}

// confirmDeletion tells the API server that nothing of the pod runs any more.
func (r *Runner) confirmDeletion(ctx context.Context, pod *corev1.Pod) {
	now := int64(0)
	err := r.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.Log.Error("cannot confirm the deletion of a pod", "pod", pod.Namespace+"/"+pod.Name, "error", err)
	}
}

// run binds a pod, starts its program and reports until the pod ends.
func (r *Runner) run(ctx context.Context, pod *corev1.Pod, program Program, container corev1.Container, taken *running) {
	log := r.Log.With("pod", pod.Namespace+"/"+pod.Name)
	if err := r.bind(ctx, pod); err != nil {
		log.Error("cannot bind the pod", "error", err)
	}
	report := func(state State) {
		if err := r.report(ctx, pod, container, state); err != nil && ctx.Err() == nil {
			log.Error("cannot report about the pod", "error", err)
		}
	}
	report(State{Message: "the lab makes " + program.Name + " ready to run"})
	run, err := r.prepared(ctx, pod, program, container, report)
	if err == nil {
		run.Changed = func(state State) {
			select {
			case taken.states <- state:
			case <-ctx.Done():
			}
		}
		err = r.Host.Start(ctx, pod, run)
	}
	if err != nil {
		log.Error("cannot run the pod", "error", err)
		report(State{Message: err.Error()})
		return
	}
	for {
		select {
		case state := <-taken.states:
			log.Info("pod changed", "running", state.Running, "ready", state.Ready, "message", state.Message)
			report(state)
		case <-ctx.Done():
			return
		}
	}
}

// firstPause and longestPause are those between attempts to make a pod ready to run.
const firstPause, longestPause = time.Second, 10 * time.Second

// prepared makes a pod ready to run. Like a kubelet, it tries again until the pod ends: a Secret that a
// pod mounts may come later, and an API server may not answer for a moment.
func (r *Runner) prepared(ctx context.Context, pod *corev1.Pod, program Program, container corev1.Container, report func(State)) (Run, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		run, err := r.prepare(ctx, pod, program, container, report)
		if err == nil {
			return run, nil
		}
		r.Log.Error("the pod is not ready to run yet", "pod", pod.Namespace+"/"+pod.Name, "error", err)
		report(State{Message: err.Error()})
		select {
		case <-ctx.Done():
			return Run{}, err
		case <-time.After(pause):
		}
	}
}

// bind does the scheduler's work where there is no scheduler. Where there is
// one, whichever is first wins; to the process, the node's name is nothing.
func (r *Runner) bind(ctx context.Context, pod *corev1.Pod) error {
	if pod.Spec.NodeName != "" {
		return nil
	}
	err := r.Client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: Node},
	}, metav1.CreateOptions{})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// report writes the pod's status.
func (r *Runner) report(ctx context.Context, pod *corev1.Pod, container corev1.Container, state State) error {
	const attempts = 5
	var err error
	for range attempts {
		var current *corev1.Pod
		current, err = r.Client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || current.UID != pod.UID || current.DeletionTimestamp != nil {
			return client(err)
		}
		setStatus(current, container, state, metav1.NewTime(time.Now()))
		_, err = r.Client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, current, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			return client(err)
		}
	}
	return err
}

// client drops the error that says that the pod no longer exists: then there is nothing to report.
func client(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
