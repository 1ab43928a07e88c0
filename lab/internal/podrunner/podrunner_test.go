package podrunner

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestProgramOfImage(t *testing.T) {
	for _, row := range []struct {
		image, want, reason string
	}{
		{"fluxcd/source-controller", "source-controller", "without a tag"},
		{"ghcr.io/fluxcd/source-controller:v1.9.5", "source-controller", "with a tag"},
		{"localhost:5000/mirror/kustomize-controller:v1@sha256:00", "kustomize-controller", "from a mirror with a port, with a digest"},
		{"ghcr.io/fluxcd/helm-controller:v1", "", "a program that is not run here"},
		{"example.com/my-source-controller:v1", "", "a name that only ends alike"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "sidecar"}, {Image: row.image}}}}
		program, _, found := ProgramOf(pod)
		if program.Name != row.want || found != (row.want != "") {
			t.Errorf("%s: program %q (%t), want %q: %s", row.image, program.Name, found, row.want, row.reason)
		}
	}
}

func TestArguments(t *testing.T) {
	env := map[string]string{"RUNTIME_NAMESPACE": "flux"}
	replaced := map[string]string{"health-addr": "127.0.0.1:1", "events-addr": ""}
	for _, row := range []struct {
		given, want []string
		reason      string
	}{
		{[]string{"--log-level=info"}, []string{"--log-level=info"}, "what does not collide stays"},
		{[]string{"--health-addr=:9440", "--concurrent=3"}, []string{"--concurrent=3"}, "a flag with its value"},
		{[]string{"--health-addr", ":9440", "--concurrent=3"}, []string{"--concurrent=3"}, "a flag and its value"},
		{[]string{"-health-addr=:9440"}, nil, "one hyphen is as good as two"},
		{[]string{"--health-addr", "--concurrent=3"}, []string{"--concurrent=3"}, "a flag without a value"},
		{[]string{"--events-addr=http://n.$(RUNTIME_NAMESPACE)/", "--watch-label-selector=ns=$(RUNTIME_NAMESPACE)"}, []string{"--watch-label-selector=ns=flux"}, "variables are expanded"},
	} {
		want := append(row.want, "--events-addr=", "--health-addr=127.0.0.1:1")
		if got := arguments(corev1.Container{Args: row.given}, env, replaced); !slices.Equal(got, want) {
			t.Errorf("%s: %q becomes %q, want %q", row.reason, row.given, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "flux", Name: "pod"}}
	env := environment(pod, corev1.Container{Env: []corev1.EnvVar{
		{Name: "PLAIN", Value: "value"},
		{Name: "COMPOSED", Value: "$(PLAIN)-$(RUNTIME_NAMESPACE)"},
		{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
	}})
	if got, want := pairs(env), []string{"COMPOSED=value-flux", "PLAIN=value", "POD=pod", "RUNTIME_NAMESPACE=flux"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestStatusFollowsTheProcess(t *testing.T) {
	pod := &corev1.Pod{}
	container := corev1.Container{Name: "manager", Image: "image"}
	early, late := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	for _, row := range []struct {
		state   State
		phase   corev1.PodPhase
		ready   corev1.ConditionStatus
		waiting string
		reason  string
	}{
		{State{Message: "building"}, corev1.PodPending, corev1.ConditionFalse, "ContainerCreating", "nothing runs yet"},
		{State{Running: true}, corev1.PodRunning, corev1.ConditionFalse, "", "it runs and is not ready"},
		{State{Running: true, Ready: true}, corev1.PodRunning, corev1.ConditionTrue, "", "it is ready"},
		{State{Restarts: 1, Message: "ended"}, corev1.PodRunning, corev1.ConditionFalse, "CrashLoopBackOff", "it has ended and will be started again"},
		{State{Ended: true, Restarts: 1}, corev1.PodSucceeded, corev1.ConditionFalse, "", "it has ended for good"},
		{State{Ended: true, Code: 3, Restarts: 1}, corev1.PodFailed, corev1.ConditionFalse, "", "it has ended for good, and badly"},
	} {
		setStatus(pod, container, row.state, early)
		early = late
		status := pod.Status.ContainerStatuses[0]
		waiting := ""
		if status.State.Waiting != nil {
			waiting = status.State.Waiting.Reason
		}
		if ready := condition(pod, corev1.PodReady); pod.Status.Phase != row.phase || ready.Status != row.ready || waiting != row.waiting || status.RestartCount != row.state.Restarts {
			t.Errorf("%s: phase %s, ready %s, waiting %q, restarts %d", row.reason, pod.Status.Phase, ready.Status, waiting, status.RestartCount)
		}
	}
	if time := condition(pod, corev1.PodInitialized).LastTransitionTime; time.Unix() != 1 {
		t.Errorf("a condition that never changed has the time %s", time)
	}
	if time := condition(pod, corev1.PodReady).LastTransitionTime; time.Unix() != 2 {
		t.Errorf("a condition that changed has the time %s", time)
	}
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}
