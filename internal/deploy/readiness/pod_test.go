package readiness

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestPodProblem has pods as kubelet and scheduler leave them.
func TestPodProblem(t *testing.T) {
	waiting := func(reason, message string) string {
		return `status: {phase: Pending, containerStatuses: [{name: app, image: "example.org/app:1", ready: false, state: {waiting: {reason: "` + reason + `", message: "` + message + `"}}}]}`
	}
	for _, row := range []struct{ reason, pod, want string }{
		{"no node has free capacity", `status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available: 3 Insufficient cpu."}]}`,
			"it cannot be scheduled (Unschedulable): 0/3 nodes are available: 3 Insufficient cpu."},
		{"a claim is pending", `{spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: data-0}}, {name: b}]}, status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "pod has unbound immediate PersistentVolumeClaims"}]}}`,
			"it cannot be scheduled (Unschedulable): pod has unbound immediate PersistentVolumeClaims (PersistentVolumeClaim data-0)"},
		{"the pod has a scheduling gate", `status: {conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]}`, "it cannot be scheduled (SchedulingGated)"},
		{"the image does not exist", waiting("ErrImagePull", "rpc error: code = NotFound desc = failed to resolve reference example.org/app:1: not found"), "container app cannot pull image example.org/app:1 (ErrImagePull: not found)"},
		{"the registry wants credentials", waiting("ImagePullBackOff", "Back-off pulling image: ErrImagePull: failed to authorize: 401 Unauthorized"), "container app cannot pull image example.org/app:1 (ImagePullBackOff: the registry refuses it: check the pull secret)"},
		{"the image has no valid name", waiting("InvalidImageName", "hunter2hunter2"), "container app cannot pull image example.org/app:1 (InvalidImageName)"},
		{"a Secret is missing", waiting("CreateContainerConfigError", `secret \"db\" not found`), "container app cannot be started (CreateContainerConfigError: Secret db does not exist)"},
		{"a key is missing", waiting("CreateContainerConfigError", "couldn't find key hunter2hunter2 in ConfigMap ns/db"), "container app cannot be started (CreateContainerConfigError: ConfigMap ns/db lacks a key)"},
		{"the command does not exist", waiting("RunContainerError", `exec: \"hunter2hunter2\": executable file not found in $PATH`), "container app cannot be started (RunContainerError: its command does not exist in the image)"},
		{"a node says something else", waiting("RunContainerError", "hunter2hunter2"), "container app cannot be started (RunContainerError)"},
		{"the container is being created", waiting("ContainerCreating", ""), "container app is being created (ContainerCreating)"},
		{"the container ends again and again", `status: {containerStatuses: [{name: app, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}`,
			"container app ends again and again (CrashLoopBackOff): exit code 137 (OOMKilled), 4 restarts"},
		{"the container has ended", `status: {containerStatuses: [{name: app, state: {terminated: {exitCode: 2, reason: Error, message: hunter2hunter2}}}]}`, "container app has ended with exit code 2"},
		{"an init container fails, the others wait for it", `status: {initContainerStatuses: [{name: migrate, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error}}}], containerStatuses: [{name: app, state: {waiting: {reason: PodInitializing}}}]}`,
			"init container migrate ends again and again (CrashLoopBackOff): exit code 1, 1 restarts"},
		{"a container is being created while another container fails", `status: {containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}, {name: b, state: {waiting: {reason: CrashLoopBackOff}}}]}`, "container b ends again and again (CrashLoopBackOff)"},
		{"the probe does not succeed", `status: {containerStatuses: [{name: app, ready: false, restartCount: 2, state: {running: {}}, lastState: {terminated: {exitCode: 143}}}]}`,
			"container app runs, but is not ready; it ended before with exit code 143, 2 restarts"},
		{"the pod was evicted", `status: {phase: Failed, reason: Evicted, message: hunter2hunter2}`, "it has failed (Evicted)"},
		{"a gate is closed", `status: {conditions: [{type: Ready, status: "False", reason: ReadinessGatesNotReady}], containerStatuses: [{name: app, ready: true, state: {running: {}}}]}`, "its condition Ready is False (ReadinessGatesNotReady)"},
		{"the pod is complete", `status: {phase: Succeeded, containerStatuses: [{name: app, state: {terminated: {exitCode: 0}}}]}`, ""},
		{"nothing is known", `status: {}`, ""},
		{"statuses of wrong types", `status: {phase: 7, conditions: no, containerStatuses: [7, null, {}, {name: {a: b}}]}`, ""},
		{"orders to a terminal", `status: {containerStatuses: [{name: "a\e[31m", image: "x\u202e\ny", state: {waiting: {reason: ErrImagePull}}}]}`, "container a[31m cannot pull image x y (ErrImagePull)"},
		{"a reason that is a sentence", `status: {containerStatuses: [{name: app, state: {waiting: {reason: "hunter2hunter2 is it"}}}]}`, "container app runs, but is not ready"},
		{"a message without end", `status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "` + strings.Repeat("x", 100_000) + `"}]}`,
			"it cannot be scheduled (Unschedulable): " + strings.Repeat("x", maxLine) + "…"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			got := podProblem(parse(t, row.pod))
			if got != row.want || strings.Contains(got, "hunter2") {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

const (
	unrolled = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}, spec: {replicas: 1, selector: {matchLabels: {app: web}, matchExpressions: [{key: track, operator: NotIn, values: [canary]}]}}}`
	crashing = `{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: ns, creationTimestamp: "2030-01-01T00:00:02Z", labels: {app: web}}, status: {containerStatuses: [{name: app, state: {waiting: {reason: CrashLoopBackOff}}}]}}`
)

// TestCausesAtASlowPace: pods are not looked at before a wait has lasted, then at a pace that slows
// down, and once more at the end. Changes of pods trigger nothing, so a timer does.
func TestCausesAtASlowPace(t *testing.T) {
	cluster, triggered := fakecluster.New(), make(chan struct{}, 1)
	cluster.Put(parse(t, crashing))
	causes := NewCauses(func() { triggered <- struct{}{} })
	defer causes.Close()
	clock := time.Unix(1000, 0)
	causes.now = func() time.Time { return clock }
	unready := []Unfinished{About(parse(t, unrolled), "too few replicas")}
	explain := func(last bool) string { return causes.Explain(t.Context(), cluster, unready, last)[0].Why }
	if got := explain(false); got != "too few replicas" || len(cluster.Counts()) != 0 {
		t.Errorf("a workload that has just begun: %q", got)
	}
	const want = "too few replicas; pod web-1: container app ends again and again (CrashLoopBackOff)"
	lists := 0
	for range 600 {
		clock = clock.Add(time.Second)
		if got := explain(false); clock.Unix() >= 1005 && got != want {
			t.Fatalf("after %s: %q", clock.Sub(time.Unix(1000, 0)), got)
		}
		lists += cluster.Counts()["list"]
	}
	if lists > 15 || lists < 10 {
		t.Errorf("%d lists in ten minutes", lists)
	}
	cluster.Put(parse(t, strings.Replace(crashing, "CrashLoopBackOff", "ErrImagePull", 1)))
	clock = clock.Add(2 * time.Second)
	if got := explain(true); !strings.Contains(got, "ErrImagePull") || unready[0].Why != "too few replicas" {
		t.Errorf("at the end: %q", got)
	}
	causes = NewCauses(func() { triggered <- struct{}{} })
	causes.now = func() time.Time { return clock }
	explain(false)
	causes.known["Deployment ns/web"].due = clock.Add(time.Millisecond)
	explain(false)
	<-triggered
	causes.Close()
}

func TestCausesOfWhat(t *testing.T) {
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	for _, row := range []struct {
		reason, object string
		pods           []string
		fault          error
		want           string
		requests       int
	}{
		{"a pod of it", unrolled, []string{crashing}, nil, "; pod web-1: container app ends again and again (CrashLoopBackOff)", 1},
		{"the newest pod counts", unrolled, []string{crashing, strings.NewReplacer("web-1", "web-0", "00:02Z", "00:01Z", "CrashLoopBackOff", "ErrImagePull").Replace(crashing)}, nil, "; pod web-1: container app ends again and again (CrashLoopBackOff)", 1},
		{"a pod that is ready is not to blame", unrolled, []string{crashing, strings.NewReplacer("web-1", "web-2", "00:02Z", "00:03Z", "status: {", `status: {conditions: [{type: Ready, status: "True"}], `).Replace(crashing)}, nil, "; pod web-1: container app ends again and again (CrashLoopBackOff)", 1},
		{"pods of others", unrolled, []string{strings.Replace(crashing, "app: web", "app: web, track: canary", 1), strings.Replace(crashing, "namespace: ns", "namespace: other", 1)}, nil, "; it has no pods", 1},
		{"a Job", `{apiVersion: batch/v1, kind: Job, metadata: {name: web, namespace: ns}, spec: {selector: {matchLabels: {app: web}}}}`, []string{crashing}, nil, "; pod web-1: container app ends again and again (CrashLoopBackOff)", 1},
		{"a ReplicationController", `{apiVersion: v1, kind: ReplicationController, metadata: {name: web, namespace: ns}, spec: {selector: {app: web}}}`, []string{crashing}, nil, "; pod web-1: container app ends again and again (CrashLoopBackOff)", 1},
		{"a pod itself costs nothing", crashing, nil, nil, "; container app ends again and again (CrashLoopBackOff)", 0},
		{"a quota refuses pods", strings.TrimSuffix(unrolled, "}") + `, status: {conditions: [{type: ReplicaFailure, status: "True", message: "pods \"web-1\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=5, limited: pods=5"}]}}`, nil, nil,
			"; it cannot create its pods: quota few of the namespace is used up (requested pods=1; used pods=5; limit pods=5)", 0},
		{"a webhook refuses pods", strings.TrimSuffix(unrolled, "}") + `, status: {conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, message: "admission webhook \"a.example.org\" denied the request: hunter2hunter2"}]}}`, nil, nil,
			"; it cannot create its pods: admission webhook a.example.org of the cluster refuses it", 0},
		{"pods are refused for another reason", strings.TrimSuffix(unrolled, "}") + `, status: {conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, message: "hunter2hunter2"}]}}`, nil, nil,
			"; it cannot create its pods: FailedCreate", 0},
		{"a selector that would choose all", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}, spec: {selector: {}}}`, []string{crashing}, nil, "", 0},
		{"a kind without pods", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: ns}, spec: {selector: {matchLabels: {app: web}}}}`, []string{crashing}, nil, "", 0},
		{"the right to list pods is missing", unrolled, []string{crashing}, refusal, "", 1},
		{"a cluster that does not answer", unrolled, []string{crashing}, errors.New("connection refused"), "", 1},
	} {
		t.Run(row.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			for _, pod := range row.pods {
				cluster.Put(parse(t, pod))
			}
			if row.fault != nil {
				cluster.Fault = func(fakecluster.Request) fakecluster.Fault { return fakecluster.Fault{Before: row.fault} }
			}
			causes := NewCauses(func() {})
			got := causes.Explain(t.Context(), cluster, []Unfinished{About(parse(t, row.object), "x")}, true)[0].Why
			if got != "x"+row.want {
				t.Errorf("%q, want %q", got, "x"+row.want)
			}
			if lists := cluster.Counts()["list"]; lists != row.requests {
				t.Errorf("%d lists, want %d", lists, row.requests)
			}
			if again := causes.Explain(t.Context(), cluster, []Unfinished{About(parse(t, row.object), "x")}, true)[0].Why; again != got || cluster.Counts()["list"] != 0 {
				t.Errorf("asked twice in a second: %q", again)
			}
			causes.Close()
		})
	}
}
