package flux

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// anyObject is an object of any kind by its name.
func anyObject(apiVersion, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(name)
	return object
}

func gitRepository(name string) *unstructured.Unstructured {
	return anyObject("source.toolkit.fluxcd.io/v1", "GitRepository", name)
}

// object is an object of a tenant: what an honest one has, with something changed by a
// merge patch.
func (tenant *fluxTenant) object(t *testing.T, object *unstructured.Unstructured, change string) *unstructured.Unstructured {
	t.Helper()
	object = object.DeepCopy()
	object.SetNamespace(tenant.space)
	switch object.GetKind() {
	case "GitRepository":
		object.Object["spec"] = map[string]any{"url": tenant.repository.URL, "ref": map[string]any{"branch": "main"}, "interval": "10m"}
	case "Kustomization":
		object.Object["spec"] = map[string]any{
			"sourceRef": map[string]any{"kind": "GitRepository", "name": "own"}, "path": "./examples/kustomize/attacks/" + object.GetName(),
			"kubeConfig": map[string]any{"secretRef": map[string]any{"name": "own-cluster"}}, "targetNamespace": tenant.workload,
			"interval": "10m", "prune": true, "timeout": "30s",
		}
	}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(change), &fields); err != nil {
		t.Fatal(err)
	}
	merge(object.Object, fields)
	return object
}

// merge changes fields as a merge patch does.
func merge(object, fields map[string]any) {
	for name, value := range fields {
		inner, isMap := value.(map[string]any)
		present, both := object[name].(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isMap && both:
			merge(present, inner)
		default:
			object[name] = value
		}
	}
}

// deleteAll deletes the tenant's objects of a kind, and returns when none is left.
func (tenant *fluxTenant) deleteAll(t *testing.T, like client.Object) error {
	t.Helper()
	gvk, err := tenant.cluster.GroupVersionKindFor(like)
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	if err := tenant.cluster.List(t.Context(), list, client.InNamespace(tenant.space)); err != nil {
		return err
	}
	mine := slices.DeleteFunc(list.Items, func(object unstructured.Unstructured) bool {
		return gvk.Kind == "Secret" && object.GetName() != "own-cluster" && !strings.HasPrefix(object.GetName(), "attack")
	})
	for _, object := range mine {
		if err := tenant.cluster.Delete(t.Context(), object.DeepCopy()); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	for _, object := range mine {
		gone := &unstructured.UnstructuredList{}
		gone.SetGroupVersionKind(gvk)
		scenario.WaitGone(t, tenant.cluster, object.DeepCopy(), gone)
	}
	return nil
}

// intrusion is a tenant that wants objects of others.
type intrusion struct {
	service         *fluxService
	intruder, other *fluxTenant
	// trap is a server that must not be called, marker a file that must not be made.
	trap, marker string
}

// fluxAttack is one way. It is refused when something is written, or shown in the status of
// what was written.
type fluxAttack struct {
	reason string
	// object is written, with a change. Its files are in the repository of the intruder, in
	// the directory of a Kustomization.
	object       *unstructured.Unstructured
	change       string
	files, links map[string]string
	// do is done instead.
	do             func(context.Context, *intrusion) error
	refused, shown string
}

// fill replaces what only an intrusion knows.
func (in *intrusion) fill(text string) string {
	return strings.NewReplacer(
		"SPACE", in.intruder.space, "OTHER", in.other.space, "WORKLOAD", in.other.workload, "TRAP", in.trap,
		"URL", in.intruder.repository.URL, "SERVER", strings.TrimSuffix(in.intruder.repository.URL, "/"+path.Base(in.intruder.repository.URL)),
	).Replace(text)
}

// intrude lets a tenant try all ways to another one.
func intrude(t *testing.T, s *fluxService, intruder, other *fluxTenant) {
	t.Helper()
	visitors := &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visitors.Add(1) }))
	defer server.Close()
	in := &intrusion{service: s, intruder: intruder, other: other, trap: server.URL, marker: filepath.Join(t.TempDir(), "marker")}
	attacks := fluxAttacks()
	in.prepare(t, attacks)
	results := make([]error, len(attacks))
	objects := make([]*unstructured.Unstructured, len(attacks))
	for i, attack := range attacks {
		if attack.do != nil {
			results[i] = attack.do(t.Context(), in)
			continue
		}
		objects[i] = attack.object.DeepCopy()
		objects[i].SetName(fmt.Sprintf("attack-%d", i))
		objects[i] = intruder.object(t, objects[i], in.fill(attack.change))
		results[i] = intruder.cluster.Create(t.Context(), objects[i])
	}
	for i, attack := range attacks {
		t.Run(attack.reason, func(t *testing.T) { intruder.checkFailed(t, objects[i], results[i], attack) })
	}
	if visitors.Load() > 0 {
		t.Errorf("the trap was called %d times", visitors.Load())
	}
	if _, err := os.Stat(in.marker); err == nil {
		t.Error("a program of a kubeconfig has run")
	}
}

// checkFailed waits until an attack has failed, for its own reason.
func (tenant *fluxTenant) checkFailed(t *testing.T, object *unstructured.Unstructured, result error, attack fluxAttack) {
	t.Helper()
	if attack.refused != "" {
		if result == nil || !strings.Contains(result.Error(), attack.refused) {
			t.Errorf("not refused for %q: %v", attack.refused, result)
		}
		return
	}
	if result != nil {
		t.Fatalf("refused, and not for %q: %v", attack.shown, result)
	}
	var message string
	awaitObject(t, tenant.cluster, object, "refused", func(object *unstructured.Unstructured) bool {
		var status string
		status, message = conditionOf(object, "Ready")
		return status == "True" || status == "False" && !strings.Contains(message, "Source artifact not found")
	})
	if isReady(object) || !strings.Contains(message, attack.shown) {
		t.Errorf("the tenant does not see %q: %s", attack.shown, message)
	}
}

// conditionOf is a condition of an object.
func conditionOf(object *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		if condition, ok := entry.(map[string]any); ok && condition["type"] == kind {
			return fmt.Sprint(condition["status"]), fmt.Sprint(condition["message"])
		}
	}
	return "", ""
}

// prepare puts the files of the attacks into the intruder's repository, and its kubeconfigs
// into Secrets.
func (in *intrusion) prepare(t *testing.T, attacks []fluxAttack) {
	t.Helper()
	files, links := map[string]string{}, map[string]string{}
	for i, attack := range attacks {
		directory := fmt.Sprintf("attacks/attack-%d/", i)
		files[directory+"harmless.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: loot}\n"
		for file, content := range attack.files {
			files[directory+file] = in.fill(content)
		}
		for file, target := range attack.links {
			links[directory+file] = target
		}
	}
	if err := in.intruder.repository.WriteAll(t.Context(), files, links); err != nil {
		t.Fatal(err)
	}
	source := gitRepository("own")
	source.SetNamespace(in.intruder.space)
	askFlux(t, in.intruder.cluster, source, "files")
	for name, change := range kubeconfigs(in.marker) {
		in.intruder.keep(t, "attack-"+name, change)
	}
}

// keep makes a Secret with the tenant's own kubeconfig for the cluster of Flux, changed.
func (tenant *fluxTenant) keep(t *testing.T, name string, change func(*clientcmdapi.Config)) {
	t.Helper()
	config, err := clientcmd.Load([]byte(tenant.kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenant.space, Name: name}, Data: map[string][]byte{"value": content}}
	if err := tenant.cluster.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// kubeconfigs are ways to the cluster of Flux, as changes of the tenant's own one.
func kubeconfigs(marker string) map[string]func(*clientcmdapi.Config) {
	user := func(info *clientcmdapi.AuthInfo) func(*clientcmdapi.Config) {
		return func(config *clientcmdapi.Config) {
			for name := range config.AuthInfos {
				config.AuthInfos[name] = info
			}
		}
	}
	return map[string]func(*clientcmdapi.Config){
		"own":       func(*clientcmdapi.Config) {},
		"anonymous": user(&clientcmdapi.AuthInfo{}),
		"tokenfile": user(&clientcmdapi.AuthInfo{TokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token"}),
		"program": user(&clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode, Command: "touch", Args: []string{marker},
		}}),
	}
}

// intrudeByInstallation lets Landscaper try it, with the Target of the tenant.
func (tenant *fluxTenant) intrudeByInstallation(t *testing.T, other string) {
	t.Helper()
	template := strings.NewReplacer("NAMESPACE", other, "target: {import: cluster}", "target: {import: cluster}\n  timeout: 12s").Replace(landscape.OneConfigMap)
	inst := landscape.NewInstallation(tenant.namespace, "intruder", template)
	inst.Spec.Imports.Targets[0].Target = "flux"
	failed := env.WaitFinished(t, env.Create(t, inst), "")
	if failed.Status.LastError == nil || !strings.Contains(failed.Status.LastError.Message, "the credentials lack this permission") {
		t.Errorf("phase %s, %+v", failed.Status.InstallationPhase, failed.Status.LastError)
	}
	// The tenant may not look whether it has left something there.
	env.Annotate(t, inst, map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"})
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	scenario.WaitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
}

// readSource reads a source of another tenant of the same Flux, whose revision the tenant
// knows. That should fail, and does not: the controllers serve artifacts without a login,
// and kustomize takes files from the network. The documentation warns of it; when this test
// fails, it need not any more.
func (tenant *fluxTenant) readSource(t *testing.T, s *fluxService, other *fluxTenant) {
	t.Helper()
	source := gitRepository("own")
	if err := other.cluster.Get(t.Context(), client.ObjectKey{Namespace: other.space, Name: "own"}, source); err != nil {
		t.Fatal(err)
	}
	address, _, _ := unstructured.NestedString(source.Object, "status", "artifact", "url")
	file := "configMapGenerator: [{name: taken, files: [\"taken=" + address + "\"]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n"
	if err := tenant.repository.Write(t.Context(), "attacks/attack-read/kustomization.yaml", file); err != nil {
		t.Fatal(err)
	}
	source.SetNamespace(tenant.space)
	askFlux(t, tenant.cluster, source, "once more")
	object := tenant.object(t, kustomization("", "attack-read"), "")
	if err := tenant.cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	awaitObject(t, tenant.cluster, object, "worked on", func(object *unstructured.Unstructured) bool {
		status, _ := conditionOf(object, "Ready")
		return status == "True" || status == "False"
	})
	taken := &corev1.ConfigMap{}
	if err := s.onWorkload.Get(t.Context(), client.ObjectKey{Namespace: tenant.workload, Name: "taken"}, taken); err != nil || len(taken.BinaryData["taken"]) == 0 {
		t.Errorf("the source of tenant %s cannot be read any more (%v): tell it in docs/flux-tenants.md", other.name, err)
	}
}

// intrudeElsewhere lets Flux try the attacks on other clusters, as the user that the tenant is on
// its own cluster.
func (tenant *fluxTenant) intrudeElsewhere(t *testing.T, clusters ...*lab.Cluster) {
	t.Helper()
	for _, cluster := range clusters {
		authority, err := os.ReadFile(cluster.CAFile)
		if err != nil {
			t.Fatal(err)
		}
		name := "attack-" + cluster.Name
		tenant.keep(t, name, func(config *clientcmdapi.Config) {
			for entry := range config.Clusters {
				config.Clusters[entry] = &clientcmdapi.Cluster{Server: cluster.Server, CertificateAuthorityData: authority}
			}
		})
		object := tenant.object(t, kustomization("", name), "{spec: {path: ./examples/kustomize/podinfo-flux-controlled/resources, kubeConfig: {secretRef: {name: "+name+"}}}}")
		result := tenant.cluster.Create(t.Context(), object)
		tenant.checkFailed(t, object, result, fluxAttack{shown: "Unauthorized"})
	}
}

// besides adds to the cluster of a tenant a namespace with secrets, in which another tenant has a
// source.
func (tenant *fluxTenant) besides(t *testing.T, cluster client.WithWatch) *fluxTenant {
	t.Helper()
	other := &fluxTenant{name: "besides", space: "flux-controllers", workload: "default", cluster: cluster, repository: tenant.repository}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: other.space, Name: "own-cluster"}, StringData: map[string]string{"value": tenant.kubeconfig}}
	if err := cluster.Create(t.Context(), secret); err != nil {
		t.Fatal(fmt.Errorf("make a Secret beside the tenant: %w", err))
	}
	for _, object := range []client.Object{other.object(t, gitRepository("own"), ""), other.object(t, kustomization("", "victim"), "{spec: {suspend: true}}")} {
		if err := cluster.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	return other
}

func role(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

// token asks for the token of an account.
func token(ctx context.Context, cluster client.Client, namespace, account string) error {
	return cluster.SubResource("token").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}, &authenticationv1.TokenRequest{})
}
