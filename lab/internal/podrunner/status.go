package podrunner

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setStatus describes a process as a kubelet describes a pod.
func setStatus(pod *corev1.Pod, container corev1.Container, state State, now metav1.Time) {
	status := &pod.Status
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.Phase = corev1.PodPending
	status.Message = state.Message
	described := corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, ImageID: container.Image,
		Ready: state.Ready, Started: &state.Running, RestartCount: state.Restarts,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: state.Message}},
	}
	if state.Running {
		status.Phase = corev1.PodRunning
		status.HostIP, status.PodIP = "127.0.0.1", "127.0.0.1"
		status.HostIPs = []corev1.HostIP{{IP: status.HostIP}}
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
		described.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	} else if state.Ended {
		status.Phase = corev1.PodSucceeded
		if state.Code != 0 {
			status.Phase = corev1.PodFailed
		}
		described.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: state.Code, Reason: string(status.Phase), Message: state.Message, StartedAt: *status.StartTime, FinishedAt: now,
		}}
	} else if state.Restarts > 0 {
		status.Phase = corev1.PodRunning
		described.State.Waiting.Reason = "CrashLoopBackOff"
	}
	status.ContainerStatuses = []corev1.ContainerStatus{described}
	setCondition(status, corev1.PodInitialized, true, now)
	setCondition(status, corev1.ContainersReady, state.Ready, now)
	setCondition(status, corev1.PodReady, state.Ready, now)
}

func setCondition(status *corev1.PodStatus, kind corev1.PodConditionType, is bool, now metav1.Time) {
	value := corev1.ConditionFalse
	if is {
		value = corev1.ConditionTrue
	}
	for i, condition := range status.Conditions {
		if condition.Type != kind {
			continue
		}
		if condition.Status != value {
			status.Conditions[i].Status, status.Conditions[i].LastTransitionTime = value, now
		}
		return
	}
	status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: value, LastTransitionTime: now})
}
