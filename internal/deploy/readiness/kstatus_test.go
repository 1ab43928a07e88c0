package readiness

import (
	"errors"
	"strings"
	"testing"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func TestKstatus(t *testing.T) {
	long := strings.Repeat("word ", 100)
	tests := []struct {
		reason, object, want string
		hopeless             bool
	}{
		{"a kind without conditions", `{apiVersion: v1, kind: ConfigMap}`, "", false},
		{"a custom resource that is ready", `{apiVersion: acme.example/v1, kind: Database, status: {conditions: [{type: Ready, status: "True"}]}}`, "", false},
		{"a custom resource that is not, and says why in several lines", `{apiVersion: acme.example/v1, kind: Database, status: {conditions: [{type: Ready, status: "False", message: "disk\n  is full"}]}}`, "disk is full", false},
		{"a long text is cut", `{apiVersion: acme.example/v1, kind: Database, status: {conditions: [{type: Ready, status: "False", message: ` + long + `}]}}`, "word …", false},
		{"the controller has not seen the change", `{apiVersion: acme.example/v1, kind: Database, metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}}`, "generation is 2", false},
		{"the controller works on the change", `{apiVersion: acme.example/v1, kind: Database, status: {conditions: [{type: Reconciling, status: "True", message: copying}]}}`, "copying", false},
		{"the controller has given up", `{apiVersion: acme.example/v1, kind: Database, status: {conditions: [{type: Stalled, status: "True", message: wrong class}]}}`, "wrong class", true},
		{"the object is being deleted", `{apiVersion: v1, kind: ConfigMap, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}}`, "deletion", false},
		{"a deployment that will not become ready", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`, "Progress deadline exceeded", true},
		{"a claim that is not bound", `{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}}`, "Pending", false},
		{"a claim that is not meant to be bound yet", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {annotations: {readiness.landscaper.gardener.cloud/skip: "true"}}, status: {phase: Pending}}`, "", false},
		{"a definition whose names are taken", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: NamesAccepted, status: "False", reason: Taken, message: taken}]}}`, "taken", true},
		{"a pod that crashes", `{apiVersion: v1, kind: Pod, status: {phase: Running, containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}}]}}`, "CrashLoop", true},
		{"a pod without a node waits for one", `{apiVersion: v1, kind: Pod, metadata: {creationTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`, "could not be scheduled", false},
		{"a job that has begun", `{apiVersion: batch/v1, kind: Job, status: {startTime: "2026-01-01T00:00:00Z", active: 1}}`, "its work is not complete", false},
		{"a job that is complete", `{apiVersion: batch/v1, kind: Job, status: {startTime: "2026-01-01T00:00:00Z", conditions: [{type: Complete, status: "True"}]}}`, "", false},
		{"a job that has failed", `{apiVersion: batch/v1, kind: Job, status: {startTime: "2026-01-01T00:00:00Z", failed: 3, conditions: [{type: Failed, status: "True"}]}}`, "Job Failed", true},
		{"a status of another type shows no value", `{apiVersion: v1, kind: Pod, status: {phase: top-secret-word}}`, "its status is not as", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := RuleOf(deployer.ReadinessModeKstatus)(parse(t, test.object))
			if got.Ready() != (test.want == "") || !strings.Contains(got.Why, test.want) || got.Hopeless != test.hopeless {
				t.Errorf("%+v, want %q", got, test.want)
			}
			if strings.Contains(got.Why, "top-secret-word") || strings.Contains(got.Why, "\n") || len(got.Why) > 2*maxLine {
				t.Errorf("the text is %q", got.Why)
			}
		})
	}
	if got := RuleOf("")(parse(t, tests[2].object)); !got.Ready() {
		t.Errorf("without the mode the object only has to exist: %+v", got)
	}
}

// TestVanishedJob shows that a Job which is deleted by itself is complete, and that any other
// object which is deleted is not ready.
func TestVanishedJob(t *testing.T) {
	for spec, want := range map[string]bool{"{ttlSecondsAfterFinished: 0}": true, "{}": false} {
		t.Run(spec, func(t *testing.T) {
			cluster := fakecluster.New()
			stored := cluster.Put(parse(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns}, spec: "+spec+"}"))
			mapping, err := cluster.Mapping(t.Context(), stored.GroupVersionKind())
			if err != nil {
				t.Fatal(err)
			}
			check := NewCheck(cluster, Kstatus, func() {})
			check.Add(mapping, stored)
			if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 {
				t.Fatalf("unready %v, error %v", unready, err)
			}
			cluster.Remove("Job", "ns", "j")
			if unready, err := check.Look(t.Context()); err != nil || (len(unready) == 0) != want {
				t.Errorf("%s: unready %v, error %v", spec, unready, err)
			}
		})
	}
}

// TestHopelessWithoutWatch reports what is hopeless also where nothing can be watched: no further
// look would change it.
func TestHopelessWithoutWatch(t *testing.T) {
	cluster := fakecluster.New()
	stored := cluster.Put(parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, status: {phase: Running, containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}}]}}`))
	cluster.NoWatch = errors.New("forbidden")
	mapping, err := cluster.Mapping(t.Context(), stored.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	check := NewCheck(cluster, Kstatus, func() {})
	check.Add(mapping, stored)
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 || !unready[0].Hopeless {
		t.Errorf("unready %v, error %v", unready, err)
	}
}

func TestExpressions(t *testing.T) {
	spec := &deployer.ReadinessExpressions{
		InProgress: "has(status.busy) && status.busy",
		Failed:     "has(status.error)",
		Current:    "status.phase == 'Running' && status.replicas >= 2",
	}
	compiled, err := newExpressions(spec)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason, object, want string
		hopeless             bool
	}{
		{"the object is ready", `{status: {phase: Running, replicas: 2}}`, "", false},
		{"the object is not ready yet", `{status: {phase: Running, replicas: 1}}`, "current does not hold yet", false},
		{"a field is missing", `{status: {phase: Running}}`, "current cannot be evaluated: there is no field replicas yet", false},
		{"nothing is there yet", `{}`, "inProgress cannot be evaluated: there is no field status yet", false},
		{"work counts before failures", `{status: {busy: true, error: disk}}`, "inProgress holds", false},
		{"a failure counts before success", `{status: {phase: Running, replicas: 2, error: disk}}`, "failed holds", true},
		{"what its controller has not seen is in progress", `{metadata: {generation: 3}, status: {observedGeneration: 2, error: disk}}`, "has seen generation 2, not yet 3", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := compiled.look(parse(t, test.object))
			if got.Ready() != (test.want == "") || !strings.Contains(got.Why, test.want) || got.Hopeless != test.hopeless {
				t.Errorf("%+v, want %q", got, test.want)
			}
		})
	}
}

func TestWrongExpressions(t *testing.T) {
	tests := []struct {
		reason string
		spec   deployer.ReadinessExpressions
		want   string
	}{
		{"nothing says when it is ready", deployer.ReadinessExpressions{Failed: "true"}, "current is missing"},
		{"an expression that is not valid", deployer.ReadinessExpressions{Current: "a ="}, "current: it is not an expression"},
		{"an expression that is not a condition", deployer.ReadinessExpressions{Current: "true", InProgress: "1"}, "inProgress: it is not a condition"},
		{"an expression with an unknown function", deployer.ReadinessExpressions{Current: "true", Failed: "f()"}, "failed: it has a function"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := newExpressions(&test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestExpressionsAndRequirements shows that a check with both needs both.
func TestExpressionsAndRequirements(t *testing.T) {
	checks, err := compileText(t, `[{name: c, resourceSelector: [{apiVersion: v1, kind: Pod, name: p}], expressions: {current: "status.a == 1"}, requirements: [{jsonPath: .status.b, operator: exists}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	check := checks[0]
	for object, want := range map[string]string{
		`{status: {a: 1, b: 1}}`: "",
		`{status: {a: 2, b: 1}}`: "current does not hold",
		`{status: {a: 1}}`:       "field .status.b does not exist",
	} {
		t.Run(object, func(t *testing.T) {
			if got := check.look(parse(t, object)); got.Ready() != (want == "") || !strings.Contains(got.Why, want) {
				t.Errorf("%s: %+v, want %q", object, got, want)
			}
		})
	}
}
