package e2e

import (
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// lateSpec exports two values of an object that belongs to somebody else, and looks at
// them after its job.
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
        exportExecutions:
        - name: default
          type: GoTemplate
          template: |
            exports:
              token: {{ .deployitems.one.token }}
              color: {{ .deployitems.one.color }}
`

// lateImport is an Installation that deploys one of the values.
func lateImport(t *testing.T, space, value string) *v1alpha1.Installation {
	t.Helper()
	spec := strings.NewReplacer("shop-url", "late-"+value, "shop-edge", "host", "name: importing", "name: late-"+value).Replace(importingSpec)
	return create(t, asking(t, space, value, spec))
}

// TestLateData changes a value after the job that has exported it, while the server is
// down. Only who imports this value gets another job; nothing costs anything before.
func TestLateData(t *testing.T) {
	server := startServer(t, env.serverKubeconfig)
	space, elsewhere := namespace(t), namespace(t)
	source := configMap(space, "late")
	source.Data = map[string]string{"token": "first-token", "color": "blue"}
	if err := env.workload.Create(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	exporting := waitSucceeded(t, create(t, asking(t, space, "exporting", lateSpec)))
	token, color := waitSucceeded(t, lateImport(t, space, "token")), waitSucceeded(t, lateImport(t, space, "color"))
	waitTidy(t, space)

	count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.resource, User: serverUser})
	if err != nil {
		t.Fatal(err)
	}
	// A whole job of somebody else passes.
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

	server.signal(syscall.SIGTERM)
	source.Data["token"] = "second-token"
	if err := env.workload.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	startServer(t, env.serverKubeconfig)
	if again := waitFinished(t, token, token.Status.JobID); again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Errorf("%+v", again.Status.LastError)
	}
	wantDeployed(t, space, "late-token", "url", "second-token")
	if now := getInstallation(t, exporting); now.Status.JobID == exporting.Status.JobID {
		t.Error("the exporting Installation had no job")
	}
	if now := getInstallation(t, color); now.Status.JobID != color.Status.JobID {
		t.Error("who imports what has not changed had a job")
	}
	checkLateEvent(t, space)
}

// checkLateEvent: an event says what has changed, and never the value.
func checkLateEvent(t *testing.T, space string) {
	t.Helper()
	events := &eventsv1.EventList{}
	if err := env.admin.List(t.Context(), events, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, event := range events.Items {
		if event.Reason == "ExportsChanged" && event.Type == corev1.EventTypeNormal {
			told = append(told, event.Note)
		}
		if strings.Contains(event.Note, "second-token") {
			t.Errorf("an event shows the value: %s", event.Note)
		}
	}
	if len(told) != 1 || told[0] != "what is exported as token has changed" {
		t.Errorf("events %q", told)
	}
}
