package resilience

import (
	"context"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// staged is a chart that can be stopped in each stage: its pods run when the gate of their
// namespace is open.
var staged = map[string]string{
	"values.yaml": "text: first\nhook: none\nserver: false\nheld: false\nwrong: false\n",
	"templates/note.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-note"{{ if .Values.held }}, finalizers: [acme.example/hold]{{ end }}}
data: {text: {{ .Values.text }}}
`,
	"templates/hook.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}-hook", annotations: {helm.sh/hook: {{ .Values.hook | replace "none" "test" }}}}
spec: {template: {spec: {restartPolicy: Never, nodeSelector: {"{{ .Release.Namespace }}": open}, containers: [{name: work, image: "example.org/work:1"}]}}}
`,
	"templates/server.yaml": `{{ if .Values.server }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {nodeSelector: {"{{ .Release.Namespace }}": open}, containers: [{name: server, image: "example.org/server:1"}]}
{{ end }}`,
	"templates/wrong.yaml": "{{ if .Values.wrong }}\napiVersion: v1\nkind: Service\nmetadata: {name: \"{{ .Release.Name }}\"}\nspec: {ports: [{port: 100000}]}\n{{ end }}",
}

// stage is where a server is killed.
type stage struct {
	name string
	// before is deployed first, if there is anything; then comes after, or the end.
	before, after string
	// waits is the wait that the item reports then.
	waits string
	// record is the newest record and its status, if there is a release.
	record, status string
}

func stages() []stage {
	const plain = "\nhelmDeployment: false"
	held := "the end of ConfigMap NAMESPACE/NAME-note"
	return []stage{
		{"hook", "", "values: {hook: pre-install}", "pre-install hook Job NAMESPACE/NAME-hook to complete", "v1", "pending-install"},
		{"install", "", "values: {server: true}\nhelmDeploymentConfig: {install: {wait: true}}", "Deployment NAMESPACE/NAME to become ready", "v1", "pending-install"},
		{"ready", "", "values: {server: true}", "Deployment NAMESPACE/NAME to become ready", "v1", "deployed"},
		{"upgrade", "values: {text: old}", "values: {hook: post-upgrade}", "post-upgrade hook Job NAMESPACE/NAME-hook to complete", "v2", "pending-upgrade"},
		{"rollback", "values: {hook: pre-rollback}", "values: {hook: pre-rollback, wrong: true}\nhelmDeploymentConfig: {upgrade: {atomic: true}}", "pre-rollback hook Job NAMESPACE/NAME-hook to complete", "v3", "pending-rollback"},
		{"removal", "values: {held: true}\nhelmDeploymentConfig: {uninstall: {wait: true}}", "", held, "v1", "uninstalling"},
		{"plain", "", "values: {server: true}" + plain, "Deployment NAMESPACE/NAME to become ready", "", ""},
		{"plain-removal", "values: {held: true}" + plain, "", held, "", ""},
	}
}

// TestHelmKilledInEachStage kills a server that is at work with one chart in each stage. The next
// server ends what the first one began.
func TestHelmKilledInEachStage(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space, archive := namespace(t), packed(t, "1.0.0", staged)
	all := map[string]*v1alpha1.Installation{}
	for _, stage := range stages() {
		first := stage.before
		if first == "" {
			first = stage.after
		}
		all[stage.name] = create(t, newInstallation(space, stage.name, landscape.HelmItem(archive, first)))
	}
	for _, stage := range stages() {
		if stage.before == "" {
			continue
		}
		waitSucceeded(t, all[stage.name])
		if stage.after != "" {
			change(t, all[stage.name], landscape.HelmItem(archive, stage.after))
		} else if err := env.Admin.Delete(t.Context(), all[stage.name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, stage := range stages() {
		waitItemSays(t, all[stage.name], strings.NewReplacer("NAMESPACE", space, "NAME", stage.name).Replace(stage.waits))
		if stage.record != "" {
			waitRecord(t, space, stage.name, stage.record, stage.status)
		}
	}
	server.EndBy(syscall.SIGKILL)
	startServer(t, env.ServerKubeconfig)
	letGo(t, space)
	for _, stage := range stages() {
		checkStage(t, stage, all[stage.name], archive)
	}
}

// checkStage waits until the work with a chart has ended as it would have without a kill.
func checkStage(t *testing.T, stage stage, inst *v1alpha1.Installation, archive string) {
	t.Helper()
	if stage.after == "" {
		waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
		note := &corev1.ConfigMap{}
		if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: inst.Namespace, Name: stage.name + "-note"}, note); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%s: the note is left: %v", stage.name, err)
		}
		return
	}
	if stage.name == "rollback" {
		// The interrupted rollback is given up, and what failed is rolled back again.
		waitRecord(t, inst.Namespace, stage.name, "v5", "deployed", "superseded")
		before := waitFor(t, client.ObjectKeyFromObject(inst), "at work", func(*v1alpha1.Installation) bool { return true }).Status.JobIDFinished
		request(t, inst, v1alpha1.InterruptOperation)
		waitFinished(t, inst, before)
		change(t, inst, landscape.HelmItem(archive, "values: {text: better}"))
	}
	waitFor(t, client.ObjectKeyFromObject(inst), "succeeded", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && inst.Status.JobID == inst.Status.JobIDFinished && inst.Status.ObservedGeneration == inst.Generation
	})
}

// change gives an Installation another template and asks for a job.
func change(t *testing.T, inst *v1alpha1.Installation, template string) {
	t.Helper()
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), inst); err != nil {
		t.Fatal(err)
	}
	again := newInstallation(inst.Namespace, inst.Name, template)
	inst.Spec.Blueprint = again.Spec.Blueprint
	if err := env.Admin.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
}

// letGo opens the gate of a namespace, and lets go what is held.
func letGo(t *testing.T, space string) {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := env.Workload.List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("%d nodes: %v", len(nodes.Items), err)
	}
	if err := env.Workload.Patch(t.Context(), &nodes.Items[0], client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+space+`":"open"}}}`))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"removal-note", "plain-removal-note"} {
		note := &corev1.ConfigMap{}
		note.Namespace, note.Name = space, name
		if err := env.Workload.Patch(t.Context(), note, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
			t.Fatal(err)
		}
	}
}

// waitItemSays waits until the item of an Installation says what it waits for.
func waitItemSays(t *testing.T, inst *v1alpha1.Installation, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := env.Admin.Watch(ctx, &v1alpha1.DeployItemList{}, client.InNamespace(inst.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	last := ""
	for event := range events.ResultChan() {
		item, isItem := event.Object.(*v1alpha1.DeployItem)
		if !isItem || !strings.HasPrefix(item.Name, inst.Name+"-chart-") {
			continue
		}
		for _, condition := range item.Status.Conditions {
			if condition.Type != v1alpha1.ReadyCondition {
				continue
			}
			if last = condition.Message; strings.Contains(last, text) {
				return
			}
		}
	}
	t.Fatalf("the item of %s does not say %q but %q", inst.Name, text, last)
}

// waitRecord waits until a record of a release has one of some states.
func waitRecord(t *testing.T, space, release, revision string, states ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := env.Workload.Watch(ctx, &corev1.SecretList{}, client.InNamespace(space), client.MatchingFields{"metadata.name": "sh.helm.release.v1." + release + "." + revision})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	last := "nothing"
	for event := range events.ResultChan() {
		record, isRecord := event.Object.(*corev1.Secret)
		if !isRecord {
			continue
		}
		last = record.Labels["status"]
		for _, state := range states {
			if last == state {
				return
			}
		}
	}
	t.Fatalf("%s of release %s is %s, not %v", revision, release, last, states)
}
