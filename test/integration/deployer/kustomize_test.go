package deployer_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/test/showcase"
)

const kustomizeHead = "apiVersion: kustomize.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderConfiguration\n"

func kustomizeItem(t *testing.T, namespace, name, config string) *v1alpha1.DeployItem {
	t.Helper()
	item := newItem(t, namespace, name, kustomizeHead+config)
	item.Spec.Type = v1alpha1.KustomizeDeployItemType
	return item
}

// createContext makes the Context of a namespace, with the credentials for the lab's
// registry and Git server.
func createContext(t *testing.T, namespace string) {
	t.Helper()
	logins, err := json.Marshal(map[string]any{"auths": map[string]any{environment.Registry.Address: map[string]string{
		"auth": base64.StdEncoding.EncodeToString([]byte(environment.Registry.Username + ":" + environment.Registry.Password)),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	git, err := url.Parse(environment.Git.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	consumers := fmt.Sprintf(`{type: credentials.config.ocm.software, consumers: [{identity: {type: Git, hostname: %q}, credentials: [{type: Credentials, properties: {username: %q, password: %q}}]}]}`,
		git.Hostname(), environment.Git.Username, environment.Git.Password)
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "logins"}, StringData: map[string]string{".dockerconfigjson": string(logins), ".ocmcredentialconfig": consumers}},
		&v1alpha1.Context{
			ObjectMeta:           metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.DefaultContextName},
			ContextConfiguration: v1alpha1.ContextConfiguration{RegistryPullSecrets: []v1alpha1.LocalPullSecret{{Name: "logins"}}, RepositoryContext: repositoryOf(namespace)},
		},
	} {
		if err := items.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKustomizeSmallestItem counts the requests for one ConfigMap: they are those of a
// manifest item.
func TestKustomizeSmallestItem(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	const config = "source: {files: {kustomization.yaml: 'resources: [a.yaml]', a.yaml: '{apiVersion: v1, kind: ConfigMap, metadata: {name: smallest}}'}}\ntargetNamespace: NAMESPACE\n"
	first := kustomizeItem(t, namespace, "first", strings.Replace(config, "name: smallest", "name: first", 1))
	create(t, first)
	awaitEnd(t, first, v1alpha1.DeployItemPhases.Succeeded)

	item := kustomizeItem(t, namespace, "smallest", config)
	if err := items.Create(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	beforeResource, beforeTarget := mark(t, resource), mark(t, target)
	handOver(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if diff := cmp.Diff(map[string]int{"create configmaps": 1}, count(t, target, namespace, beforeTarget)); diff != "" {
		t.Errorf("requests to the target cluster, -want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"update deployitems.landscaper.gardener.cloud/status": 2}, count(t, resource, namespace, beforeResource)); diff != "" {
		t.Errorf("requests to the resource cluster, -want +got\n%s", diff)
	}
	deleteAndCount(t, ended)
}

const kustomizeShop = `
targetNamespace: NAMESPACE
namePrefix: my-
exports: {exports: [{key: size, jsonPath: .data.size, fromResource: {apiVersion: v1, kind: ConfigMap, name: my-settings, namespace: NAMESPACE}}]}
source:
  files:
    base/kustomization.yaml: "resources: [settings.yaml, web.yaml]"
    base/settings.yaml: "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {size: SIZE}}"
    base/web.yaml: |
      {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}},
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
    kustomization.yaml: |
      resources: [base]
      configMapGenerator: [{name: generated, literals: [size=SIZE]}]
`

// TestKustomizeUpdate deploys a kustomization, waits for its Deployment, exports, and
// deploys a change: what has another name now replaces what was there.
func TestKustomizeUpdate(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := kustomizeItem(t, namespace, "shop", strings.ReplaceAll(kustomizeShop, "SIZE", "small"))
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if _, values := exported(t, ended); values["size"] != "small" {
		t.Errorf("exports %v", values)
	}
	before := managed(t, ended)
	if len(before) != 3 || !strings.HasPrefix(before[0]+before[1]+before[2], "my-") {
		t.Errorf("deployed %v", before)
	}
	web := unstructuredFrom(t, "{apiVersion: apps/v1, kind: Deployment}")
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "my-web"}, web); err != nil {
		t.Fatal(err)
	}
	if ready := web.Object["status"].(map[string]any)["readyReplicas"]; ready != int64(1) {
		t.Errorf("%v replicas are ready", ready)
	}

	again(t, item, kustomizeHead+strings.ReplaceAll(kustomizeShop, "SIZE", "large"))
	ended = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if _, values := exported(t, ended); values["size"] != "large" {
		t.Errorf("exports %v", values)
	}
	after := managed(t, ended)
	for _, name := range before {
		if strings.HasPrefix(name, "my-generated-") {
			awaitGone(t, deployed, &corev1.ConfigMapList{}, configMap(namespace, name))
		}
	}
	if len(after) != 3 || cmp.Equal(before, after) {
		t.Errorf("deployed %v, then %v", before, after)
	}
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	awaitGone(t, deployed, &corev1.ConfigMapList{}, configMap(namespace, "my-settings"))
}

// TestKustomizeFromGit deploys a branch, and what it has become in the next job; then
// a commit, which stays what it is.
func TestKustomizeFromGit(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createContext(t, namespace)
	made, err := environment.CreateRepository(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := url.Parse(made.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	plain.User = nil
	withLogin := *plain
	withLogin.User = url.UserPassword(environment.Git.Username, environment.Git.Password)
	written, err := showcase.NewRepository(t.Context(), withLogin.String(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(value string) {
		t.Helper()
		if err := written.Write(t.Context(), "web/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-git}, data: {value: "+value+"}}"); err != nil {
			t.Fatal(err)
		}
	}
	config := func(ref string) string {
		return "source: {git: {url: '" + plain.String() + "', ref: " + ref + "}}\npath: examples/kustomize/web\ntargetNamespace: NAMESPACE\n"
	}
	check := func(ended *v1alpha1.DeployItem, want string) {
		t.Helper()
		stored := configMap(namespace, "from-git")
		if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil || stored.Data["value"] != want {
			t.Errorf("%s: value %q, error %v", ended.Name, stored.Data["value"], err)
		}
	}
	write("one")
	first := written.Commit
	item := kustomizeItem(t, namespace, "from-git", config("{branch: main}"))
	create(t, item)
	check(awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded), "one")
	write("two")
	again(t, item, kustomizeHead+config("{branch: main}"))
	check(awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded), "two")
	again(t, item, kustomizeHead+config("{branch: main, commit: "+first+"}"))
	check(awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded), "one")
	// A commit is always the same: a deployer that has fetched it needs no server.
	signal := func(name string) {
		t.Helper()
		if err := environment.Signal(t.Context(), "git", name); err != nil {
			t.Fatal(err)
		}
	}
	signal("STOP")
	again(t, item, kustomizeHead+config("{branch: main, commit: "+first+"}"))
	check(awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded), "one")
	signal("CONT")
	again(t, item, kustomizeHead+config("{tag: "+written.Tag+"}"))
	check(awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded), "two")
	again(t, item, kustomizeHead+config("{branch: missing}"))
	failed := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed)
	if message := failed.Status.LastError.Message; !strings.Contains(message, "source.git: ") || !strings.Contains(message, "has no reference") {
		t.Errorf("message %s", message)
	}
}

// TestKustomizeFromRegistry deploys an artifact as Flux makes it.
func TestKustomizeFromRegistry(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createContext(t, namespace)
	at := pushFiles(t, namespace+"/manifests", archive.File{Path: "deploy/a.yaml", Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: from-registry}}")})
	item := kustomizeItem(t, namespace, "from-registry", "source: {oci: {ref: 'http://"+environment.Registry.Address+"/"+namespace+"/manifests:v1@"+at.String()+"'}}\npath: deploy\ntargetNamespace: NAMESPACE\n")
	create(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	stored := configMap(namespace, "from-registry")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	again(t, item, kustomizeHead+"source: {oci: {ref: 'http://"+environment.Registry.Address+"/"+namespace+"/manifests:v2'}}\n")
	if message := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed).Status.LastError.Message; !strings.Contains(message, "not found") {
		t.Errorf("message %s", message)
	}
}

// TestKustomizeFromComponent deploys a directory that is a resource of a component, and
// an artifact that another resource refers to.
func TestKustomizeFromComponent(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createContext(t, namespace)
	address := "http://" + environment.Registry.Address
	pushFiles(t, namespace+"/manifests", archive.File{Path: "a.yaml", Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: artifact}}")})
	directory := t.TempDir()
	if err := os.CopyFS(directory, fstest.MapFS{"app/a.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: directory}}")}}); err != nil {
		t.Fatal(err)
	}
	parsed, err := publish.Parse([]byte("{name: example.org/" + namespace + ", version: 1.0.0, provider: {name: p}, resources: [" +
		"{name: directory, type: directoryTree, version: 1.0.0, input: {type: dir, path: app, compress: true}}," +
		"{name: artifact, type: ociArtifact, version: 1.0.0, access: {type: ociArtifact, imageReference: '" + address + "/" + namespace + "/manifests:v1'}}]}"))
	if err != nil {
		t.Fatal(err)
	}
	at := component.Context(repositoryOf(namespace))
	spec, err := repository.ParseSpec(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), parsed, publish.Options{Target: registryStore(), Spec: spec, Context: at, Directory: directory}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"directory", "artifact"} {
		key := base64.StdEncoding.EncodeToString([]byte("{component: {name: example.org/" + namespace + ", version: 1.0.0}, resource: {name: " + name + "}}"))
		item := kustomizeItem(t, namespace, name, "source: {resourceRef: "+key+"}\ntargetNamespace: NAMESPACE\n")
		create(t, item)
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		stored := configMap(namespace, name)
		if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			t.Error(err)
		}
	}
}

// repositoryOf is the repository of the components of a namespace.
func repositoryOf(namespace string) *v1alpha1.UnstructuredTypedObject {
	typed := &v1alpha1.UnstructuredTypedObject{}
	typed.Raw = fmt.Appendf(nil, `{"type":"OCIRegistry","baseUrl":"http://%s/%s/components"}`, environment.Registry.Address, namespace)
	return typed
}

// registryStore is the registry for an administrator.
func registryStore() *registry.Registry {
	credentials := &credential.Store{}
	credentials.AddConsumer(map[string]string{"type": credential.TypeOCIRegistry, "hostname": strings.Split(environment.Registry.Address, ":")[0]},
		credential.Properties{credential.Username: environment.Registry.Username, credential.Password: environment.Registry.Password})
	pool := registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts())
	return registry.NewClient(pool, registry.Options{Credentials: credentials}).Registry("http", environment.Registry.Address)
}

// pushFiles pushes an artifact with a layer as Flux makes it, under the tag v1.
func pushFiles(t *testing.T, name string, content ...archive.File) digest.Digest {
	t.Helper()
	store := registryStore()
	var layer bytes.Buffer
	if err := archive.Gzip(&layer, func(to io.Writer) error { return archive.Pack(to, content...) }); err != nil {
		t.Fatal(err)
	}
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		t.Helper()
		described := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := store.Push(t.Context(), name, described, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return described
	}
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: push("application/vnd.cncf.flux.config.v1+json", []byte("{}"))}
	manifest.SchemaVersion = 2
	manifest.Layers = []ocispec.Descriptor{push("application/vnd.cncf.flux.content.v1.tar+gzip", layer.Bytes())}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	described := push(ocispec.MediaTypeImageManifest, text)
	if err := store.Tag(t.Context(), name, described, "v1"); err != nil {
		t.Fatal(err)
	}
	return described.Digest
}
