package deployer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestDeletionWaitsForFinalizer shows that the deletion of an item waits until its object is
// deleted, without polling, and reports what it waits for.
func TestDeletionWaitsForFinalizer(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "held", oneConfigMap)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	held := configMap(namespace, "smallest")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil {
		t.Fatal(err)
	}
	held.Finalizers = []string{"acme.example/hold"}
	if err := deployed.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	before := mark(t, target)
	remove(t, ended)
	waiting := awaitItem(t, ended, "the wait", func(item *v1alpha1.DeployItem) bool {
		return item.Status.Phase == v1alpha1.DeployItemPhases.Deleting
	})
	if _, message := condition(waiting, v1alpha1.ReadyCondition); !strings.Contains(message, "ConfigMap "+namespace+"/smallest (finalizer acme.example/hold)") {
		t.Errorf("the wait is not explained: %s", message)
	}
	if waiting.Status.LastError != nil {
		t.Errorf("a wait is no error: %v", waiting.Status.LastError)
	}
	// A change that does not end the wait causes no request, either.
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil {
		t.Fatal(err)
	}
	held.Labels["acme.example/news"] = "none"
	if err := deployed.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	held.Finalizers = nil
	if err := deployed.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, items, &v1alpha1.DeployItemList{}, waiting)
	got := count(t, target, namespace, before)
	if diff := cmp.Diff(map[string]int{"get configmaps": 1, "delete configmaps": 1, "watch configmaps": 1}, got); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
}

// oneDeployment is not ready before a node has a label.
const oneDeployment = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: NAMESPACE}
    spec:
      replicas: 1
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: "registry.example/web:1"}]
          nodeSelector: {acme.example/namespace: NAMESPACE}
`

// TestReadiness waits for a Deployment without asking for it.
func TestReadiness(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "web", oneDeployment)
	before := mark(t, target)
	create(t, item)
	waiting := awaitItem(t, item, "the wait", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "waiting for Deployment "+namespace+"/web to become ready")
	})
	if waiting.Status.Phase != v1alpha1.DeployItemPhases.Progressing {
		t.Errorf("phase %s", waiting.Status.Phase)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"acme.example/namespace": "`+namespace+`"}}}`))
	if err := deployed.Patch(t.Context(), node, patch); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	got := count(t, target, namespace, before)
	delete(got, "get /api")
	delete(got, "get /apis")
	// The pods are looked at if that took long.
	delete(got, "list pods")
	if diff := cmp.Diff(map[string]int{"create deployments.apps": 1, "watch deployments.apps": 1}, got); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
}

// TestReadinessTimeout names the object and the reason when the time is over.
func TestReadinessTimeout(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "web", oneDeployment)
	// late is how long after its time was over the job has ended.
	late := func(item *v1alpha1.DeployItem) time.Duration {
		times := item.Status.TransitionTimes
		return times.FinishedTime.Sub(times.InitTime.Time) - item.Spec.TimeLimit()
	}
	stage := `timeout at: "deployer: during readiness check - resource ` + namespace + `/web of type Deployment"`
	// Another controller writes the replicas into the status, which takes a while.
	ended := awaitLimit(t, item, func(item *v1alpha1.DeployItem) bool {
		last := item.Status.LastError
		return strings.Contains(last.Message, stage) && strings.Contains(last.Message, "replicas") && late(item) <= 2*time.Second
	})
	last := ended.Status.LastError
	if ended.Status.Phase != v1alpha1.DeployItemPhases.Failed || last.Operation != "WaitForObjectsReady" || last.Reason != "ProgressingTimeout" ||
		!hasCode(last, v1alpha1.ErrorTimeout) || !strings.Contains(last.Message, stage) || !strings.Contains(last.Message, "replicas") {
		t.Errorf("phase %s, last error %+v", ended.Status.Phase, last)
	}
	if late := late(ended); late > 2*time.Second {
		t.Errorf("a timeout of %s took effect %s too late", ended.Spec.TimeLimit(), late)
	}
}

// TestInterruption ends a job from the outside while it waits.
func TestInterruption(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "web", oneDeployment)
	create(t, item)
	waiting := awaitItem(t, item, "the wait", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "waiting for")
	})
	waiting, err := interrupt(t.Context(), waiting, v1alpha1.DeployItemPhases.Failed)
	if err != nil {
		t.Fatal(err)
	}
	interrupted := waiting.ResourceVersion
	// Another item shows that the deployer has had the time to do something wrong.
	other := newItem(t, namespace, "other", oneConfigMap)
	create(t, other)
	awaitEnd(t, other, v1alpha1.DeployItemPhases.Succeeded)
	web := &appsv1.Deployment{ObjectMeta: configMap(namespace, "web").ObjectMeta}
	if err := deployed.Delete(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(waiting), waiting); err != nil {
		t.Fatal(err)
	}
	if waiting.ResourceVersion != interrupted {
		t.Errorf("an interrupted item was written: %+v", waiting.Status)
	}
	remove(t, waiting)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, waiting)
}

// TestDeletionDuringAJob shows that the job ends and does not uninstall: the
// deletion has a job of its own.
func TestDeletionDuringAJob(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "web", oneDeployment)
	create(t, item)
	waiting := awaitItem(t, item, "the wait", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "waiting for")
	})
	if err := items.Delete(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	ended := awaitEnd(t, waiting, v1alpha1.DeployItemPhases.Failed)
	web := &appsv1.Deployment{ObjectMeta: configMap(namespace, "web").ObjectMeta}
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(web), web); err != nil {
		t.Errorf("the object was removed without a job: %v", err)
	}
	handOver(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	awaitGone(t, deployed, &appsv1.DeploymentList{}, web)
}
