package deployer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestFailingHook ends the attempt, and the next one begins with hooks of an
// installation.
func TestFailingHook(t *testing.T) {
	t.Parallel()
	failing := strings.Replace(hookJob("post-install", "after", ""), "backoffLimit: 0\n", "backoffLimit: 0\n  activeDeadlineSeconds: 1\n  suspend: false\n", 1)
	failing = strings.Replace(failing, "restartPolicy: Never,", "restartPolicy: Never, nodeSelector: {no: node},", 1)
	item := helmItem(t, with(notes, map[string]string{"templates/after.yaml": failing}), "")
	create(t, item)
	awaitItem(t, item, "the failure of the hook", func(item *v1alpha1.DeployItem) bool {
		return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, "post-install hook after failed") && strings.Contains(item.Status.LastError.Message, "the Job has failed: DeadlineExceeded")
	})
	if statuses := revisions(t, item.Namespace); statuses["1"] != "failed" {
		t.Errorf("revisions %v", statuses)
	}
	item = reconfigured(t, item, helmConfig(t, with(notes, map[string]string{"templates/after.yaml": hookJob("post-install", "after", "")}), ""))
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if upgrade := note(t, item.Namespace, "notes-note")["upgrade"]; upgrade != "false" {
		t.Errorf("a release that was never deployed is upgraded: %q", upgrade)
	}
}

// TestUpgradeAcrossVersions changes an object by another version of its API.
func TestUpgradeAcrossVersions(t *testing.T) {
	scaler := func(version, metrics string) map[string]string {
		return with(notes, map[string]string{"templates/scaler.yaml": "apiVersion: autoscaling/" + version + "\nkind: HorizontalPodAutoscaler\nmetadata: {name: scaler}\n" +
			"spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: server}" + metrics + "}\n"})
	}
	item := helmItem(t, scaler("v1", ", targetCPUUtilizationPercentage: 50"), "")
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	before, after := &autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{}
	key := client.ObjectKey{Namespace: item.Namespace, Name: "scaler"}
	if err := deployed.Get(t.Context(), key, before); err != nil {
		t.Fatal(err)
	}
	item = reconfigured(t, item, helmConfig(t, scaler("v2", ", metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]"), ""))
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if err := deployed.Get(t.Context(), key, after); err != nil {
		t.Fatal(err)
	}
	if after.UID != before.UID || len(after.Spec.Metrics) != 1 || *after.Spec.Metrics[0].Resource.Target.AverageUtilization != 70 {
		t.Errorf("the object is %+v", after.Spec)
	}
}

// TestDefinitionsOfCharts deploys a kind and an object of it, with and without a release.
func TestDefinitionsOfCharts(t *testing.T) {
	for reason, mode := range map[string]string{"release": "", "objects": "helmDeployment: false"} {
		t.Run(reason, func(t *testing.T) {
			kind := map[string]string{"release": "Gadget", "objects": "Gizmo"}[reason]
			plural := strings.ToLower(kind) + "s"
			files := with(notes, map[string]string{
				"crds/kind.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.helm.example.org}
spec:
  group: helm.example.org
  names: {kind: ` + kind + `, plural: ` + plural + `}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`,
				"templates/one.yaml": `{{ if .Capabilities.APIVersions.Has "helm.example.org/v1/` + kind + `" }}
apiVersion: helm.example.org/v1
kind: ` + kind + `
metadata: {name: one}
size: {{ .Values.size | default 1 }}
{{ end }}`,
			})
			item := helmItem(t, files, mode)
			create(t, item)
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			item = reconfigured(t, item, helmConfig(t, files, mode+"\nvalues: {size: 2}\n"))
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			one := unstructuredFrom(t, "{apiVersion: helm.example.org/v1, kind: "+kind+", metadata: {name: one, namespace: "+item.Namespace+"}}")
			if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil || one.Object["size"] != int64(2) {
				t.Errorf("%v: %v", err, one.Object)
			}
		})
	}
}

// TestDriftOfRelease corrects a change by another client with a new revision.
func TestDriftOfRelease(t *testing.T) {
	t.Parallel()
	item := helmItem(t, notes, "continuousReconcile: {every: 1s, drift: correct}")
	create(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	changed := configMap(item.Namespace, "notes-note")
	if err := deployed.Patch(t.Context(), changed, client.RawPatch(types.MergePatchType, []byte(`{"data":{"text":"changed","more":"theirs"}}`))); err != nil {
		t.Fatal(err)
	}
	corrected := await(t, deployed, &corev1.ConfigMapList{}, changed, "the correction", func(found *corev1.ConfigMap) bool { return found.Data["text"] == "hello" })
	if corrected.Data["more"] != "theirs" {
		t.Errorf("the field of another client is lost: %v", corrected.Data)
	}
	// The job that corrects it stores its record last.
	awaitItem(t, awaitJobAfter(t, item), "that nothing differs any more", func(item *v1alpha1.DeployItem) bool {
		drifted, _ := condition(item, v1alpha1.DriftedCondition)
		return drifted == v1alpha1.ConditionFalse
	})
	if statuses := revisions(t, item.Namespace); statuses["2"] != "deployed" {
		t.Errorf("revisions %v", statuses)
	}
	// It would continue without end, and be counted among the requests of others.
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
}

// TestVersionOfAKindIsRemoved removes objects whose version the cluster has stopped to serve,
// although it was known to be served a moment ago.
func TestVersionOfAKindIsRemoved(t *testing.T) {
	t.Parallel()
	for kind, mode := range map[string]string{"Gauge": "", "Meter": "helmDeployment: false"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			// The end of a definition takes time, and another run may come before it.
			kind := fmt.Sprintf("%s%d", kind, time.Now().UnixNano())
			plural := strings.ToLower(kind) + "s"
			definition := unstructuredFrom(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: `+plural+`.helm.example.org}, spec: {
group: helm.example.org, names: {kind: `+kind+`, plural: `+plural+`}, scope: Namespaced, versions: [
{name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}},
{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`)
			if err := deployed.Create(t.Context(), definition); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = deployed.Delete(context.Background(), definition) })
			item := helmItem(t, with(notes, map[string]string{"templates/one.yaml": "apiVersion: helm.example.org/v1beta1\nkind: " + kind + "\nmetadata: {name: one}\n"}), mode)
			create(t, item)
			item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			defer cancel()
			list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "helm.example.org/v1beta1", "kind": kind + "List"}}
			events, err := deployed.Watch(ctx, list, client.InNamespace(item.Namespace))
			if err != nil {
				t.Fatal(err)
			}
			defer events.Stop()
			if err := deployed.Patch(t.Context(), definition, client.RawPatch(types.JSONPatchType, []byte(`[{"op": "replace", "path": "/spec/versions/0/served", "value": false}]`))); err != nil {
				t.Fatal(err)
			}
			for range events.ResultChan() {
				// The API server ends all watches of the version.
			}
			if ctx.Err() != nil {
				t.Fatal("the version is still served")
			}
			remove(t, item)
			awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
			one := unstructuredFrom(t, "{apiVersion: helm.example.org/v1, kind: "+kind+", metadata: {name: one, namespace: "+item.Namespace+"}}")
			if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(one), one); !apierrors.IsNotFound(err) {
				t.Errorf("the object stays on the cluster without a record of it: %v", err)
			}
		})
	}
}
