package rollout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/runtime/job"
)

const label = "test.example/deployitem"

// testJob is a job that records its calls.
type testJob struct {
	checkpoints []string
	recorded    []apply.Inventory
	wakes       int
	expired     bool
	// changing is who is still to change the sources.
	changing string
	// clusters are those of other Targets.
	clusters map[string]target.Cluster
	exported []map[string]any
	// foreign are the objects of other items.
	foreign []Foreign
	// stop is the error of a checkpoint.
	stop map[string]error
	// neighbors are the other items; nil for none.
	neighbors *neighbors
	kept      []string
	inUse     []string
}

func (j *testJob) Checkpoint(_ context.Context, name string) error {
	j.checkpoints = append(j.checkpoints, name)
	return j.stop[name]
}
func (j *testJob) Expired() bool { return j.expired }
func (j *testJob) Requeue()      { j.wakes++ }
func (j *testJob) Cluster(_ context.Context, name string) (target.Cluster, error) {
	if cluster := j.clusters[name]; cluster != nil {
		return target.Elsewhere(cluster, name), nil
	}
	return nil, job.NewWaiting("test", "NoTargetFound", "Target "+name+" does not exist")
}
func (j *testJob) Changing(context.Context, corev1.ObjectReference, *unstructured.Unstructured) (string, error) {
	return j.changing, nil
}
func (j *testJob) Foreign(objects []Foreign) {
	j.foreign = append(j.foreign, objects...)
}
func (j *testJob) Export(_ context.Context, values map[string]any) error {
	j.exported = append(j.exported, values)
	return j.stop["export"]
}
func (j *testJob) Record(_ context.Context, inventory apply.Inventory) error {
	j.recorded = append(j.recorded, inventory)
	return nil
}

// objects reads manifests, one in each text.
func objects(t *testing.T, texts ...string) []apply.Entry {
	t.Helper()
	var entries []apply.Entry
	for _, text := range texts {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, apply.Entry{Position: "manifests", Policy: deployer.ManagePolicy, Object: object})
	}
	return entries
}

func wishFor(objects []apply.Entry) DesiredState {
	return DesiredState{Name: "test deployer", Owner: Owner{Label: label, Item: "item", FieldManager: "test"}, Objects: objects}
}

func start(t *testing.T, job *testJob, cluster *fakecluster.Cluster, desiredState DesiredState, recorded apply.Inventory) *Rollout {
	t.Helper()
	r, err := Begin(t.Context(), job, cluster, desiredState, recorded)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustWait continues the work and expects that it waits for something.
func mustWait(t *testing.T, work work, want string) {
	t.Helper()
	waiting, err := work.Continue(t.Context())
	if err != nil || !strings.Contains(strings.Join(waiting, ", "), want) {
		t.Fatalf("it waits for %v, error %v, want a wait for %q", waiting, err, want)
	}
}

func mustEnd(t *testing.T, work work) {
	t.Helper()
	if waiting, err := work.Continue(t.Context()); err != nil || len(waiting) > 0 {
		t.Fatalf("it waits for %v, error %v", waiting, err)
	}
}

const (
	configMap  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, data: {x: "1"}}`
	namespace  = `{apiVersion: v1, kind: Namespace, metadata: {name: ns}}`
	pod        = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}}`
	readyPod   = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, status: {conditions: [{type: Ready, status: "True"}]}}`
	tenant     = `{apiVersion: acme.example/v1, kind: Tenant, metadata: {name: blue, namespace: ns}}`
	definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: tenants.acme.example}, spec: {group: acme.example, names: {kind: Tenant, plural: tenants}, scope: Namespaced, versions: [{name: v1}]}}`
	unused     = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: unused.acme.example}, spec: {group: acme.example, names: {kind: Unused, plural: unused}, scope: Namespaced, versions: [{name: v1}]}}`
)

func established(t *testing.T, cluster *fakecluster.Cluster, name string) {
	t.Helper()
	object := cluster.Find("CustomResourceDefinition", "", name)
	if err := unstructured.SetNestedSlice(object.Object, []any{map[string]any{"type": "Established", "status": "True"}}, "status", "conditions"); err != nil {
		t.Fatal(err)
	}
	cluster.Put(object)
}

func TestOrder(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	r := start(t, job, cluster, wishFor(objects(t, tenant, configMap, unused, namespace, definition)), nil)
	if len(cluster.Requests) != 0 || len(job.recorded) != 1 || len(job.recorded[0]) != 5 {
		t.Fatalf("what is about to be created is recorded before: %d requests, recorded %v", len(cluster.Requests), job.recorded)
	}
	mustWait(t, r, "CustomResourceDefinition tenants.acme.example to become ready")
	if cluster.Find("Namespace", "", "ns") != nil {
		t.Error("the next stage began although its kinds are not served")
	}
	if job.wakes != 0 {
		t.Errorf("%d triggers without a change", job.wakes)
	}
	established(t, cluster, "tenants.acme.example")
	if job.wakes == 0 {
		t.Error("the definition is served, but nothing was triggered")
	}
	mustEnd(t, r)
	var order []string
	for _, request := range cluster.Requests {
		if request.Verb == "create" {
			order = append(order, request.Kind)
		}
	}
	slices.Sort(order[3:])
	if diff := cmp.Diff([]string{"CustomResourceDefinition", "CustomResourceDefinition", "Namespace", "ConfigMap", "Tenant"}, order); diff != "" {
		t.Errorf("order of creation, -want +got\n%s", diff)
	}
	for _, entry := range r.Inventory() {
		if entry.Resource.UID == "" {
			t.Errorf("%s is recorded without its identity", entry.Resource.Name)
		}
	}
	if got := cluster.Find("ConfigMap", "ns", "a").GetLabels()[label]; got != "item" {
		t.Errorf("label %q", got)
	}
	if err := r.Close(); err != nil || cluster.Watched() != 0 {
		t.Errorf("error %v, %d watches are left", err, cluster.Watched())
	}
}

func TestCheckpoints(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	orphan := apply.Inventory{{Policy: deployer.ManagePolicy}}
	orphan[0].Resource.APIVersion, orphan[0].Resource.Kind, orphan[0].Resource.Namespace, orphan[0].Resource.Name = "v1", "ConfigMap", "ns", "old"
	cluster.Put(objects(t, signal)[0].Object)
	full := func() DesiredState {
		desiredState := wishFor(objects(t, namespace, configMap))
		desiredState.Checks = checks(t, "["+checkHere+"]")
		desiredState.Exports = exportsFrom(t, "exports: [{key: go, jsonPath: .data.go, fromResource: {apiVersion: v1, kind: ConfigMap, name: signal, namespace: ns}}]")
		return desiredState
	}
	mustEnd(t, start(t, job, cluster, full(), orphan))
	want := []string{
		"deployer: process managed resource manifests", "deployer: process manifests", "deployer: apply manifests", "deployer: apply manifests",
		"deployer: cleanup orphaned", "deployer: delete resources", "test deployer: before readiness check", "test deployer: default readiness checks",
		"test deployer: custom readiness checks", "test deployer: before reading export values",
	}
	if diff := cmp.Diff(want, job.checkpoints); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	want = append(want, "deployer: during export - key: go")
	stop := errors.New("the time is over")
	for _, name := range want {
		t.Run(name, func(t *testing.T) {
			cluster, job := fakecluster.New(), &testJob{stop: map[string]error{name: stop}}
			desiredState := full()
			if strings.Contains(name, "during export") {
				desiredState.Checks = nil
			} else {
				cluster.Put(objects(t, signal)[0].Object)
			}
			r, err := Begin(t.Context(), job, cluster, desiredState, orphan)
			if err == nil {
				_, err = r.Continue(t.Context())
			}
			if !errors.Is(err, stop) {
				t.Errorf("it continued: %v", err)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	first := start(t, job, cluster, wishFor(objects(t, configMap, `{apiVersion: v1, kind: Secret, metadata: {name: old, namespace: ns, finalizers: [acme.example/hold]}}`)), nil)
	mustEnd(t, first)
	second := start(t, job, cluster, wishFor(objects(t, configMap)), first.Inventory())
	if len(second.Inventory()) != 2 {
		t.Errorf("an orphan is remembered until it is deleted: %v", second.Inventory())
	}
	mustWait(t, second, "the end of Secret ns/old (finalizer acme.example/hold)")
	if len(second.Inventory()) != 2 {
		t.Errorf("an orphan is remembered until it is deleted: %v", second.Inventory())
	}
	cluster.Remove("Secret", "ns", "old")
	mustEnd(t, second)
	if got := second.Inventory(); len(got) != 1 || got[0].Resource.Name != "a" {
		t.Errorf("the inventory is %v", got)
	}
}

func TestOrphanThatCannotBeDeleted(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	first := start(t, job, cluster, wishFor(objects(t, configMap)), nil)
	mustEnd(t, first)
	forbidden := errors.New("forbidden")
	cluster.Fault = func(r fakecluster.Request) fakecluster.Fault {
		if r.Verb == "delete" {
			return fakecluster.Fault{Before: forbidden}
		}
		return fakecluster.Fault{}
	}
	second := start(t, job, cluster, wishFor(nil), first.Inventory())
	_, err := second.Continue(t.Context())
	var shown *jobError
	if !errors.Is(err, forbidden) || !errors.As(err, &shown) || shown.Operation != "ApplyObjects" || shown.Reason != "cleanupOrphanedResourcesInGroups" {
		t.Errorf("error %v", err)
	}
	if len(second.Inventory()) != 1 {
		t.Error("what could not be deleted is forgotten")
	}
	cluster.Fault = nil
	mustEnd(t, second)
	if len(cluster.Names()) != 0 || len(second.Inventory()) != 0 {
		t.Errorf("left: %v, %v", cluster.Names(), second.Inventory())
	}
}

func TestFailedApply(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	refused := errors.New("refused")
	cluster.Fault = func(r fakecluster.Request) fakecluster.Fault {
		if r.Kind == "ConfigMap" && r.Verb == "create" {
			return fakecluster.Fault{Before: refused}
		}
		return fakecluster.Fault{}
	}
	r := start(t, job, cluster, wishFor(objects(t, configMap, pod, namespace)), nil)
	_, err := r.Continue(t.Context())
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "apply ConfigMap ns/a") {
		t.Errorf("error %v", err)
	}
	if cluster.Find("Pod", "ns", "p") == nil {
		t.Error("the other objects of the stage were not applied")
	}
	cluster.Fault = nil
	cluster.Counts()
	mustWait(t, r, "Pod ns/p")
	if got := cluster.Counts(); got["create"] != 1 || got["get"] != 1 || got["update"] != 0 {
		t.Errorf("the second attempt applies what failed, no more: %v", got)
	}
}

func TestObjectThatIsBeingDeleted(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	held := objects(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, finalizers: [acme.example/hold], deletionTimestamp: "2026-01-01T00:00:00Z"}}`)[0].Object
	old := cluster.Put(held)
	r := start(t, job, cluster, wishFor(objects(t, configMap, pod)), nil)
	mustWait(t, r, "the end of ConfigMap ns/a (finalizer acme.example/hold)")
	if cluster.Find("Pod", "ns", "p") == nil {
		t.Error("the other object has to wait, too")
	}
	cluster.Remove("ConfigMap", "ns", "a")
	if job.wakes == 0 {
		t.Error("nothing was triggered")
	}
	mustWait(t, r, "Pod ns/p")
	if created := cluster.Find("ConfigMap", "ns", "a"); created == nil || created.GetUID() == old.GetUID() {
		t.Errorf("it was not created again: %v", created)
	}
}

func TestBeginRefuses(t *testing.T) {
	tests := []struct{ reason, object, want string }{
		{"an unknown kind", `{apiVersion: acme.example/v1, kind: Unknown, metadata: {name: a}}`, "does not know kind Unknown"},
		{"no name", `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-, namespace: ns}}`, "no metadata.name"},
		{"no namespace", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, "no metadata.namespace"},
		{"no version", `{kind: ConfigMap, metadata: {name: a, namespace: ns}}`, "no apiVersion"},
		{"no kind", `{apiVersion: v1, metadata: {name: a, namespace: ns}}`, "no kind"},
		{"a version that is not valid", `{apiVersion: a/b/c, kind: ConfigMap, metadata: {name: a, namespace: ns}}`, "must be VERSION or GROUP/VERSION"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			job := &testJob{}
			_, err := Begin(t.Context(), job, fakecluster.New(), wishFor(objects(t, configMap, test.object)), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if len(job.recorded) != 0 {
				t.Error("something was recorded although nothing can be deployed")
			}
		})
	}
}

func TestForeignObjectIsNotRecorded(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	cluster.Put(objects(t, configMap)[0].Object)
	desiredState := wishFor(objects(t, configMap, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}`))
	desiredState.Objects[0].Policy, desiredState.Objects[1].Policy = deployer.FallbackPolicy, deployer.IgnorePolicy
	r := start(t, job, cluster, desiredState, nil)
	mustEnd(t, r)
	if got := r.Inventory(); len(got) != 0 {
		t.Errorf("the inventory is %v", got)
	}
	if diff := cmp.Diff([]string{"ConfigMap ns/a"}, cluster.Names()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestForeignObjectsAreReported: an object of another item is not changed, and the job says whose
// it is. Who has created an object without an item is not known.
func TestForeignObjectsAreReported(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	desiredState := wishFor(objects(t, configMap, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}`, `{apiVersion: v1, kind: Secret, metadata: {name: own, namespace: ns}}`, namespace))
	for i, owner := range []string{"another", "", desiredState.Owner.Item, "third"} {
		desiredState.Objects[i].Policy = deployer.FallbackPolicy
		object := desiredState.Objects[i].Object.DeepCopy()
		object.SetLabels(map[string]string{desiredState.Owner.Label: owner})
		cluster.Put(object)
	}
	mustEnd(t, start(t, job, cluster, desiredState, nil))
	want := []Foreign{{"Namespace " + desiredState.Objects[3].Object.GetName(), "third"}, {"ConfigMap ns/a", "another"}}
	if diff := cmp.Diff(want, job.foreign); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestRemoval(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	established := unstructured.Unstructured{Object: objects(t, definition)[0].Object.Object}
	cluster.Put(&established)
	r := start(t, job, cluster, wishFor(objects(t, tenant, namespace, configMap)), nil)
	mustEnd(t, r)
	job.checkpoints = nil
	removal, err := BeginRemoval(t.Context(), job, cluster, Teardown{Name: "test deployer", Owner: wishFor(nil).Owner}, r.Inventory())
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, removal)
	if len(removal.Inventory()) != 0 {
		t.Errorf("the inventory is %v", removal.Inventory())
	}
	if diff := cmp.Diff([]string{"CustomResourceDefinition /tenants.acme.example"}, cluster.Names()); diff != "" {
		t.Errorf("left, -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"test deployer: start delete", "deployer: delete resources"}, job.checkpoints); diff != "" {
		t.Errorf("checkpoints, -want +got\n%s", diff)
	}
	if err := removal.Close(); err != nil || cluster.Watched() != 0 {
		t.Errorf("error %v, %d watches are left", err, cluster.Watched())
	}
	for _, name := range []string{"test deployer: start delete", "deployer: delete resources"} {
		job := &testJob{stop: map[string]error{name: errors.New("interrupted")}}
		removal, err := BeginRemoval(t.Context(), job, cluster, Teardown{Name: "test deployer"}, r.Inventory())
		if err == nil {
			_, err = removal.Continue(t.Context())
		}
		if err == nil {
			t.Errorf("it continued after %q", name)
		}
	}
}
