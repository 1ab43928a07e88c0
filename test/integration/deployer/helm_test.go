package deployer_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// notes is a chart with one ConfigMap.
var notes = map[string]string{
	"values.yaml": "text: hello\nextra: false\n",
	"templates/note.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-note"}
data: {text: {{ .Values.text | quote }}, revision: {{ .Release.Revision | quote }}, upgrade: {{ .Release.IsUpgrade | quote }}}
`,
	"templates/extra.yaml": `{{ if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-extra"}
{{ end }}
`,
}

// with returns a chart with further files.
func with(files map[string]string, more map[string]string) map[string]string {
	files = maps.Clone(files)
	maps.Copy(files, more)
	return files
}

func workload(name string, replicas int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: server, image: "example.org/server:1"}]}
`, name, replicas)
}

// helmConfig is the configuration of an item with a chart.
func helmConfig(t *testing.T, files map[string]string, more string) string {
	t.Helper()
	archive, err := landscape.Chart("notes", "1.0.0", "", files)
	if err != nil {
		t.Fatal(err)
	}
	return `apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
kind: ProviderConfiguration
name: notes
namespace: NAMESPACE
chart: {archive: {raw: ` + archive + `}}
` + more
}

// helmItem is an item with a chart; its Target exists.
func helmItem(t *testing.T, files map[string]string, more string) *v1alpha1.DeployItem {
	t.Helper()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "chart", helmConfig(t, files, more))
	item.Spec.Type = v1alpha1.HelmDeployItemType
	return item
}

// reconfigured gives an item another configuration and a job.
func reconfigured(t *testing.T, item *v1alpha1.DeployItem, config string) *v1alpha1.DeployItem {
	t.Helper()
	again(t, item, config)
	return item
}

// revisions are the records of the release of a namespace: revision and status.
func revisions(t *testing.T, namespace string) map[string]string {
	t.Helper()
	found := &corev1.SecretList{}
	if err := deployed.List(t.Context(), found, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	statuses := map[string]string{}
	for _, secret := range found.Items {
		statuses[secret.Labels["version"]] = secret.Labels["status"]
	}
	return statuses
}

func checkRevisions(t *testing.T, namespace string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, revisions(t, namespace)); diff != "" {
		t.Errorf("revisions, -want +got\n%s", diff)
	}
}

// note reads a ConfigMap of the release; nil if it does not exist.
func note(t *testing.T, namespace, name string) map[string]string {
	t.Helper()
	found := configMap(namespace, name)
	err := deployed.Get(t.Context(), client.ObjectKeyFromObject(found), found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if found.Data == nil {
		return map[string]string{}
	}
	return found.Data
}

// TestReleaseIsUpgradedOnlyOnChange follows a release over several jobs.
func TestReleaseIsUpgradedOnlyOnChange(t *testing.T) {
	files := with(notes, map[string]string{"templates/server.yaml": workload("server", 1)})
	item := helmItem(t, files, "values: {text: first, extra: true}")
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkRevisions(t, item.Namespace, map[string]string{"1": "deployed"})

	before := mark(t, target)
	handOver(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	// The records, and the only object that has to become ready.
	if diff := cmp.Diff(map[string]int{"list secrets": 1, "get deployments.apps": 1}, count(t, target, item.Namespace, before)); diff != "" {
		t.Errorf("requests of an unchanged run, -want +got\n%s", diff)
	}
	checkRevisions(t, item.Namespace, map[string]string{"1": "deployed"})

	// A removed value has the chart's default again, and the object that depended on the value is
	// deleted.
	item = reconfigured(t, item, helmConfig(t, files, ""))
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkRevisions(t, item.Namespace, map[string]string{"1": "superseded", "2": "deployed"})
	if diff := cmp.Diff(map[string]string{"text": "hello", "revision": "2", "upgrade": "true"}, note(t, item.Namespace, "notes-note")); diff != "" {
		t.Errorf("the note, -want +got\n%s", diff)
	}
	if note(t, item.Namespace, "notes-extra") != nil {
		t.Error("an object stays that the chart does not make any more")
	}

	// The workload is removed: it is deployed again, although nothing has changed.
	server := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: item.Namespace, Name: "server"}}
	if err := deployed.Delete(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	handOver(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkRevisions(t, item.Namespace, map[string]string{"1": "superseded", "2": "superseded", "3": "deployed"})

	item = reconfigured(t, item, helmConfig(t, files, "helmDeploymentConfig: {upgrade: {always: true}}"))
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if statuses := revisions(t, item.Namespace); statuses["4"] != "deployed" {
		t.Errorf("upgrade.always makes no upgrade: %v", statuses)
	}
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	if note(t, item.Namespace, "notes-note") != nil || len(revisions(t, item.Namespace)) > 0 {
		t.Error("something of the release is left")
	}
}

// hookJob is a hook that works.
func hookJob(event, name, more string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {helm.sh/hook: %q%s}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: work, image: "example.org/work:1"}]}}
`, name, event, more)
}

// TestHooksRunInTheirOrder waits for a hook, and says so.
func TestHooksRunInTheirOrder(t *testing.T) {
	item := helmItem(t, with(notes, map[string]string{
		"templates/before.yaml": gated(hookJob("pre-install", "before", ", helm.sh/hook-delete-policy: hook-succeeded")),
		"templates/test.yaml":   hookJob("test", "trial", ""),
	}), "")
	create(t, item)
	awaitItem(t, item, "that it waits for the hook", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "pre-install hook Job "+item.Namespace+"/before to complete (")
	})
	if note(t, item.Namespace, "notes-note") != nil {
		t.Error("an object is there before the hook is complete")
	}
	checkRevisions(t, item.Namespace, map[string]string{"1": "pending-install"})
	openGate(t, item.Namespace)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	awaitGone(t, deployed, &batchv1.JobList{}, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: item.Namespace, Name: "before"}})
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: item.Namespace, Name: "trial"}, &batchv1.Job{}); !apierrors.IsNotFound(err) {
		t.Errorf("a test runs: %v", err)
	}
	checkRevisions(t, item.Namespace, map[string]string{"1": "deployed"})
}

// TestFailureIsUndone lets an upgrade fail that is atomic.
func TestFailureIsUndone(t *testing.T) {
	atomic := "helmDeploymentConfig: {install: {atomic: true}, upgrade: {atomic: true}}\n"
	item := helmItem(t, notes, atomic+"values: {text: good}")
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	wrong := with(notes, map[string]string{"templates/wrong.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: wrong}\nspec: {ports: [{port: 100000}]}\n"})
	item = reconfigured(t, item, helmConfig(t, wrong, atomic+"values: {text: bad}"))
	awaitItem(t, item, "the failure", func(item *v1alpha1.DeployItem) bool {
		return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, "Service "+item.Namespace+"/wrong")
	})
	// Another attempt may have begun, which changes the note until it is undone as well.
	await(t, deployed, &corev1.ConfigMapList{}, configMap(item.Namespace, "notes-note"), "the old text", func(note *corev1.ConfigMap) bool { return note.Data["text"] == "good" })
	statuses := revisions(t, item.Namespace)
	if statuses["1"] != "superseded" || statuses["2"] != "failed" || statuses["3"] != "deployed" && statuses["3"] != "superseded" {
		t.Errorf("revisions %v", statuses)
	}
	item = reconfigured(t, item, helmConfig(t, notes, atomic+"values: {text: better}"))
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if text := note(t, item.Namespace, "notes-note")["text"]; text != "better" {
		t.Errorf("the note says %q", text)
	}
}

// TestTemplatesWithoutRelease deploys a chart as plain objects.
func TestTemplatesWithoutRelease(t *testing.T) {
	files := with(notes, map[string]string{
		"templates/hook.yaml":   hookJob("pre-install", "before", ""),
		"templates/keep.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n",
		"templates/server.yaml": workload("server", 1),
		"templates/lookup.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: seen}
data:
  kube: {{ .Capabilities.KubeVersion.Version | quote }}
  apps: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
  uid: {{ (lookup "v1" "Namespace" "" .Release.Namespace).metadata.uid | quote }}
  host: {{ getHostByName "localhost" | quote }}
`,
	})
	item := helmItem(t, files, `helmDeployment: false
createNamespace: true
values: {extra: true}
exports: {exports: [{key: text, jsonPath: .Values.text}]}
`)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	namespace := &corev1.Namespace{}
	if err := deployed.Get(t.Context(), client.ObjectKey{Name: item.Namespace}, namespace); err != nil {
		t.Fatal(err)
	}
	seen := note(t, item.Namespace, "seen")
	if seen["apps"] != "true" || !strings.HasPrefix(seen["kube"], "v1.") || seen["uid"] != string(namespace.UID) || seen["host"] != "" {
		t.Errorf("the chart saw %v", seen)
	}
	if len(revisions(t, item.Namespace)) > 0 {
		t.Error("there is a release")
	}
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: item.Namespace, Name: "before"}, &batchv1.Job{}); !apierrors.IsNotFound(err) {
		t.Errorf("a hook is deployed: %v", err)
	}
	first := configMap(item.Namespace, "notes-note")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"manifest.deployer.landscaper.gardener.cloud/deployitem": "chart", "helm.deployer.landscaper.gardener.cloud/deployitem": "chart"}
	if diff := cmp.Diff(labels, first.Labels); diff != "" {
		t.Errorf("labels, -want +got\n%s", diff)
	}
	item = reconfigured(t, item, helmConfig(t, files, "helmDeployment: false\ncreateNamespace: true\n"))
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if note(t, item.Namespace, "notes-extra") != nil {
		t.Error("an object stays that the chart does not make any more")
	}
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	if note(t, item.Namespace, "notes-note") != nil {
		t.Error("an object is left")
	}
	if note(t, item.Namespace, "kept") == nil {
		t.Error("the object to keep was deleted")
	}
	if err := deployed.Get(t.Context(), client.ObjectKey{Name: item.Namespace}, namespace); err != nil || namespace.DeletionTimestamp != nil {
		t.Errorf("the namespace is deleted: %v", err)
	}
}
