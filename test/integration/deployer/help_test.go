package deployer_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/test/lab"
)

// waitLimit limits every wait; no test that passes waits that long, also on a busy machine. It is
// less than the times after which a deployer looks again without a trigger.
const waitLimit = 2 * time.Minute

// namespaces makes a namespace of the same name on both clusters.
func namespaces(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := items.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace.Name}}
	if err := deployed.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// createTarget makes a Target that holds a kubeconfig.
func createTarget(t *testing.T, namespace, name string, kubeconfig []byte) *v1alpha1.Target {
	t.Helper()
	content, err := json.Marshal(map[string]any{"kubeconfig": string(kubeconfig)})
	if err != nil {
		t.Fatal(err)
	}
	made := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(content)},
	}
	if err := items.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return made
}

// newItem is an item with a configuration in YAML. It has its finalizer, as those
// have that our Executions make.
func newItem(t *testing.T, namespace, name, config string) *v1alpha1.DeployItem {
	t.Helper()
	item := &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: []string{v1alpha1.Finalizer}},
		Spec: v1alpha1.DeployItemSpec{
			Type:   v1alpha1.ManifestDeployItemType,
			Target: &v1alpha1.ObjectReference{Namespace: namespace, Name: "cluster"},
		},
	}
	setConfig(t, item, config)
	return item
}

func setConfig(t *testing.T, item *v1alpha1.DeployItem, config string) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(config, "NAMESPACE", item.Namespace)))
	if err != nil {
		t.Fatal(err)
	}
	item.Spec.Configuration = &runtime.RawExtension{Raw: raw}
}

// handOver gives an item a job, as an Execution or a test does.
func handOver(t *testing.T, item *v1alpha1.DeployItem) (jobID string) {
	t.Helper()
	change(t, item, func() error {
		jobID = deployer.AssignJob(item, time.Now())
		return items.Status().Update(t.Context(), item)
	})
	return jobID
}

// change changes and stores an item. After a conflict it does so once more with the newer
// version: the deployer may be telling news of a job in the same moment.
func change(t *testing.T, item *v1alpha1.DeployItem, store func() error) {
	t.Helper()
	err := store()
	for apierrors.IsConflict(err) {
		if err = items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err == nil {
			err = store()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// start creates an item and gives it its first job.
func create(t *testing.T, item *v1alpha1.DeployItem) {
	t.Helper()
	if err := items.Create(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	handOver(t, item)
}

// await watches an object until a condition holds, and returns it then.
func await[T client.Object](t *testing.T, cluster client.WithWatch, list client.ObjectList, object T, what string, holds func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := cluster.Watch(ctx, list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	var last T
	for event := range events.ResultChan() {
		found, ok := event.Object.(T)
		if !ok || event.Type == watch.Deleted {
			continue
		}
		if last = found; holds(found) {
			return found
		}
	}
	shown, _ := yaml.Marshal(last)
	t.Fatalf("%s did not happen; the last state was\n%s", what, shown)
	return last
}

func awaitItem(t *testing.T, item *v1alpha1.DeployItem, what string, holds func(*v1alpha1.DeployItem) bool) *v1alpha1.DeployItem {
	t.Helper()
	return await(t, items, &v1alpha1.DeployItemList{}, item, what, holds)
}

// awaitEnd waits until the job of an item has ended in a phase.
func awaitEnd(t *testing.T, item *v1alpha1.DeployItem, phase v1alpha1.DeployItemPhase) *v1alpha1.DeployItem {
	t.Helper()
	jobID := item.Status.JobID
	ended := awaitItem(t, item, "the end of the job", func(item *v1alpha1.DeployItem) bool { return item.Status.JobIDFinished == jobID })
	if ended.Status.Phase != phase {
		shown, _ := yaml.Marshal(ended.Status)
		t.Fatalf("the job ended in phase %s, want %s:\n%s", ended.Status.Phase, phase, shown)
	}
	return ended
}

// awaitGone waits until an object does not exist.
func awaitGone(t *testing.T, cluster client.WithWatch, list client.ObjectList, object client.Object) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := cluster.Watch(ctx, list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(object), object)) {
		return
	}
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted {
			return
		}
	}
	t.Fatalf("%s did not go", object.GetName())
}

// remove deletes an item and gives it the job of its deletion.
func remove(t *testing.T, item *v1alpha1.DeployItem) {
	t.Helper()
	if err := items.Delete(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
		t.Fatal(err)
	}
	handOver(t, item)
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// count returns how often the deployer made requests since a mark, by verb and
// resource; a watch counts when it starts. Those in namespaces of other tests do not
// count: their items may still have something to say, as an event.
func count(t *testing.T, cluster *lab.Cluster, namespace string, since lab.Mark) map[string]int {
	t.Helper()
	requests, err := cluster.Requests(t.Context(), since, user)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, request := range requests {
		if request.Namespace != "" && request.Namespace != namespace {
			continue
		}
		what := request.Resource
		if what == "" {
			what = request.Path
		}
		counts[request.Verb+" "+what]++
	}
	return counts
}

func mark(t *testing.T, cluster *lab.Cluster) lab.Mark {
	t.Helper()
	at, err := cluster.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// settle returns when the deployer has seen all items as they were when it was called: all
// of them come by one watch, in the order of the writes, so it has when a newer one is done.
func settle(t *testing.T, namespace string) {
	t.Helper()
	item := newItem(t, namespace, "", "{apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration}")
	item.GenerateName, item.Spec.Type, item.Spec.Target = "settle-", v1alpha1.MockDeployItemType, nil
	create(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// condition returns the status of a condition and its message.
func condition(item *v1alpha1.DeployItem, conditionType v1alpha1.ConditionType) (v1alpha1.ConditionStatus, string) {
	for _, found := range item.Status.Conditions {
		if found.Type == conditionType {
			return found.Status, found.Message
		}
	}
	return "", ""
}

func unstructuredFrom(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// hasCode reports whether an error has a code. Without a code every error does.
func hasCode(e *v1alpha1.Error, code v1alpha1.ErrorCode) bool {
	return e != nil && (code == "" || slices.Contains(e.Codes, code))
}

// duration returns the Duration of a text.
func duration(text string) *v1alpha1.Duration {
	d := &v1alpha1.Duration{}
	if err := json.Unmarshal([]byte(`"`+text+`"`), d); err != nil {
		panic(err)
	}
	return d
}

// managed returns the names of the recorded objects in their order.
func managed(t *testing.T, item *v1alpha1.DeployItem) []string {
	t.Helper()
	var status struct {
		ManagedResources []struct {
			Resource struct {
				Name string `json:"name"`
				UID  string `json:"uid"`
			} `json:"resource"`
		} `json:"managedResources"`
	}
	if err := json.Unmarshal(item.Status.ProviderStatus.Raw, &status); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, managed := range status.ManagedResources {
		if managed.Resource.UID == "" {
			t.Errorf("%s is recorded without its UID", managed.Resource.Name)
		}
		names = append(names, managed.Resource.Name)
	}
	return names
}
