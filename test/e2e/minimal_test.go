package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestMinimal is the walking path: one Installation becomes a ConfigMap on another
// cluster, runs again, and disappears again.
func TestMinimal(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := create(t, newInstallation(space, "smallest", oneConfigMap))

	done := waitSucceeded(t, inst)
	deployed := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: space, Name: "smallest"}
	if err := env.Workload.Get(t.Context(), key, deployed); err != nil || deployed.Data["greeting"] != "hello" {
		t.Fatalf("the ConfigMap is not deployed: %v, %v", deployed.Data, err)
	}
	checkStatus(t, done)

	t.Run("runs again on request and changes nothing", func(t *testing.T) {
		before := deployed.ResourceVersion
		request(t, done, v1alpha1.ReconcileOperation)
		again := waitFinished(t, done, done.Status.JobID)
		if again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || again.Annotations[v1alpha1.OperationAnnotation] != "" {
			t.Errorf("phase %s, annotations %v", again.Status.InstallationPhase, again.Annotations)
		}
		if err := env.Workload.Get(t.Context(), key, deployed); err != nil || deployed.ResourceVersion != before {
			t.Errorf("the ConfigMap was written although nothing changed (%v)", err)
		}
	})

	t.Run("a removed item is uninstalled", func(t *testing.T) {
		current := getInstallation(t, inst)
		current.Spec.Blueprint = newInstallation(space, "other", oneConfigMap).Spec.Blueprint
		current.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
		if err := env.Admin.Update(t.Context(), current); err != nil {
			t.Fatal(err)
		}
		waitFinished(t, current, current.Status.JobID)
		if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "other"}, &corev1.ConfigMap{}); err != nil {
			t.Errorf("the new ConfigMap: %v", err)
		}
		if err := env.Workload.Get(t.Context(), key, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("the old ConfigMap is still there (%v)", err)
		}
	})

	t.Run("deletion in reverse", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		for _, list := range []client.ObjectList{&v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}} {
			if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(list); strings.Contains(text, "smallest") {
				t.Errorf("%T is left", list)
			}
		}
		if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "other"}, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("the ConfigMap is left (%v)", err)
		}
	})
}

// checkStatus compares the final objects with those that upstream writes.
func checkStatus(t *testing.T, inst *v1alpha1.Installation) {
	t.Helper()
	status := inst.Status
	if status.ObservedGeneration != inst.Generation || status.LastError != nil || status.ExecutionReference == nil || status.ImportsHash != "e33d3b041a7833ac77c1dea46466e2adb9980dd5" {
		t.Errorf("status %+v", status)
	}
	times := status.TransitionTimes
	if times == nil || times.TriggerTime == nil || times.InitTime == nil || times.WaitTime == nil || times.FinishedTime == nil {
		t.Errorf("transition times %+v", times)
	}
	for conditionType, want := range map[v1alpha1.ConditionType]v1alpha1.ConditionStatus{
		"Ready": "True", "EnsureSubInstallations": "True", "ReconcileExecution": "True", "CreateExports": "True",
	} {
		at := slices.IndexFunc(status.Conditions, func(c v1alpha1.Condition) bool { return c.Type == conditionType })
		if at < 0 || status.Conditions[at].Status != want {
			t.Errorf("condition %s is not %s: %+v", conditionType, want, status.Conditions)
		}
	}
	exec := &v1alpha1.Execution{}
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), exec); err != nil {
		t.Fatal(err)
	}
	if exec.Status.JobIDFinished != status.JobID || exec.Status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded || exec.Status.ExportReference == nil {
		t.Errorf("Execution %+v", exec.Status)
	}
	items := &v1alpha1.DeployItemList{}
	if err := env.Admin.List(t.Context(), items, client.InNamespace(inst.Namespace)); err != nil {
		t.Fatal(err)
	}
	if len(items.Items) != 1 || items.Items[0].Status.JobIDFinished != status.JobID || items.Items[0].Name != exec.Status.DeployItemCache.ActiveDIs[0].ObjectName {
		t.Errorf("DeployItems %+v", items.Items)
	}
	exports := &v1alpha1.DataObject{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: inst.Namespace, Name: exec.Status.ExportReference.Name}, exports); err != nil || strings.Join(strings.Fields(string(exports.Data.RawMessage)), "") != `{"one":null}` {
		t.Errorf("exports %s, %v", exports.Data.RawMessage, err)
	}
	copied := &v1alpha1.Target{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: inst.Namespace, Name: v1alpha1.GenerateDataObjectName("Inst.smallest", "cluster")}, copied); err != nil || copied.Labels[v1alpha1.DataObjectKeyLabel] != "cluster" || copied.Labels[v1alpha1.DataObjectJobIDLabel] != status.JobID {
		t.Errorf("the copy of the Target %+v, %v", copied.Labels, err)
	}
}
