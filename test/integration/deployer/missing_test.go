package deployer_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
)

// contextType is the type of items that need nothing but their Context.
const contextType = "acme.example/context"

// contextDeployer asks for the Contexts of its items.
type contextDeployer struct{}

func (contextDeployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	_, err := item.Context(ctx)
	return deployer.Done(), err
}

func (contextDeployer) Delete(context.Context, *deployer.Item) (deployer.Result, error) {
	return deployer.Done(), nil
}

// awaitMissing waits until the status of an item says what is missing.
func awaitMissing(t *testing.T, item *v1alpha1.DeployItem, operation, reason, message string) {
	t.Helper()
	waiting := awaitItem(t, item, "the wait for what is missing", func(item *v1alpha1.DeployItem) bool {
		return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, message)
	})
	last := waiting.Status.LastError
	if last.Operation != operation || last.Reason != reason || !hasCode(last, v1alpha1.ErrorForInfoOnly) || waiting.Status.Phase != v1alpha1.DeployItemPhases.Progressing {
		t.Errorf("phase %s, last error %+v", waiting.Status.Phase, last)
	}
	if status, shown := condition(waiting, v1alpha1.ReadyCondition); status == v1alpha1.ConditionTrue || !strings.Contains(shown, message) {
		t.Errorf("the condition says %s, %q", status, shown)
	}
}

// TestTargetAppearsLater waits for the Target without polling, and continues when it is there.
func TestTargetAppearsLater(t *testing.T) {
	namespace := namespaces(t)
	manifest := strings.ReplaceAll(oneConfigMap, "smallest", "other")
	createTarget(t, namespace, "other", access)
	other := newItem(t, namespace, "other", manifest)
	other.Spec.Target.Name = "other"
	create(t, other)
	awaitEnd(t, other, v1alpha1.DeployItemPhases.Succeeded)
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	awaitMissing(t, item, "reconcilePrivate", "NoTargetFound", "Target "+namespace+"/cluster does not exist: create it")
	// The event of the wait reaches the deployer, which looks once more.
	settle(t, namespace)
	again(t, other, manifest)
	awaitEnd(t, other, v1alpha1.DeployItemPhases.Succeeded)
	// Another job that ends shows that time has passed. Its own Target has been seen
	// before: one that is as new as its item may have to be asked for.
	before := mark(t, resource)
	again(t, other, manifest)
	awaitEnd(t, other, v1alpha1.DeployItemPhases.Succeeded)
	if got := count(t, resource, namespace, before); got["get targets.landscaper.gardener.cloud"] != 0 {
		t.Errorf("requests while it waits: %v", got)
	}
	createTarget(t, namespace, "cluster", access)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// TestSecondTargetAppearsLater waits for the Target of a check, and for its Secret.
func TestSecondTargetAppearsLater(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", oneConfigMap+`
readinessChecks: {custom: [{name: c, targetName: edge, resourceSelector: {apiVersion: v1, kind: Namespace, name: NAMESPACE}, requirements: [{jsonPath: .status.phase, operator: ==, values: [{value: Active}]}]}]}
`)
	create(t, item)
	awaitMissing(t, item, "reconcile", "NoTargetFound", "Target "+namespace+"/edge does not exist: create it, or correct targetName")
	createLateTarget(t, namespace, "edge")
	awaitMissing(t, item, "ResolveTarget", "SecretNotFound", "Secret "+namespace+"/late of Target "+namespace+"/edge does not exist: create it")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "late"}, Data: map[string][]byte{"access": edgeAccess}}
	if err := items.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// createLateTarget makes a Target whose Secret does not exist yet.
func createLateTarget(t *testing.T, namespace, name string) {
	t.Helper()
	made := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &v1alpha1.LocalSecretReference{Name: "late", Key: "access"}},
	}
	if err := items.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
}

// TestContextAppearsLater waits for the Context.
func TestContextAppearsLater(t *testing.T) {
	namespace := namespaces(t)
	item := newItem(t, namespace, "item", oneConfigMap)
	item.Spec.Type, item.Spec.Target, item.Spec.Context = contextType, nil, "late"
	create(t, item)
	awaitMissing(t, item, "reconcile", "GetLandscaperContext", "Context "+namespace+"/late does not exist: create it")
	if err := items.Create(t.Context(), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "late"}}); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// TestDeletionWithoutTarget ends a deletion where nothing was deployed, and otherwise
// waits for the Target.
func TestDeletionWithoutTarget(t *testing.T) {
	namespace := namespaces(t)
	never := newItem(t, namespace, "never", oneConfigMap)
	never.Spec.Target.Name = "nowhere"
	if err := items.Create(t.Context(), never); err != nil {
		t.Fatal(err)
	}
	remove(t, never)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, never)

	made := createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if err := items.Delete(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	awaitTarget(t, namespace, "does not exist: create it")
	remove(t, ended)
	awaitItem(t, ended, "the wait for the Target", func(item *v1alpha1.DeployItem) bool {
		return item.Status.Phase == v1alpha1.DeployItemPhases.Deleting && item.Status.LastError != nil && item.Status.LastError.Reason == "NoTargetFound"
	})
	createTarget(t, namespace, "cluster", access)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	awaitGone(t, deployed, &corev1.ConfigMapList{}, configMap(namespace, "smallest"))
}

// TestSecretAppearsLater waits for the Secret of a Target.
func TestSecretAppearsLater(t *testing.T) {
	namespace := namespaces(t)
	createLateTarget(t, namespace, "cluster")
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	awaitMissing(t, item, "ResolveTarget", "SecretNotFound", "Secret "+namespace+"/late of Target "+namespace+"/cluster does not exist: create it")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "late"}, Data: map[string][]byte{"other": access}}
	if err := items.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	awaitMissing(t, item, "ResolveTarget", "SecretKeyNotFound", "no key access")
	secret.Data["access"] = access
	if err := items.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	before := mark(t, resource)
	again(t, item, oneConfigMap)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if got := count(t, resource, namespace, before); got["get secrets"] != 0 {
		t.Errorf("the same version of a Secret is read again: %v", got)
	}
}
