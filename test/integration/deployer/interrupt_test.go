package deployer_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// hold puts a finalizer on a ConfigMap, or takes it away.
func hold(t *testing.T, namespace, name string, finalizers ...string) {
	t.Helper()
	object := configMap(namespace, name)
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	object.Finalizers = finalizers
	if err := deployed.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// interrupt ends the job of an item from the outside, as an Execution does, and returns
// the item as it is then.
func interrupt(ctx context.Context, item *v1alpha1.DeployItem, phase v1alpha1.DeployItemPhase) (*v1alpha1.DeployItem, error) {
	found := &v1alpha1.DeployItem{}
	// The deployer may be telling news in the same moment.
	return found, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := items.Get(ctx, client.ObjectKeyFromObject(item), found); err != nil {
			return err
		}
		found.Status.Phase, found.Status.JobIDFinished = phase, found.Status.JobID
		return items.Status().Update(ctx, found)
	})
}

// gated lets the pods of a workload of a chart run only when the gate of their namespace is
// open.
func gated(text string) string {
	return strings.ReplaceAll(text, "containers:", `nodeSelector: {"{{ .Release.Namespace }}": open}, containers:`)
}

// openGate lets gated pods run.
func openGate(t *testing.T, namespace string) {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := deployed.List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("%d nodes: %v", len(nodes.Items), err)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+namespace+`":"open"}}}`))
	if err := deployed.Patch(t.Context(), &nodes.Items[0], patch); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptionOfEachStage ends a job from the outside in every stage that waits. From the
// moment on when the deployer sees that, nothing is asked or written any more, which is earlier
// than the second after which the published deployers notice it, and the next job continues from
// there.
func TestInterruptionOfEachStage(t *testing.T) {
	const held = "acme.example/hold"
	deploy := func(t *testing.T, item *v1alpha1.DeployItem, name string) {
		create(t, item)
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		hold(t, item.Namespace, name, held)
	}
	signal := func(t *testing.T, namespace string) {
		object := configMap(namespace, "signal")
		object.Data = map[string]string{"go": "now"}
		if err := deployed.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		stage, config string
		// begin brings the item into the stage.
		begin func(t *testing.T, item *v1alpha1.DeployItem)
		waits string
		phase v1alpha1.DeployItemPhase
		// allow lets the stage end.
		allow func(t *testing.T, namespace string)
		goes  bool
	}{
		{"custom checks", awaitsSignal, create, "ConfigMap NAMESPACE/signal to become ready", v1alpha1.DeployItemPhases.Failed, signal, false},
		{
			"exports", oneConfigMap + "exports: {exports: [{key: go, jsonPath: .data.go, fromResource: {apiVersion: v1, kind: ConfigMap, name: signal, namespace: NAMESPACE}}]}\n",
			create, "ConfigMap NAMESPACE/signal, to export go", v1alpha1.DeployItemPhases.Failed, signal, false,
		},
		{"orphans", twoConfigMaps, func(t *testing.T, item *v1alpha1.DeployItem) {
			deploy(t, item, "goes")
			again(t, item, strings.Join(strings.Split(twoConfigMaps, "\n")[:5], "\n"))
		}, "the end of ConfigMap NAMESPACE/goes (finalizer " + held + ")", v1alpha1.DeployItemPhases.Failed, func(t *testing.T, namespace string) { hold(t, namespace, "goes") }, false},
		{"objects that another client deletes", oneConfigMap, func(t *testing.T, item *v1alpha1.DeployItem) {
			deploy(t, item, "smallest")
			if err := deployed.Delete(t.Context(), configMap(item.Namespace, "smallest")); err != nil {
				t.Fatal(err)
			}
			again(t, item, oneConfigMap)
		}, "the end of ConfigMap NAMESPACE/smallest", v1alpha1.DeployItemPhases.Failed, func(t *testing.T, namespace string) { hold(t, namespace, "smallest") }, false},
		{"deletion", oneConfigMap, func(t *testing.T, item *v1alpha1.DeployItem) {
			deploy(t, item, "smallest")
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
				t.Fatal(err)
			}
			remove(t, item)
		}, "the end of ConfigMap NAMESPACE/smallest", v1alpha1.DeployItemPhases.DeleteFailed, func(t *testing.T, namespace string) { hold(t, namespace, "smallest") }, true},
		{"a hook of a release", helmConfig(t, with(notes, map[string]string{"templates/hook.yaml": gated(hookJob("pre-install", "before", ""))}), ""),
			create, "pre-install hook Job NAMESPACE/before to complete", v1alpha1.DeployItemPhases.Failed, openGate, false},
		{"a release that waits for its objects", helmConfig(t, with(notes, map[string]string{"templates/server.yaml": gated(workload("server", 1))}), "helmDeploymentConfig: {install: {wait: true}}"),
			create, "Deployment NAMESPACE/server to become ready", v1alpha1.DeployItemPhases.Failed, openGate, false},
		{"objects of a release", helmConfig(t, with(notes, map[string]string{"templates/server.yaml": gated(workload("server", 1))}), ""),
			create, "Deployment NAMESPACE/server to become ready", v1alpha1.DeployItemPhases.Failed, openGate, false},
		{"objects of a chart without a release", helmConfig(t, with(notes, map[string]string{"templates/server.yaml": gated(workload("server", 1))}), "helmDeployment: false"),
			create, "Deployment NAMESPACE/server to become ready", v1alpha1.DeployItemPhases.Failed, openGate, false},
		{"the end of a release", helmConfig(t, notes, "helmDeploymentConfig: {uninstall: {wait: true}}"), func(t *testing.T, item *v1alpha1.DeployItem) {
			deploy(t, item, "notes-note")
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
				t.Fatal(err)
			}
			remove(t, item)
		}, "the end of ConfigMap NAMESPACE/notes-note", v1alpha1.DeployItemPhases.DeleteFailed, func(t *testing.T, namespace string) { hold(t, namespace, "notes-note") }, true},
	}
	for _, test := range tests {
		t.Run(test.stage, func(t *testing.T) {
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			item := newItem(t, namespace, "item", test.config)
			if strings.Contains(test.config, "helm.deployer") {
				item.Spec.Type = v1alpha1.HelmDeployItemType
			}
			test.begin(t, item)
			waiting, err := interrupt(t.Context(), awaitText(t, item, strings.ReplaceAll(test.waits, "NAMESPACE", namespace)), test.phase)
			if err != nil {
				t.Fatal(err)
			}
			interrupted := waiting.ResourceVersion
			// The deployer cannot react before it has seen the request.
			settle(t, namespace)
			before := mark(t, target)
			test.allow(t, namespace)
			// Another item shows that the deployer has had the time to do something wrong.
			other := newItem(t, namespace, "other", strings.ReplaceAll(oneConfigMap, "smallest", "other"))
			create(t, other)
			awaitEnd(t, other, v1alpha1.DeployItemPhases.Succeeded)
			if got := count(t, target, namespace, before); len(got) != 1 || got["create configmaps"] != 1 {
				t.Errorf("requests after the interruption: %v, want one of another item", got)
			}
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(waiting), waiting); err != nil || waiting.ResourceVersion != interrupted {
				t.Errorf("an interrupted item was written: %+v, error %v", waiting.Status, err)
			}
			handOver(t, waiting)
			if test.goes {
				awaitGone(t, items, &v1alpha1.DeployItemList{}, waiting)
				return
			}
			awaitEnd(t, waiting, v1alpha1.DeployItemPhases.Succeeded)
		})
	}
}
