package flux

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

// fluxTenant is a tenant of a service with Flux.
type fluxTenant struct {
	name string
	// space is its namespace on the cluster with its objects of Flux, where it is the
	// account flux-tenant, with this kubeconfig.
	space, kubeconfig string
	cluster           client.WithWatch
	// workload is its namespace on the cluster to which Flux deploys. Into that, and no
	// other one, leads the kubeconfig in its Secret "own-cluster".
	workload   string
	repository *showcase.Repository
	// namespace has its Installations, if a Landscaper works for it.
	namespace string
	stage     *showcase.Stage
}

// fluxService are clusters of a service with Flux for tenants.
type fluxService struct {
	// host is where the controllers run, workload is where all tenants deploy to.
	host, workload *lab.Cluster
	stage          *showcase.Stage
	// onHost and onWorkload are administrators' clients.
	onHost, onWorkload client.WithWatch
}

func newFluxService(t *testing.T) *fluxService {
	t.Helper()
	world := env.Lab
	s := &fluxService{host: world.Clusters["workload"], workload: world.Clusters["flux"], stage: fluxStage(t)}
	s.stage.Flux, s.stage.Workload = s.host.Kubeconfig, s.workload.Kubeconfig
	var err error
	if s.onHost, err = landscape.Connect(s.host.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	if s.onWorkload, err = landscape.Connect(s.workload.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	fluxServer(t, s.stage, "cu-podinfo")
	return s
}

// tenant is a tenant whose Installations and Targets are in a namespace of a cluster.
func (s *fluxService) tenant(t *testing.T, name string, resource *lab.Cluster, settings ...string) *fluxTenant {
	t.Helper()
	tenant := &fluxTenant{name: name, namespace: "cu-tenant-" + name, workload: "cu-workload-" + name, repository: newRepository(t)}
	home, err := landscape.Connect(resource.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for cluster, namespace := range map[client.WithWatch]string{home: tenant.namespace, s.onWorkload: tenant.workload} {
		if err := cluster.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
		for _, kept := range []*unstructured.Unstructured{anyObject("v1", "ServiceAccount", "default"), anyObject("v1", "ConfigMap", "kube-root-ca.crt")} {
			kept.SetNamespace(namespace)
			awaitObject(t, cluster, kept, "there", func(*unstructured.Unstructured) bool { return true })
		}
	}
	if resource == env.Resource {
		env.WaitForContext(t, tenant.namespace)
	}
	stage := *s.stage
	stage.Repository = tenant.repository
	stage.Settings = append([]string{
		"TENANT=" + name, "TENANT_CLUSTER_KUBECONFIG_PATH=" + resource.Kubeconfig,
		"TENANT_NAMESPACE=" + tenant.namespace, "TENANT_NAMESPACES=" + tenant.namespace, "WORKLOAD_NAMESPACE=" + tenant.workload,
		"SOURCES=" + strings.TrimSuffix(tenant.repository.URL, filepath.Base(tenant.repository.URL)),
	}, settings...)
	tenant.stage = &stage
	return tenant
}

// leave deletes the namespaces of tenants, and returns when none is left.
func (s *fluxService) leave(t *testing.T, homes map[*fluxTenant]client.WithWatch) {
	t.Helper()
	each := func(do func(cluster client.WithWatch, namespace *corev1.Namespace)) {
		for tenant, home := range homes {
			do(home, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant.namespace}})
			do(s.onWorkload, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant.workload}})
		}
	}
	each(func(cluster client.WithWatch, namespace *corev1.Namespace) {
		if err := cluster.Delete(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
	})
	each(func(cluster client.WithWatch, namespace *corev1.Namespace) {
		scenario.WaitGone(t, cluster, namespace, &corev1.NamespaceList{})
	})
}

// enter makes a tenant work with what the service has given it: the Target in its
// namespace.
func (tenant *fluxTenant) enter(t *testing.T, home client.Client, space string) {
	t.Helper()
	target := &v1alpha1.Target{}
	if err := home.Get(t.Context(), client.ObjectKey{Namespace: tenant.namespace, Name: "flux"}, target); err != nil {
		t.Fatal(err)
	}
	config := struct {
		Kubeconfig string `json:"kubeconfig"`
	}{}
	if err := json.Unmarshal(target.Spec.Configuration.RawMessage, &config); err != nil {
		t.Fatal(err)
	}
	tenant.space, tenant.kubeconfig = space, config.Kubeconfig
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(config.Kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if tenant.cluster, err = landscape.Connect(file); err != nil {
		t.Fatal(err)
	}
}

// workloadUser is what tenants come as to the cluster of the workload: it may be the
// account flux of the tenant's namespace, which may edit in one namespace.
const workloadUser = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: USER}
rules:
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [flux], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: USER}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: USER}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: USER}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: USER, namespace: WORKLOAD}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: flux, namespace: SPACE}]
`

// lead makes the kubeconfig with which Flux comes to the cluster of the workload.
func (s *fluxService) lead(t *testing.T, tenant *fluxTenant, space string) string {
	t.Helper()
	user := "flux-of-" + space
	file := filepath.Join(t.TempDir(), "rules.yaml")
	rules := strings.NewReplacer("USER", user, "WORKLOAD", tenant.workload, "SPACE", space).Replace(workloadUser)
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	added, err := s.workload.AddUser(t.Context(), lab.UserOptions{Name: user, ManifestFile: file})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(added.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// settle gives a tenant what it works with directly: a source, and the kubeconfig of a
// cluster.
func (tenant *fluxTenant) settle(t *testing.T, kubeconfig string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenant.space, Name: "own-cluster"}, StringData: map[string]string{"value": kubeconfig}}
	if err := tenant.cluster.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := tenant.cluster.Create(t.Context(), tenant.object(t, gitRepository("own"), "")); err != nil {
		t.Fatal(err)
	}
}

// useHonestly deploys, deletes the deployed object, and lets Flux restore it.
func (tenant *fluxTenant) useHonestly(t *testing.T, s *fluxService, name string) {
	t.Helper()
	honest := tenant.object(t, kustomization("", name), "{spec: {path: ./examples/kustomize/podinfo-flux-controlled/resources}}")
	if err := tenant.cluster.Create(t.Context(), honest); err != nil {
		t.Fatal(err)
	}
	awaitObject(t, tenant.cluster, honest, "ready", isReady)
	tenant.stillWorks(t, s, name, "first")
}

// stillWorks deletes what a Kustomization has deployed, and asks Flux to correct it.
func (tenant *fluxTenant) stillWorks(t *testing.T, s *fluxService, name, request string) {
	t.Helper()
	if err := s.onWorkload.Delete(t.Context(), scenario.ConfigMap(tenant.workload, "podinfo")); err != nil {
		t.Fatal(err)
	}
	askFlux(t, tenant.cluster, kustomization(tenant.space, name), request)
	deployed := &corev1.ConfigMap{}
	if err := s.onWorkload.Get(t.Context(), client.ObjectKey{Namespace: tenant.workload, Name: "podinfo"}, deployed); err != nil {
		t.Errorf("tenant %s: Flux has not restored the deleted object: %v", tenant.name, err)
	}
}

// clear deletes what the tenant has made, Kustomizations first.
func (tenant *fluxTenant) clear(t *testing.T) {
	t.Helper()
	for _, object := range []client.Object{kustomization(tenant.space, ""), gitRepository(""), &corev1.Secret{}} {
		if err := tenant.deleteAll(t, object); err != nil {
			t.Fatal(err)
		}
	}
}

// useLandscaper deploys by an Installation of the tenant, and deletes it.
func (tenant *fluxTenant) useLandscaper(t *testing.T, s *fluxService, example string) {
	t.Helper()
	play(t, tenant.stage, example, "deploy-podinfo.sh")
	if err := tenant.stage.WaitIn(t.Context(), t.Output(), tenant.namespace, "podinfo"); err != nil {
		t.Fatal(err)
	}
	deployed := &corev1.ConfigMap{}
	if err := s.onWorkload.Get(t.Context(), client.ObjectKey{Namespace: tenant.workload, Name: "podinfo"}, deployed); err != nil {
		t.Errorf("the Installation of tenant %s has deployed nothing: %v", tenant.name, err)
	}
	play(t, tenant.stage, example, "delete-podinfo.sh")
}

// TestFluxShared is variant C: the tenants share one Flux, each has a namespace.
func TestFluxShared(t *testing.T) {
	const example = "flux-shared"
	s := newFluxService(t)
	first, second := s.tenant(t, "a", env.Resource), s.tenant(t, "b", env.Resource)
	leads := map[*fluxTenant]string{first: s.lead(t, first, "tenant-a"), second: s.lead(t, second, "tenant-b")}
	before := stock(t, s.stage)
	play(t, first.stage, "flux-per-tenant", "render-manifests.sh", "push-component.sh")
	play(t, first.stage, example, "deploy-k8s-resources.sh", "deploy-tenant.sh")
	if err := s.stage.Wait(t.Context(), t.Output(), "flux-shared", "flux-tenant-a"); err != nil {
		t.Fatal(err)
	}
	s.checkWalls(t, "flux-controllers")
	first.enter(t, env.Admin, "tenant-a")
	first.useLandscaper(t, s, example)
	first.settle(t, leads[first])
	first.useHonestly(t, s, "honest")
	// Another tenant comes later.
	play(t, second.stage, example, "deploy-tenant.sh")
	if err := s.stage.Wait(t.Context(), t.Output(), "flux-tenant-b"); err != nil {
		t.Fatal(err)
	}
	second.enter(t, env.Admin, "tenant-b")
	second.settle(t, leads[second])
	second.useHonestly(t, s, "victim")

	// It needs another commit, which Flux would deploy for each of the other attacks again.
	t.Run("a known hole", func(t *testing.T) { first.readSource(t, s, second) })
	intrude(t, s, first, second)
	t.Run("through Landscaper", func(t *testing.T) { first.intrudeByInstallation(t, second.space) })
	first.stillWorks(t, s, "honest", "after all")
	second.stillWorks(t, s, "victim", "after all")

	first.clear(t)
	// What belongs to a tenant is not taken away in passing.
	if err := second.stage.Script(t.Context(), example, "delete-tenant.sh", t.Output()); err == nil || !strings.Contains(err.Error(), "kustomization.kustomize.toolkit.fluxcd.io/victim") {
		t.Errorf("a tenant who uses Flux is deleted: %v", err)
	}
	second.clear(t)
	for _, tenant := range []*fluxTenant{first, second} {
		play(t, tenant.stage, example, "delete-tenant.sh")
	}
	play(t, first.stage, example, "delete-installation.sh", "delete-other-k8s-resources.sh")
	play(t, second.stage, example, "delete-other-k8s-resources.sh")
	waitCollected(t)
	waitAsBefore(t, before, s.stage)
	s.leave(t, map[*fluxTenant]client.WithWatch{first: env.Admin, second: env.Admin})
}

// TestFluxPerTenant is variant B: each tenant has controllers and an API server of its own.
func TestFluxPerTenant(t *testing.T) {
	const example = "flux-per-tenant"
	s := newFluxService(t)
	lendTargets(t, env.Workload)
	first, second := s.tenant(t, "a", env.Resource), s.tenant(t, "b", env.Target)
	leads := map[*fluxTenant]string{first: s.lead(t, first, first.namespace), second: s.lead(t, second, second.namespace)}
	before := stock(t, s.stage, env.Target.Kubeconfig)
	play(t, first.stage, example, "render-manifests.sh", "push-component.sh", "deploy-k8s-resources.sh")
	if err := s.stage.Wait(t.Context(), t.Output(), "flux-a"); err != nil {
		t.Fatal(err)
	}
	s.checkWalls(t, "flux-a")
	first.enter(t, env.Admin, first.namespace)
	first.useLandscaper(t, s, example)
	first.settle(t, leads[first])
	first.useHonestly(t, s, "honest")
	play(t, second.stage, example, "deploy-k8s-resources.sh")
	if err := s.stage.Wait(t.Context(), t.Output(), "flux-b"); err != nil {
		t.Fatal(err)
	}
	second.enter(t, env.Workload, second.namespace)
	second.settle(t, leads[second])
	second.useHonestly(t, s, "victim")

	// The other tenant is on another cluster. On its own cluster, the tenant must not reach the
	// rest.
	besides := first.besides(t, env.Admin)
	intrude(t, s, first, besides)
	besides.clear(t)
	t.Run("at the cluster of another tenant", func(t *testing.T) { first.intrudeElsewhere(t, env.Target, s.host) })
	first.stillWorks(t, s, "honest", "after all")
	second.stillWorks(t, s, "victim", "after all")

	first.clear(t)
	if err := second.stage.Script(t.Context(), example, "delete-installation.sh", t.Output()); err == nil || !strings.Contains(err.Error(), "kustomization.kustomize.toolkit.fluxcd.io/victim") {
		t.Errorf("a Flux that is in use is deleted: %v", err)
	}
	second.clear(t)
	for _, tenant := range []*fluxTenant{first, second} {
		play(t, tenant.stage, example, "delete-installation.sh", "delete-other-k8s-resources.sh")
	}
	waitCollected(t)
	waitAsBefore(t, before, s.stage, env.Target.Kubeconfig)
	s.leave(t, map[*fluxTenant]client.WithWatch{first: env.Admin, second: env.Workload})
}

// checkWalls looks at what a lab does not enforce: who may reach the controllers, and
// whom they may reach.
func (s *fluxService) checkWalls(t *testing.T, namespace string) {
	t.Helper()
	walls := &networkingv1.NetworkPolicyList{}
	if err := s.onHost.List(t.Context(), walls, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var closed []networkingv1.PolicyType
	for _, wall := range walls.Items {
		if len(wall.Spec.PodSelector.MatchLabels) == 0 && len(wall.Spec.Ingress)+len(wall.Spec.Egress) == 0 {
			closed = wall.Spec.PolicyTypes
		}
		for _, way := range wall.Spec.Ingress {
			if len(way.From) != 1 || way.From[0].PodSelector == nil || way.From[0].NamespaceSelector != nil || way.From[0].PodSelector.MatchLabels["app"] != "kustomize-controller" {
				t.Errorf("%s/%s lets in %+v", namespace, wall.Name, way.From)
			}
		}
		for _, way := range wall.Spec.Egress {
			for _, to := range way.To {
				if to.IPBlock != nil && !slices.Contains(to.IPBlock.Except, "169.254.0.0/16") {
					t.Errorf("%s/%s lets the controllers reach metadata services", namespace, wall.Name)
				}
			}
		}
	}
	if !slices.Contains(closed, networkingv1.PolicyTypeIngress) || !slices.Contains(closed, networkingv1.PolicyTypeEgress) {
		t.Errorf("in %s everything is open that no policy names", namespace)
	}
}

// lendTargets makes a cluster know Targets for the time of a test, as one with a Landscaper
// does.
func lendTargets(t *testing.T, cluster client.WithWatch) {
	t.Helper()
	kind := anyObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "targets.landscaper.gardener.cloud")
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(kind), kind); err != nil {
		t.Fatal(err)
	}
	lent := anyObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", kind.GetName())
	lent.Object["spec"] = kind.Object["spec"]
	if err := cluster.Create(t.Context(), lent); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Delete(context.Background(), lent); err != nil {
			t.Error(err)
		}
	})
	awaitObject(t, cluster, lent, "established", func(object *unstructured.Unstructured) bool {
		status, _ := conditionOf(object, "Established")
		return status == "True"
	})
}
