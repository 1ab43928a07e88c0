package deployer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

const settings = configHead + `
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: NAMESPACE}, data: {level: "1"}}
- manifest:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: idle, namespace: NAMESPACE}
    spec:
      replicas: 0
      selector: {matchLabels: {app: idle}}
      template: {metadata: {labels: {app: idle}}, spec: {containers: [{name: idle, image: "registry.example/idle:1"}]}}
exports: {exports: [{key: level, jsonPath: .data.level, fromResource: {apiVersion: v1, kind: ConfigMap, name: settings, namespace: NAMESPACE}}]}
`

// eachSecond is the documented schedule, so often that a test sees it.
func eachSecond(t *testing.T) string {
	return strings.Replace(documented(t, "## Looking again"), "every: 1h", "every: 1s", 1)
}

// repeated creates an item with a schedule, which ends with the test: other tests count
// requests.
func repeated(t *testing.T, item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	t.Helper()
	create(t, item)
	t.Cleanup(func() {
		if err := switchOff(context.Background(), item); err != nil {
			t.Error(err)
		}
	})
	return awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// switchOff ends the schedule of an item.
func switchOff(ctx context.Context, item *v1alpha1.DeployItem) error {
	return items.Patch(ctx, item.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"`+v1alpha1.ContinuousReconcileActiveAnnotation+`": "false"}}}`)))
}

// setLevel changes the settings as another client.
func setLevel(t *testing.T, namespace, level string) {
	t.Helper()
	object := configMap(namespace, "settings")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	object.Data["level"] = level
	if err := deployed.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func awaitDrift(t *testing.T, item *v1alpha1.DeployItem, want v1alpha1.ConditionStatus) (*v1alpha1.DeployItem, string) {
	t.Helper()
	found := awaitItem(t, item, "drift "+string(want), func(item *v1alpha1.DeployItem) bool {
		status, _ := condition(item, v1alpha1.DriftedCondition)
		return status == want
	})
	_, message := condition(found, v1alpha1.DriftedCondition)
	return found, message
}

// TestDriftIsReported compares by the documented schedule, with both kinds of strategies: changes
// by others are reported once, without values, and left.
func TestDriftIsReported(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"update", "apply"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			item := newItem(t, namespace, "settings", settings+"updateStrategy: "+strategy+"\n"+eachSecond(t))
			ended := repeated(t, item)
			before := mark(t, target)
			if inStep, message := awaitDrift(t, ended, v1alpha1.ConditionFalse); inStep.Status.JobID != ended.Status.JobID || message != "everything is as it was deployed" {
				t.Errorf("job %s, message %q", inStep.Status.JobID, message)
			}
			for request := range count(t, target, namespace, before) {
				if strings.HasPrefix(request, "watch") || strings.HasPrefix(request, "create") || strings.HasPrefix(request, "delete") {
					t.Errorf("a comparison makes %s", request)
				}
			}
			setLevel(t, namespace, secretWord)
			drifted, message := awaitDrift(t, ended, v1alpha1.ConditionTrue)
			if message != "another client has changed ConfigMap "+namespace+"/settings (data.level)" || drifted.Status.Phase != v1alpha1.DeployItemPhases.Succeeded {
				t.Errorf("phase %s, message %q", drifted.Status.Phase, message)
			}
			event := awaitEvents(t, drifted, 1)[0]
			if event.Reason != "Drifted" || event.Type != corev1.EventTypeWarning || !strings.Contains(event.Note, "data.level") || strings.Contains(event.Note, secretWord) {
				t.Errorf("event %+v", event)
			}
			setLevel(t, namespace, "1")
			awaitDrift(t, ended, v1alpha1.ConditionFalse)
			if err := deployed.Delete(t.Context(), configMap(namespace, "settings")); err != nil {
				t.Fatal(err)
			}
			if _, message := awaitDrift(t, ended, v1alpha1.ConditionTrue); !strings.Contains(message, "settings (it does not exist)") {
				t.Errorf("message %q", message)
			}
			list := &eventsv1.EventList{}
			if err := items.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) > 2 {
				t.Errorf("%d events, error %v", len(list.Items), err)
			}
		})
	}
}

// TestDriftIsCorrected deploys again, with a job of its own, and leaves the export
// Secret as it is.
func TestDriftIsCorrected(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "settings", settings+strings.Replace(eachSecond(t), "drift: report", "drift: correct", 1))
	ended := repeated(t, item)
	secret, _ := exported(t, ended)
	awaitDrift(t, ended, v1alpha1.ConditionFalse)
	setLevel(t, namespace, "2")
	await(t, deployed, &corev1.ConfigMapList{}, configMap(namespace, "settings"), "the correction", func(object *corev1.ConfigMap) bool { return object.Data["level"] == "1" })
	corrected := awaitItem(t, ended, "the end of the correction", func(item *v1alpha1.DeployItem) bool {
		return item.Status.JobID != ended.Status.JobID && item.Status.JobID == item.Status.JobIDFinished
	})
	if status, _ := condition(corrected, v1alpha1.DriftedCondition); status != v1alpha1.ConditionFalse || corrected.Status.Phase != v1alpha1.DeployItemPhases.Succeeded {
		t.Errorf("drift %s, phase %s", status, corrected.Status.Phase)
	}
	if again, _ := exported(t, corrected); again.ResourceVersion != secret.ResourceVersion {
		t.Error("the export Secret was written although no value has changed")
	}
}

// TestContinuousReconcile deploys again by either schedule, not while the Execution has
// a job, and not when it is switched off.
func TestContinuousReconcile(t *testing.T) {
	t.Parallel()
	for name, schedule := range map[string]string{"an interval": "continuousReconcile: {every: 1s}", "cron": "continuousReconcile: {cron: '@every 1s'}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			execution := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "exec"}}
			if err := execution.Spec.SetItems(v1alpha1.DeployItemTemplateList{{Name: "settings", Type: v1alpha1.ManifestDeployItemType}}); err != nil {
				t.Fatal(err)
			}
			if err := items.Create(t.Context(), execution); err != nil {
				t.Fatal(err)
			}
			execution.Status.JobID = "running"
			if err := items.Status().Update(t.Context(), execution); err != nil {
				t.Fatal(err)
			}
			item := newItem(t, namespace, "settings", settings+schedule+"\n")
			item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "exec", v1alpha1.ExecutionManagedNameLabel: "settings"}
			begun := time.Now()
			ended := repeated(t, item)
			asked := mark(t, resource)
			// Another item of the same schedule, without an owner, shows that time has passed.
			free := newItem(t, namespace, "free", strings.ReplaceAll(settings, "settings", "free")+schedule+"\n")
			first := repeated(t, free)
			second := awaitJobAfter(t, first)
			latest := awaitJobAfter(t, second)
			reads := func() int { return count(t, resource, namespace, asked)["get executions.landscaper.gardener.cloud"] }
			// The times of one item are not those of the other.
			for i := 0; reads() < 1 && i < 10; i++ {
				latest = awaitJobAfter(t, latest)
			}
			if got := reads(); got < 1 || got > 2+int(time.Since(begun).Seconds()) {
				t.Errorf("the Execution was read %d times in %s", got, time.Since(begun))
			}
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(ended), ended); err != nil || ended.Status.JobID != item.Status.JobID {
				t.Errorf("the item got job %s although its Execution has one, error %v", ended.Status.JobID, err)
			}
			execution.Status.JobIDFinished = "running"
			if err := items.Status().Update(t.Context(), execution); err != nil {
				t.Fatal(err)
			}
			again := awaitJobAfter(t, ended)
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(execution), execution); err != nil || execution.Status.JobID != "running" {
				t.Errorf("the Execution has job %s, error %v", execution.Status.JobID, err)
			}
			suspend(t, again, free)
		})
	}
}

// awaitJobAfter waits until another job of an item has succeeded.
func awaitJobAfter(t *testing.T, item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	t.Helper()
	return awaitItem(t, item, "another job", func(now *v1alpha1.DeployItem) bool {
		return now.Status.JobID != item.Status.JobID && now.Status.JobID == now.Status.JobIDFinished && now.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
	})
}

// suspend switches the schedule of an item off and watches that of another item continue.
func suspend(t *testing.T, item, other *v1alpha1.DeployItem) {
	t.Helper()
	if err := switchOff(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	// A job that was under way ends.
	quiet := awaitItem(t, item, "the end of the last job", func(item *v1alpha1.DeployItem) bool { return item.Status.JobID == item.Status.JobIDFinished })
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		other = awaitJobAfter(t, other)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil || item.Status.JobID != quiet.Status.JobID {
		t.Errorf("the item continues with job %s after %s, error %v", item.Status.JobID, quiet.Status.JobID, err)
	}
}
