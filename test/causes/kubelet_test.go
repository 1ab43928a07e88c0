package causes

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fateLabel says what becomes of a pod.
const fateLabel = "causes.example/fate"

// playKubelet writes into the status of pods what a scheduler and a kubelet would, by
// their label. The cluster has no nodes.
func playKubelet(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		for ctx.Err() == nil {
			events, err := env.Workload.Watch(ctx, &corev1.PodList{}, client.HasLabels{fateLabel})
			if err != nil {
				continue
			}
			for event := range events.ResultChan() {
				if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == "ADDED" {
					befall(ctx, pod)
				}
			}
		}
	}()
}

// befall lets a pod have its fate; what cannot be written shows in the rows.
func befall(ctx context.Context, pod *corev1.Pod) {
	base := client.MergeFrom(pod.DeepCopy())
	container := corev1.ContainerStatus{Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image}
	switch pod.Labels[fateLabel] {
	case "unschedulable":
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/3 nodes are available: 3 Insufficient cpu.", LastTransitionTime: metav1.Now(),
		}}
	case "no-image":
		container.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "registry.example.org/web:1"`}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{container}
	case "crash":
		container.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s restarting failed container"}
		container.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}
		container.RestartCount = 4
		pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodRunning, []corev1.ContainerStatus{container}
	case "fail":
		container.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}
		pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodFailed, []corev1.ContainerStatus{container}
	}
	_ = env.Workload.Status().Patch(ctx, pod, base) // the pod may no longer exist
}

// pods is a template of pods with a fate.
func pods(fate string) m {
	return m{"metadata": m{"labels": m{"app": "web", fateLabel: fate}}, "spec": m{"containers": list{m{"name": "server", "image": "registry.example.org/web:1"}}}}
}

// deployment is one of pods with a fate.
func deployment(space, fate string) m {
	return m{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": m{"name": "web", "namespace": space}, "spec": m{
		"replicas": 1, "selector": m{"matchLabels": m{"app": "web"}}, "template": pods(fate),
	}}
}

// job is one of a pod with a fate.
func job(space, fate string) m {
	template := pods(fate)
	template["spec"].(m)["restartPolicy"] = "Never"
	return m{"apiVersion": "batch/v1", "kind": "Job", "metadata": m{"name": "migrate", "namespace": space}, "spec": m{"backoffLimit": 0, "template": template}}
}

// awaitQuota returns when the limits of a quota are in force.
func (s *stage) awaitQuota(name string) {
	s.Helper()
	quota := &corev1.ResourceQuota{}
	for end := time.Now().Add(time.Minute); len(quota.Status.Hard) == 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("quota %s is not in force", name)
		}
		if err := env.Workload.Get(s.Context(), client.ObjectKey{Namespace: s.space, Name: name}, quota); err != nil {
			s.Fatal(err)
		}
	}
}

// applyAs applies an object as another field manager.
func (s *stage) applyAs(manager string, object *unstructured.Unstructured) {
	s.Helper()
	if err := env.Workload.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(manager)); err != nil {
		s.Fatal(err)
	}
}
