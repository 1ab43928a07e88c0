package flux

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

// requested is a template as public examples have it: source and Kustomization ask Flux
// for their work in one job, the Kustomization is suspended afterwards, and the check
// trusts what the status says.
const requested = `{{- $requestedAt := now | date "2006-01-02T15:04:05.000000Z07:00" | quote }}
deployItems:
- name: source
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  timeout: TIMEOUT
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    updateStrategy: update
    manifests:
    - policy: manage
      manifest:
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {name: NAME, namespace: NAMESPACE, annotations: {reconcile.fluxcd.io/requestedAt: {{ $requestedAt }}}}
        spec: {url: URL, ref: {branch: main}, interval: 876000h, timeout: 20s}
- name: kustomization
  dependsOn: [source]
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  timeout: TIMEOUT
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    updateStrategy: update
    manifests:
    - policy: manage
      patchAfterDeployment: {spec: {suspend: true}}
      patchBeforeDelete: {spec: {suspend: false}}
      manifest:
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: NAME, namespace: NAMESPACE, annotations: {reconcile.fluxcd.io/requestedAt: {{ $requestedAt }}}}
        spec:
          sourceRef: {kind: GitRepository, name: NAME}
          path: ./examples/kustomize/race
          targetNamespace: NAMESPACE
          interval: 876000h
          retryInterval: 1s
          timeout: 30s
          prune: true
          wait: true
          suspend: false
    readinessChecks:
      disableDefault: true
      custom:
      - name: KustomizationReady
        resourceSelector: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, name: NAME, namespace: NAMESPACE}]
        requirements:
        - {jsonPath: ".status.conditions[?(@.type == 'Ready')].status", operator: ==, values: [{value: "True"}]}
        - {jsonPath: ".status.conditions[?(@.type == 'Healthy')].status", operator: ==, values: [{value: "True"}]}
        - {jsonPath: .status.lastHandledReconcileAt, operator: ==, values: [{value: {{ $requestedAt }}}]}
`

// fluxSpace makes a namespace with a Target for the cluster with Flux.
func fluxSpace(t *testing.T) (string, client.WithWatch) {
	t.Helper()
	kubeconfig := env.Lab.Clusters["flux"].Kubeconfig
	cluster, err := landscape.Connect(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	space := env.Namespace(t)
	if err := cluster.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	env.CreateTarget(t, space, "flux", string(content))
	return space, cluster
}

// requesting is an Installation with the template above, with pairs of texts replaced.
func requesting(space, name, url, timeout string, change ...string) *v1alpha1.Installation {
	template := strings.NewReplacer(change...).Replace(requested)
	inst := landscape.NewInstallation(space, name, strings.NewReplacer("URL", url, "TIMEOUT", timeout).Replace(template))
	inst.Spec.Imports.Targets[0].Target = "flux"
	return inst
}

// slowly is the URL of a repository on a server that takes its time.
func slowly(t *testing.T, repository string, delay time.Duration) string {
	t.Helper()
	address, err := url.Parse(repository)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: address.Scheme, Host: address.Host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + address.Path
}

// round is what the repository has in a round of the race.
func round(number int) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: raced}\ndata: {round: \"%d\"}\n", number)
}

// racer is an Installation of the race.
type racer struct {
	inst       *v1alpha1.Installation
	repository *showcase.Repository
	cluster    client.WithWatch
}

// next starts a job that has a new commit to deploy.
func (r *racer) next(t *testing.T, number int) {
	t.Helper()
	if err := r.repository.Write(t.Context(), "race/configmap.yaml", round(number)); err != nil {
		t.Fatal(err)
	}
	if number == 0 {
		env.Create(t, r.inst.DeepCopy())
		return
	}
	env.Request(t, r.inst, v1alpha1.ReconcileOperation)
}

// check waits for the end of the job, looks what is deployed, and deletes it.
func (r *racer) check(t *testing.T, number int) {
	t.Helper()
	if r.inst = env.WaitFinished(t, r.inst, r.inst.Status.JobID); r.inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("job %d: %+v", number, r.inst.Status.LastError)
	}
	deployed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.inst.Namespace, Name: "raced"}}
	if err := r.cluster.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil || deployed.Data["round"] != fmt.Sprint(number) {
		t.Errorf("job %d has succeeded, but round %q is deployed (%v)", number, deployed.Data["round"], err)
	}
	if number%2 == 0 {
		if err := r.cluster.Delete(t.Context(), deployed); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFluxRace runs 50 jobs, ten at the same time. Each has a new commit to deploy, from a server
// that is slower than the rest, and before every other job the deployed object is deleted. Whenever
// a job has succeeded, the new commit must be there.
func TestFluxRace(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	var racers []*racer
	for range 10 {
		space, cluster := fluxSpace(t)
		repository := newRepository(t)
		racers = append(racers, &racer{requesting(space, "raced", slowly(t, repository.URL, 200*time.Millisecond), "2m"), repository, cluster})
	}
	for number := range 5 {
		for _, racer := range racers {
			racer.next(t, number)
		}
		for _, racer := range racers {
			racer.check(t, number)
		}
	}
}

// gate is a further object that the item with the source deploys. As long as it is deleted again
// and again, the item waits before it writes anything.
const gate = `manifests:
    - {policy: manage, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: gate, namespace: NAMESPACE}}}
    - policy: manage
      manifest:
        apiVersion: source`

// TestFluxSiblings: the item with the Kustomization does not wait for the one with the
// source, and Flux has answered it long before the source is asked for a new commit, also
// over a restart. Nevertheless the job deploys that.
func TestFluxSiblings(t *testing.T) {
	server := scenario.StartServer(t, env.ServerKubeconfig)
	space, cluster := fluxSpace(t)
	repository := newRepository(t)
	racer := &racer{requesting(space, "raced", repository.URL, "5m", "  dependsOn: [source]\n", "", "manifests:\n    - policy: manage\n      manifest:\n        apiVersion: source", gate), repository, cluster}
	racer.next(t, 0)
	racer.check(t, 0)

	closed := scenario.ConfigMap(space, "gate")
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(closed), closed); err != nil {
		t.Fatal(err)
	}
	closed.Finalizers = []string{"example.test/gate"}
	if err := cluster.Update(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Delete(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	racer.next(t, 1)
	waits := func(item *v1alpha1.DeployItem) bool {
		ready := job.GetCondition(item.Status.Conditions, v1alpha1.ReadyCondition)
		return ready != nil && strings.Contains(ready.Message, "is to be changed by DeployItem source") || item.Status.JobIDFinished != racer.inst.Status.JobID
	}
	env.WaitItem(t, env.ItemsByName(t, space)["kustomization"], "waiting for its sibling, or done", waits)
	server.EndBy(syscall.SIGKILL)
	scenario.StartServer(t, env.ServerKubeconfig)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := cluster.Patch(t.Context(), closed, patch); err != nil {
		t.Fatal(err)
	}
	racer.check(t, 1)
}
