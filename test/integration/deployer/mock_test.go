package deployer_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
)

// TestMock: the configuration of an item says how its job ends and what it exports. The items need
// no target.
func TestMock(t *testing.T) {
	const head = "apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderConfiguration\n"
	namespace := namespaces(t)
	mocked := func(name, config string) *v1alpha1.DeployItem {
		item := newItem(t, namespace, name, head+config)
		item.Spec.Type, item.Spec.Target = v1alpha1.MockDeployItemType, nil
		create(t, item)
		return item
	}
	ended := awaitEnd(t, mocked("good", "providerStatus: {apiVersion: acme.example/v1, kind: Note, text: hello}\nexport: {a: {b: 1}}"), v1alpha1.DeployItemPhases.Succeeded)
	if _, values := exported(t, ended); cmp.Diff(map[string]any{"a": map[string]any{"b": 1.0}}, values) != "" {
		t.Errorf("exports %v", values)
	}
	if status, _ := condition(ended, v1alpha1.DeployItemValidationCondition); status != v1alpha1.ConditionTrue || ended.Status.ProviderStatus == nil {
		t.Errorf("condition %s, provider status %v", status, ended.Status.ProviderStatus)
	}
	awaitEnd(t, mocked("bad", "phase: Failed"), v1alpha1.DeployItemPhases.Failed)
	wrong := awaitEnd(t, mocked("wrong", "phase: 7"), v1alpha1.DeployItemPhases.Failed)
	if status, _ := condition(wrong, v1alpha1.DeployItemValidationCondition); status != v1alpha1.ConditionFalse || !hasCode(wrong.Status.LastError, v1alpha1.ErrorConfigurationProblem) {
		t.Errorf("condition %s, last error %+v", status, wrong.Status.LastError)
	}
	running := mocked("running", "initialPhase: Progressing")
	awaitItem(t, running, "the wait", func(item *v1alpha1.DeployItem) bool {
		return item.Status.Phase == v1alpha1.DeployItemPhases.Progressing
	})
	again := mocked("again", "export: {a: 1}\ncontinuousReconcile: {every: 1s}")
	t.Cleanup(func() {
		if err := switchOff(context.Background(), again); err != nil {
			t.Error(err)
		}
	})
	first := awaitEnd(t, again, v1alpha1.DeployItemPhases.Succeeded)
	secret, _ := exported(t, first)
	if same, _ := exported(t, awaitJobAfter(t, first)); same.ResourceVersion != secret.ResourceVersion {
		t.Error("the export Secret was written although no value has changed")
	}
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
}
