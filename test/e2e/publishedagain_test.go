package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// chartRepository is a chart repository with one chart, which may be published again.
type chartRepository struct {
	*httptest.Server
	mu      sync.Mutex
	archive []byte
}

func newChartRepository(t *testing.T) *chartRepository {
	t.Helper()
	repository := &chartRepository{}
	repository.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repository.mu.Lock()
		content := repository.archive
		repository.mu.Unlock()
		if r.URL.Path == "/index.yaml" {
			content = fmt.Appendf(nil, "apiVersion: v1\nentries: {greeter: [{name: greeter, version: 1.0.0, urls: [greeter-1.0.0.tgz], digest: %s}]}\n", digest.FromBytes(content).Encoded())
		}
		name := `"` + digest.FromBytes(content).Encoded() + `"`
		w.Header().Set("ETag", name)
		if r.Header.Get("If-None-Match") == name {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(repository.Close)
	return repository
}

func (c *chartRepository) publish(t *testing.T, greeting string) {
	t.Helper()
	archive, err := base64.StdEncoding.DecodeString(packed(t, "1.0.0", map[string]string{"templates/greeting.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: greeting}
data: {chart: ` + greeting + `}
`}))
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.archive = archive
}

// greeterComponent is a component whose blueprint deploys a chart of a chart repository.
func greeterComponent(address, greeting string) map[string]string {
	return map[string]string{
		"constructor.yaml": `
components:
- name: example.org/greeter
  version: 1.0.0
  provider: {name: vendor}
  resources:
  - name: blueprint
    type: landscaper.gardener.cloud/blueprint
    input: {type: dir, path: blueprint, compress: true, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar+gzip}
  - name: chart
    type: helmChart
    version: 1.0.0
    access: {type: helm, helmRepository: "` + address + `", helmChart: "greeter:1.0.0"}
`,
		"blueprint/blueprint.yaml": `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, targetType: kubernetes-cluster}
deployExecutions:
- {name: deploy, type: GoTemplate, file: /deploy.yaml}
`,
		"blueprint/deploy.yaml": `
deployItems:
- name: chart
  type: landscaper.gardener.cloud/helm
  target: {import: cluster}
  config:
    apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    name: greeter
    namespace: {{ .imports.cluster.metadata.namespace }}
    chart: {resourceRef: {{ getResourceKey "cd://resources/chart" }}}
- name: blueprint
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests:
    - policy: manage
      manifest:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: blueprint, namespace: {{ .imports.cluster.metadata.namespace }}}
        data: {blueprint: ` + greeting + `}
`,
	}
}

// TestPublishedAgain publishes a component version again under its version, with another
// blueprint in the registry and another chart in a chart repository: the next job deploys
// both, however short before the job that was.
func TestPublishedAgain(t *testing.T) {
	charts := newChartRepository(t)
	publishAll := func(greeting string) {
		t.Helper()
		charts.publish(t, greeting)
		publishFiles(t, "/again", greeterComponent(charts.URL, greeting))
	}
	publishAll("old")
	space := namespace(t)
	shopContext(t, space, "/again", env.Lab.Registry.Password)
	registryServer(t)
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: space, Name: "greeter", Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
	}}
	inst.Spec.Context = "vendor"
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/greeter", Version: "1.0.0"}}
	inst.Spec.Blueprint.Reference = &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}
	inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}
	inst = create(t, inst)
	expect := func(want string) {
		t.Helper()
		for _, name := range []string{"greeting", "blueprint"} {
			found := &corev1.ConfigMap{}
			if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, found); err != nil {
				t.Fatal(err)
			}
			if got := found.Data["chart"] + found.Data["blueprint"]; got != want {
				t.Errorf("ConfigMap %s says %q, want %q", name, got, want)
			}
		}
	}
	first := waitSucceeded(t, inst)
	expect("old")
	publishAll("new")
	request(t, inst, v1alpha1.ReconcileOperation)
	if last := waitFinished(t, inst, first.Status.JobID); last.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("phase %s, %+v", last.Status.InstallationPhase, last.Status.LastError)
	}
	expect("new")
}
