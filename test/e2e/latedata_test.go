package e2e

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// lateSpec exports two values of an object that belongs to another client, and watches them after
// its job.
const lateSpec = `
imports:
  targets: [{name: cluster, target: host}]
exports:
  data: [{name: token, dataRef: late-token}, {name: color, dataRef: late-color}]
blueprint:
  inline:
    filesystem:
      blueprint.yaml: |
        apiVersion: landscaper.gardener.cloud/v1alpha1
        kind: Blueprint
        imports:
        - {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
        exports:
        - {name: token, type: data, schema: {type: string}}
        - {name: color, type: data, schema: {type: string}}
        deployExecutions:
        - name: default
          type: GoTemplate
          template: |
            deployItems:
            - name: one
              type: landscaper.gardener.cloud/kubernetes-manifest
              target: {import: cluster}
              config:
                apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
                kind: ProviderConfiguration
                updateStrategy: apply
                exports:
                  watch: true
                  exports:
                  - {key: token, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: NAMESPACE}}
                  - {key: color, jsonPath: .data.color, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: NAMESPACE}}
            - name: other
              type: landscaper.gardener.cloud/kubernetes-manifest
              target: {import: cluster}
              config:
                apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
                kind: ProviderConfiguration
                updateStrategy: apply
                exports:
                  watch: true
                  exports:
                  - {key: token, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: NAMESPACE}}
        exportExecutions:
        - name: default
          type: GoTemplate
          template: |
            exports:
              token: {{ .deployitems.one.token }}{{ .deployitems.other.token }}
              color: {{ .deployitems.one.color }}
`

// lateImport is an Installation that deploys one of the values.
func lateImport(t *testing.T, space, value string) *v1alpha1.Installation {
	t.Helper()
	spec := strings.NewReplacer("shop-url", "late-"+value, "shop-edge", "host", "name: importing", "name: late-"+value).Replace(importingSpec)
	return create(t, asking(t, space, value, spec))
}

// TestLateData changes a value after the job in which two items have exported it, while the server
// is down. One job passes the value on, and only its importers get another job; before the change,
// no requests are made.
func TestLateData(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space, elsewhere := namespace(t), namespace(t)
	source := lateSource(t, space)
	exporting := waitSucceeded(t, create(t, asking(t, space, "exporting", lateSpec)))
	token, color := waitSucceeded(t, lateImport(t, space, "token")), waitSucceeded(t, lateImport(t, space, "color"))
	waitTidy(t, space)
	// The events of the ended jobs have arrived at the server after another job.
	env.Busy(t, elsewhere, "before")

	count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Resource, User: serverUser})
	if err != nil {
		t.Fatal(err)
	}
	// A whole job of another root passes.
	waitSucceeded(t, create(t, newInstallation(elsewhere, "other", oneConfigMap)))
	requests, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if request.Namespace == space && !strings.HasPrefix(request.Resource, "events") {
			t.Errorf("nothing has changed, but there was a request: %+v", request)
		}
	}

	server.EndBy(syscall.SIGTERM)
	changeLate(t, source)
	startServer(t, env.ServerKubeconfig)
	if again := waitFinished(t, token, token.Status.JobID); again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Errorf("%+v", again.Status.LastError)
	}
	wantDeployed(t, space, "late-token", "url", "second-tokensecond-token")
	// Both have had their say before the jobs are counted.
	awaitLateEvents(t, space, 2)
	if now := getInstallation(t, exporting); len(now.Status.History) != 2 || now.Status.History[0].Trigger != v1alpha1.TriggeredByExports {
		t.Errorf("the exporting Installation had the jobs %+v", now.Status.History)
	}
	if now := getInstallation(t, color); now.Status.JobID != color.Status.JobID {
		t.Error("an importer of an unchanged value had a job")
	}
	checkLateEvent(t, space, 2)
}

// TestLateDataOfComponent: an Installation with a component passes changed values on, too. Its
// exports are computed outside of the workers, because that needs a registry.
func TestLateDataOfComponent(t *testing.T) {
	const path = "/late"
	publish(t, path)
	registryServer(t)
	space := namespace(t)
	shopContext(t, space, path, env.Lab.Registry.Password)
	source := lateSource(t, space)
	exporting := asking(t, space, "exporting", lateSpec)
	exporting.Spec.Context = "vendor"
	exporting.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/base", Version: "1.0.0"}}
	exporting = waitSucceeded(t, create(t, exporting))
	changeLate(t, source)
	again := waitFinished(t, exporting, exporting.Status.JobID)
	if again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || again.Status.History[0].Trigger != v1alpha1.TriggeredByExports {
		t.Errorf("%+v: %+v", again.Status.LastError, again.Status.History)
	}
}

// lateSource is an object that others change.
func lateSource(t *testing.T, space string) *corev1.ConfigMap {
	t.Helper()
	source := configMap(space, "late")
	source.Data = map[string]string{"token": "first-token", "color": "blue"}
	if err := env.Workload.Create(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	return source
}

// changeLate changes one of its values.
func changeLate(t *testing.T, source *corev1.ConfigMap) {
	t.Helper()
	source.Data["token"] = "second-token"
	if err := env.Workload.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
}

// lateLeaves are subinstallations: a exports two values that other clients change, b imports the
// first and c the second value, and d imports the export of b.
func lateLeaves(space string) []leaf {
	watch := strings.ReplaceAll(`{}
        exports:
          watch: true
          exports:
          - {key: token, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: NAMESPACE}}
          - {key: color, jsonPath: .data.color, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: NAMESPACE}}`, "NAMESPACE", space)
	importing := func(from, more string) string {
		return `{imports: {targets: [{name: cluster, target: cluster}], data: [{name: upstream, dataRef: ` + from + `}]}` + more + `}`
	}
	const upstream, text = "- {name: upstream, schema: {type: string}}", "{{ .imports.upstream | quote }}"
	return []leaf{
		{
			name: "a", ready: watch, exported: "[{name: token, schema: {type: string}}, {name: color, schema: {type: string}}]",
			given:  `{token: "{{ .deployitems.note.token }}", color: "{{ .deployitems.note.color }}"}`,
			wiring: `{imports: {targets: [{name: cluster, target: cluster}]}, exports: {data: [{name: token, dataRef: token}, {name: color, dataRef: color}]}}`,
		},
		{
			name: "b", imports: upstream, text: text, exported: "[{name: result, schema: {type: string}}]", given: `{result: "b({{ .imports.upstream }})"}`,
			wiring: importing("token", `, exports: {data: [{name: result, dataRef: result}]}`),
		},
		{name: "c", imports: upstream, text: text, wiring: importing("color", "")},
		{name: "d", imports: upstream, text: text, wiring: importing("result", "")},
	}
}

// jobsOfItems are the jobs of the deploy items of a tree, by the names of its parts.
func jobsOfItems(t *testing.T, root *v1alpha1.Installation) map[string]string {
	t.Helper()
	jobs := map[string]string{}
	for name, sub := range subsOf(t, root) {
		list := &v1alpha1.DeployItemList{}
		if err := env.Admin.List(t.Context(), list, client.InNamespace(root.Namespace), client.MatchingLabels{v1alpha1.ExecutionManagedByLabel: sub.Name}); err != nil || len(list.Items) != 1 {
			t.Fatal(len(list.Items), err)
		}
		jobs[name] = list.Items[0].Status.JobIDFinished
	}
	return jobs
}

// TestLateDataInTree: of a tree, exactly what imports the changed value is deployed again,
// and what imports from that.
func TestLateDataInTree(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	source := lateSource(t, space)
	root := waitSucceeded(t, createTree(t, space, "root", "", lateLeaves(space)...))
	first := root.Status.JobID
	server.EndBy(syscall.SIGKILL)
	changeLate(t, source)
	startServer(t, env.ServerKubeconfig)
	root = waitFinished(t, root, first)
	if root.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || root.Status.History[0].Trigger != v1alpha1.TriggeredByExports {
		t.Fatalf("%+v: %+v", root.Status.LastError, root.Status.History)
	}
	second := root.Status.JobID
	if diff := cmp.Diff(map[string]string{"a": first, "b": second, "c": first, "d": second}, jobsOfItems(t, root)); diff != "" {
		t.Errorf("the jobs of the items, -want +got\n%s", diff)
	}
	wantDeployed(t, space, "note-b", "text", "second-token")
	wantDeployed(t, space, "note-c", "text", "blue")
	wantDeployed(t, space, "note-d", "text", "b(second-token)")
	checkLateEvent(t, space, 1)

	request(t, root, v1alpha1.ReconcileOperation)
	third := waitFinished(t, root, second).Status.JobID
	if diff := cmp.Diff(map[string]string{"a": third, "b": third, "c": third, "d": third}, jobsOfItems(t, root)); diff != "" {
		t.Errorf("a job that a user asks for is not about everything, -want +got\n%s", diff)
	}
}

// awaitLateEvents waits until so many items have an event about changed values: events are on their
// way while the jobs continue.
func awaitLateEvents(t *testing.T, space string, items int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := env.Admin.Watch(ctx, &eventsv1.EventList{}, client.InNamespace(space))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	reported := map[string]bool{}
	for event := range events.ResultChan() {
		if one, isEvent := event.Object.(*eventsv1.Event); isEvent && one.Reason == "ExportsChanged" {
			reported[one.Regarding.Name] = true
		}
		if len(reported) == items {
			return
		}
	}
	t.Fatalf("of %d items, only these have an event: %v", items, reported)
}

// checkLateEvent: an event of each item says what has changed, and never the value.
func checkLateEvent(t *testing.T, space string, items int) {
	t.Helper()
	awaitLateEvents(t, space, items)
	events := &eventsv1.EventList{}
	if err := env.Admin.List(t.Context(), events, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, event := range events.Items {
		if event.Reason == "ExportsChanged" && event.Type == corev1.EventTypeNormal {
			notes = append(notes, event.Note)
		}
		if strings.Contains(event.Note, "second-token") {
			t.Errorf("an event shows the value: %s", event.Note)
		}
	}
	if len(notes) != items || len(slices.Compact(notes)) != 1 || notes[0] != "what is exported as token has changed" {
		t.Errorf("events %q", notes)
	}
}
