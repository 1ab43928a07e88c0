package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/test/landscape"
)

// TestHelmRelease deploys a chart from an Installation, waits for its workload, reads
// exports, and removes it.
func TestHelmRelease(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := newInstallation(space, "greeter", landscape.HelmItem(packed(t, "1.0.0", greeter), `values: {greeting: good day}
exports:
  exports:
  - {key: port, jsonPath: .Values.port}
  - {key: greeting, jsonPath: .data.greeting, fromResource: {apiVersion: v1, kind: ConfigMap, name: NAME-greeting, namespace: NAMESPACE}}`))
	create(t, inst)
	waitSucceeded(t, inst)
	greeting := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "greeter-greeting"}, greeting); err != nil {
		t.Fatal(err)
	}
	if greeting.Data["greeting"] != "good day" || greeting.Data["revision"] != "1" || greeting.Data["upgrade"] != "false" ||
		greeting.Labels["app.kubernetes.io/managed-by"] != "Helm" || greeting.Annotations["meta.helm.sh/release-name"] != "greeter" {
		t.Errorf("the ConfigMap is %+v", greeting)
	}
	record := &corev1.Secret{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "sh.helm.release.v1.greeter.v1"}, record); err != nil {
		t.Fatal(err)
	}
	if record.Labels["status"] != "deployed" || record.Labels["owner"] != "helm" || record.Type != "helm.sh/release.v1" {
		t.Errorf("the record has %v, type %s", record.Labels, record.Type)
	}
	item := onlyItem(t, space)
	checkHelmExports(t, item)
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	waitGone(t, env.Workload, record, &corev1.SecretList{})
	waitGone(t, env.Workload, greeting, &corev1.ConfigMapList{})
	hook := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "greeter-hook"}, hook); err != nil || hook.Data["ran"] != "1" {
		t.Errorf("a hook stays: %v, %v", err, hook.Data)
	}
}

func checkHelmExports(t *testing.T, item *v1alpha1.DeployItem) {
	t.Helper()
	exports := &corev1.Secret{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: item.Namespace, Name: item.Name + "-export"}, exports); err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := json.Unmarshal(exports.Data["config"], &values); err != nil || values["port"] != float64(8080) || values["greeting"] != "good day" {
		t.Errorf("exports: %v %s", err, exports.Data["config"])
	}
	want := `{"apiVersion":"helm.deployer.landscaper.gardener.cloud/v1alpha1","kind":"ProviderStatus","managedResources":[{"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"greeter","namespace":"` + item.Namespace + `"}}],"release":{"name":"greeter","namespace":"` + item.Namespace + `"}}`
	clusters := clustersOf(t, item)
	if clusters.Cluster == nil || clusters.Cluster.ID != idOf(t, env.Workload) || clusters.Cluster.Server != env.Target.Server {
		t.Errorf("the recorded cluster is %+v", clusters.Cluster)
	}
	// Apart from the cluster and the name of the release, the status is what upstream writes.
	published, err := placement.Write(item.Status.ProviderStatus.Raw, apideployer.ClusterRecord{})
	if got := string(published); err != nil || got != want {
		t.Errorf("provider status\n%s, want\n%s (error %v)", got, want, err)
	}
}

// onlyItem is the DeployItem of a namespace.
func onlyItem(t *testing.T, space string) *v1alpha1.DeployItem {
	t.Helper()
	items := &v1alpha1.DeployItemList{}
	if err := env.Admin.List(t.Context(), items, client.InNamespace(space)); err != nil || len(items.Items) != 1 {
		t.Fatalf("%d items: %v", len(items.Items), err)
	}
	return &items.Items[0]
}

// TestHelmAfterKill kills the server while a hook runs; the next one ends the work.
func TestHelmAfterKill(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	files := maps.Clone(greeter)
	// The Job does not run until there is a node for it.
	files["templates/work.yaml"] = `apiVersion: batch/v1
kind: Job
metadata: {name: work, annotations: {helm.sh/hook: pre-install}}
spec: {suspend: {{ .Values.suspended }}, template: {spec: {restartPolicy: Never, containers: [{name: work, image: "example.org/work:1"}]}}}
`
	inst := create(t, newInstallation(space, "greeter", landscape.HelmItem(packed(t, "1.0.0", files), "values: {suspended: true}")))
	record := client.ObjectKey{Namespace: space, Name: "sh.helm.release.v1.greeter.v1"}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "work"}}
	waitThere(t, env.Workload, job, &batchv1.JobList{})
	server.EndBy(syscall.SIGKILL)
	if status := recordStatus(t, record); status != "pending-install" {
		t.Errorf("the release is %s", status)
	}
	startServer(t, env.ServerKubeconfig)
	// The next server runs the hook again; then it is allowed to work.
	record.Name = "sh.helm.release.v1.greeter.v2"
	second := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: record.Name}}
	waitThere(t, env.Workload, second, &corev1.SecretList{})
	waitOther(t, job)
	if err := env.Workload.Patch(t.Context(), job, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))); err != nil {
		t.Fatal(err)
	}
	waitSucceeded(t, inst)
	if status := recordStatus(t, record); status != "deployed" {
		t.Errorf("the release is %s", status)
	}
}

func recordStatus(t *testing.T, key client.ObjectKey) string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := env.Workload.Get(t.Context(), key, secret); err != nil {
		t.Fatal(err)
	}
	return secret.Labels["status"]
}

// waitOther watches until another Job has the name of one, and reads it.
func waitOther(t *testing.T, job *batchv1.Job) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := env.Workload.Watch(ctx, &batchv1.JobList{}, client.InNamespace(job.Namespace), client.MatchingFields{"metadata.name": job.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	first := job.UID
	for event := range events.ResultChan() {
		if found, ok := event.Object.(*batchv1.Job); ok && found.UID != first && event.Type != watch.Deleted {
			*job = *found
			return
		}
	}
	t.Fatalf("there is no other Job %s", job.Name)
}

// waitThere watches until an object exists, and reads it.
func waitThere(t *testing.T, cluster client.WithWatch, object client.Object, list client.ObjectList) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := cluster.Watch(ctx, list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Added || event.Type == watch.Modified {
			if err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object); err == nil {
				return
			}
		}
	}
	t.Fatalf("%T %s does not come", object, object.GetName())
}
