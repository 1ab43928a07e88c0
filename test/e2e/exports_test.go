package e2e

import (
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// exportingSpec is an Installation that exports data of its item and of an import, a
// value of a mapping, and a Target.
var exportingSpec = `
imports:
  targets: [{name: cluster, target: host}]
  data: [{name: zone, dataRef: zone}]
exports:
  data: [{name: url, dataRef: shop-url}, {name: note, dataRef: shop-note}]
  targets: [{name: edge, target: shop-edge}]
exportDataMappings:
  note: (( exports.url "!" ))
blueprint:
  inline:
    filesystem:
      blueprint.yaml: |
        apiVersion: landscaper.gardener.cloud/v1alpha1
        kind: Blueprint
        imports:
        - {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
        - {name: zone, type: data, schema: {type: string}}
        exports:
        - {name: url, type: data, schema: {type: string, pattern: "^https://"}}
        - {name: edge, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
        deployExecutions:
        - name: default
          type: GoTemplate
          template: |
` + landscape.Indent(landscape.OneItem(`apiVersion: v1
kind: ConfigMap
metadata: {name: exporting, namespace: NAMESPACE}
data: {zone: {{ .imports.zone | quote }}}
`), 12) + `        exportExecutions:
        - name: default
          type: GoTemplate
          template: |
            exports:
              url: SCHEME://shop.{{ .imports.zone }}
              edge:
                type: landscaper.gardener.cloud/kubernetes-cluster
                labels: {zone: {{ .imports.zone | quote }}}
                config: {{ .imports.cluster.spec.config | toJson }}
`

var importingSpec = `
imports:
  targets: [{name: cluster, target: shop-edge}]
  data: [{name: url, dataRef: shop-url}]
blueprint:
  inline:
    filesystem:
      blueprint.yaml: |
        apiVersion: landscaper.gardener.cloud/v1alpha1
        kind: Blueprint
        imports:
        - {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
        - {name: url, type: data, schema: {type: string}}
        deployExecutions:
        - name: default
          type: GoTemplate
          template: |
` + landscape.Indent(landscape.OneItem(`apiVersion: v1
kind: ConfigMap
metadata: {name: importing, namespace: NAMESPACE}
data: {url: {{ .imports.url | quote }}}
`), 12)

// specOf decodes a specification.
func specOf(t *testing.T, space, scheme, text string) v1alpha1.InstallationSpec {
	t.Helper()
	var spec v1alpha1.InstallationSpec
	if err := yaml.Unmarshal([]byte(strings.NewReplacer("NAMESPACE", space, "SCHEME", scheme).Replace(text)), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// asking returns an Installation that asks for a job.
func asking(t *testing.T, space, name, text string) *v1alpha1.Installation {
	t.Helper()
	return &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}},
		Spec:       specOf(t, space, "https", text),
	}
}

// exportedData returns the value of a DataObject; nothing if it does not exist.
func exportedData(t *testing.T, space, name string) string {
	t.Helper()
	object := &v1alpha1.DataObject{}
	err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return string(object.Data.RawMessage)
}

// wantDeployed compares an entry of a ConfigMap on the target cluster.
func wantDeployed(t *testing.T, space, name, key, want string) {
	t.Helper()
	deployed := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, deployed); err != nil || deployed.Data[key] != want {
		t.Errorf("%s has %v, want %s in %s (%v)", name, deployed.Data, want, key, err)
	}
}

// waitTidy returns when no stored plan is left in a namespace.
func waitTidy(t *testing.T, space string) {
	t.Helper()
	waitNone(t, &corev1.SecretList{}, client.InNamespace(space), client.HasLabels{v1alpha1.GroupName + "/plan-of"})
}

// TestExports: the exports of an Installation, their importers, and the exports of later jobs.
func TestExports(t *testing.T) {
	whole, server := t, startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	zone := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "zone"}, Data: v1alpha1.NewAnyJSON([]byte(`"north"`))}
	createAll(t, zone)
	inst := create(t, asking(t, space, "exporting", exportingSpec))
	importing := create(t, asking(t, space, "importing", importingSpec))
	inst = waitSucceeded(t, inst)
	waitSucceeded(t, importing)
	checkExports(t, inst, "north")
	wantDeployed(t, space, "importing", "url", "https://shop.north")
	waitTidy(t, space)

	t.Run("a changed import changes the exports, also if the server is killed in between", func(t *testing.T) {
		zone.Data = v1alpha1.NewAnyJSON([]byte(`"south"`))
		if err := env.Admin.Update(t.Context(), zone); err != nil {
			t.Fatal(err)
		}
		before := getInstallation(t, inst).Status.JobID
		request(t, inst, v1alpha1.ReconcileOperation)
		waitFor(t, client.ObjectKeyFromObject(inst), "progressing", func(inst *v1alpha1.Installation) bool {
			return inst.Status.JobID != before && inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Init
		})
		server.EndBy(syscall.SIGKILL)
		// The job continues with the inputs that it was admitted with.
		zone.Data = v1alpha1.NewAnyJSON([]byte(`"later"`))
		if err := env.Admin.Update(t.Context(), zone); err != nil {
			t.Fatal(err)
		}
		startServer(whole, env.ServerKubeconfig)
		inst = waitFinished(t, inst, before)
		checkExports(t, inst, "south")
		waitTidy(t, space)
	})

	t.Run("the last good exports stay when a job fails", func(t *testing.T) {
		failed := again(t, inst, specOf(t, space, "ftp", exportingSpec), v1alpha1.InstallationPhases.Failed)
		if e := failed.Status.LastError; e == nil || e.Operation != "handlePhaseCompleting" || e.Reason != "ConstructExports" || strings.Contains(e.Message, "later") {
			t.Errorf("%+v", e)
		}
		if got := exportedData(t, space, "shop-url"); got != `"https://shop.south"` {
			t.Errorf("shop-url is %q", got)
		}
		waitTidy(t, space)
	})

	t.Run("a DataObject that is no longer exported is deleted after success", func(t *testing.T) {
		spec := specOf(t, space, "https", exportingSpec)
		spec.Exports.Data, spec.Exports.Targets, spec.ExportDataMappings = spec.Exports.Data[:1], nil, nil
		inst = again(t, inst, spec, v1alpha1.InstallationPhases.Succeeded)
		if got := exportedData(t, space, "shop-url"); got != `"https://shop.later"` {
			t.Errorf("shop-url is %q", got)
		}
		err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "shop-edge"}, &v1alpha1.Target{})
		if got := exportedData(t, space, "shop-note"); got != "" || !apierrors.IsNotFound(err) {
			t.Errorf("shop-note is %q, shop-edge: %v", got, err)
		}
	})

	t.Run("a DataObject of another Installation is left alone", func(t *testing.T) {
		thief := asking(t, space, "thief", exportingSpec)
		thief.Spec.Blueprint = specOf(t, space, "https", strings.ReplaceAll(exportingSpec, "name: exporting", "name: thief")).Blueprint
		checkFailed(t, create(t, thief), "CreateOrUpdateExports", "owned by another installation", "choose another name")
	})

	t.Run("exports are deleted with their Installation, after the Installations that import them", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitFor(t, client.ObjectKeyFromObject(inst), "waiting", func(inst *v1alpha1.Installation) bool {
			return inst.Status.LastError != nil && inst.Status.LastError.Reason == "SiblingImport" && strings.Contains(inst.Status.LastError.Message, "importing")
		})
		// Its Target was deleted before.
		annotate(t, importing, map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"})
		if err := env.Admin.Delete(t.Context(), importing); err != nil {
			t.Fatal(err)
		}
		object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "shop-url"}}
		waitGone(t, env.Admin, object, &v1alpha1.DataObjectList{})
	})
}

// checkExports compares the exports of a job with those that upstream writes.
func checkExports(t *testing.T, inst *v1alpha1.Installation, zone string) {
	t.Helper()
	if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("%s: %+v", inst.Status.InstallationPhase, inst.Status.LastError)
	}
	for name, want := range map[string]string{"shop-url": `"https://shop.` + zone + `"`, "shop-note": `"https://shop.` + zone + `!"`} {
		if got := exportedData(t, inst.Namespace, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	edge := &v1alpha1.Target{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: inst.Namespace, Name: "shop-edge"}, edge); err != nil {
		t.Fatal(err)
	}
	labels := edge.Labels
	if labels["zone"] != zone || labels[v1alpha1.DataObjectJobIDLabel] != inst.Status.JobID || labels[v1alpha1.DataObjectKeyLabel] != "edge" && labels[v1alpha1.DataObjectKeyLabel] != "shop-edge" ||
		labels[v1alpha1.DataObjectSourceLabel] != "Inst.exporting" || labels[v1alpha1.DataObjectSourceTypeLabel] != "export" || edge.Annotations[v1alpha1.DataObjectHashAnnotation] == "" {
		t.Errorf("shop-edge has labels %v and annotations %v", labels, edge.Annotations)
	}
	if owners := edge.OwnerReferences; len(owners) != 1 || owners[0].UID != inst.UID || owners[0].Controller != nil {
		t.Errorf("shop-edge belongs to %+v", owners)
	}
	wantDeployed(t, inst.Namespace, "exporting", "zone", zone)
}
