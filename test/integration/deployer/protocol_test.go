package deployer_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/test/lab"
)

// TestTestReconcile starts a job of a single item by its annotation.
func TestTestReconcile(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", oneConfigMap)
	item.Finalizers = nil
	item.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.TestReconcileOperation)}
	if err := items.Create(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	ended := awaitItem(t, item, "the success", func(item *v1alpha1.DeployItem) bool {
		return item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
	})
	if ended.Status.JobID == "" || ended.Status.JobID != ended.Status.JobIDFinished || len(ended.Annotations) != 0 || len(ended.Finalizers) != 1 {
		t.Errorf("job %q, finished %q, annotations %v, finalizers %v", ended.Status.JobID, ended.Status.JobIDFinished, ended.Annotations, ended.Finalizers)
	}
}

// TestUpdateOnChangeOnly finishes a job without a look at the cluster if nothing
// has changed since the last success.
func TestUpdateOnChangeOnly(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", oneConfigMap)
	item.Spec.UpdateOnChangeOnly = true
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	beforeResource, beforeTarget := mark(t, resource), mark(t, target)
	handOver(t, ended)
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	if got := count(t, target, namespace, beforeTarget); len(got) != 0 {
		t.Errorf("requests to the target cluster: %v", got)
	}
	if got := count(t, resource, namespace, beforeResource); len(got) != 1 || got["update deployitems.landscaper.gardener.cloud/status"] != 1 {
		t.Errorf("requests to the resource cluster: %v", got)
	}
	before := mark(t, target)
	again(t, ended, oneConfigMap+"  annotateBeforeCreate: {}\n")
	awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	if got := count(t, target, namespace, before); got["get configmaps"] != 1 {
		t.Errorf("requests after a change: %v", got)
	}
}

// TestDeleteWithoutUninstall deletes an item and leaves its objects.
func TestDeleteWithoutUninstall(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	ended.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
	if err := items.Update(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "smallest"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}

// TestForeignItem shows that items of other types, and items without a job, are
// never written.
func TestForeignItem(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	foreign := newItem(t, namespace, "foreign", oneConfigMap)
	foreign.Spec.Type = "acme.example/other"
	create(t, foreign)
	idle := newItem(t, namespace, "idle", oneConfigMap)
	if err := items.Create(t.Context(), idle); err != nil {
		t.Fatal(err)
	}
	other := newItem(t, namespace, "other", oneConfigMap)
	create(t, other)
	awaitEnd(t, other, v1alpha1.DeployItemPhases.Succeeded)
	for _, item := range []*v1alpha1.DeployItem{foreign, idle} {
		before := item.ResourceVersion
		if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
			t.Fatal(err)
		}
		if item.ResourceVersion != before {
			t.Errorf("%s was written: %+v", item.Name, item.Status)
		}
	}
}

// TestLostAnswers loses the answers to writes that took effect, on both clusters:
// nothing is doubled, nothing is lost.
func TestLostAnswers(t *testing.T) {
	tests := []struct {
		reason  string
		cluster *lab.Cluster
		rule    lab.Rule
	}{
		{"the create of the object", target, lab.Rule{Name: "create", Verbs: []string{"create"}, Resources: []string{"configmaps"}, Share: 1, Times: 1, Action: "lose"}},
		{"the first status write", resource, lab.Rule{Name: "first", Verbs: []string{"update"}, Resources: []string{"deployitems.landscaper.gardener.cloud/status"}, Share: 1, Times: 1, Action: "lose"}},
		{"both status writes and more", resource, lab.Rule{Name: "both", Verbs: []string{"update"}, Resources: []string{"deployitems.landscaper.gardener.cloud/status"}, Share: 1, Times: 3, Action: "lose"}},
		{"conflicts without end, almost", resource, lab.Rule{Name: "storm", Verbs: []string{"update"}, Resources: []string{"deployitems.landscaper.gardener.cloud/status"}, Share: 1, Times: 5, Action: "status", Status: 409}},
		{"a broken API server", resource, lab.Rule{Name: "broken", Verbs: []string{"update"}, Resources: []string{"deployitems.landscaper.gardener.cloud/status"}, Share: 1, Times: 3, Action: "status", Status: 500}},
	}
	t.Cleanup(func() {
		for _, cluster := range []*lab.Cluster{resource, target} {
			if err := cluster.SetFaults(context.Background(), lab.Faults{}); err != nil {
				t.Error(err)
			}
		}
	})
	for _, test := range tests {
		namespace := namespaces(t)
		createTarget(t, namespace, "cluster", access)
		item := newItem(t, namespace, "item", oneConfigMap)
		if err := items.Create(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		// Other tests must not use up its faults.
		test.rule.Namespaces = []string{namespace}
		if err := test.cluster.SetFaults(t.Context(), lab.Faults{Seed: 1, Rules: []lab.Rule{test.rule}}); err != nil {
			t.Fatal(err)
		}
		handOver(t, item)
		ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		if err := test.cluster.SetFaults(t.Context(), lab.Faults{}); err != nil {
			t.Fatal(err)
		}
		if got := managed(t, ended); len(got) != 1 {
			t.Errorf("%s: recorded objects %v", test.reason, got)
		}
		remove(t, ended)
		awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
		awaitGone(t, deployed, &corev1.ConfigMapList{}, configMap(namespace, "smallest"))
	}
}

// TestTimeIsOverBeforeTheWork ends a job whose time has passed while no deployer worked on it, as
// over a long restart: the first checkpoint reports it.
func TestTimeIsOverBeforeTheWork(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	// late gives an item a job that was picked up an hour ago.
	late := func(t *testing.T, item *v1alpha1.DeployItem, phase v1alpha1.DeployItemPhase) {
		begun := metav1.NewTime(time.Now().Add(-time.Hour))
		deployer.AssignJob(item, begun.Time)
		item.Status.Phase, item.Status.TransitionTimes.InitTime, item.Status.LastError = phase, &begun, nil
		if err := items.Status().Update(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	late(t, ended, v1alpha1.DeployItemPhases.Progressing)
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Failed)
	if last := ended.Status.LastError; !hasCode(last, v1alpha1.ErrorTimeout) || last.Message != `timeout at: "manifest deployer: start reconcile"` {
		t.Errorf("last error %+v", last)
	}
	if err := items.Delete(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(ended), ended); err != nil {
		t.Fatal(err)
	}
	late(t, ended, v1alpha1.DeployItemPhases.Deleting)
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.DeleteFailed)
	if last := ended.Status.LastError; !hasCode(last, v1alpha1.ErrorTimeout) || last.Message != `timeout at: "manifest deployer: start delete"` {
		t.Errorf("last error %+v", last)
	}
	handOver(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
}
