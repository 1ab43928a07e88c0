package shootflux

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/test/gardener"
)

// oldRelease is what an installation of others says that it is.
const oldRelease = "v2.3.0"

// manifests install Flux, as others have done it.
func manifests(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	library, err := install.NewLibrary(nil)
	must(t, err)
	objects, err := library.Manifests(limited(t), install.Defaults())
	must(t, err)
	for _, object := range objects {
		labels := object.GetLabels()
		labels["app.kubernetes.io/version"] = oldRelease
		object.SetLabels(labels)
	}
	return objects
}

// fluxObjects are a source and a kustomization under a name.
func fluxObjects(source, kustomization, address string) []*unstructured.Unstructured {
	made := func(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": "flux-system", "name": name}, "spec": spec,
		}}
	}
	return []*unstructured.Unstructured{
		made("source.toolkit.fluxcd.io/v1", "GitRepository", source, map[string]any{"interval": "30s", "url": address, "ref": map[string]any{"branch": "main"}, "secretRef": map[string]any{"name": "flux-source"}}),
		made("kustomize.toolkit.fluxcd.io/v1", "Kustomization", kustomization, map[string]any{
			"interval": "5m", "path": path, "prune": true, "targetNamespace": "default", "sourceRef": map[string]any{"kind": "GitRepository", "name": source},
		}),
	}
}

// sourceSecret has the key of the lab for its Git server.
func sourceSecret(t *testing.T, namespace string) *corev1.Secret {
	t.Helper()
	key, err := os.ReadFile(world.Lab.Git.PrivateKeyFile)
	must(t, err)
	hosts, err := os.ReadFile(world.Lab.Git.KnownHostsFile)
	must(t, err)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "flux-source"}, Data: map[string][]byte{"identity": key, "known_hosts": hosts}}
}

// asFirst leaves ManagedResources and Secrets on the seed as the first implementation did.
func asFirst(t *testing.T, shoot *gardener.Shoot, piece string, frozen bool, contents map[string][]*unstructured.Unstructured) {
	t.Helper()
	resource := managedResource(shoot, piece)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace(), Name: "managedresource-" + resource.GetName()}, Data: map[string][]byte{}}
	for key, objects := range contents {
		for _, object := range objects {
			text, err := yaml.Marshal(object.Object)
			must(t, err)
			secret.Data[key] = append(append(secret.Data[key], "---\n"...), text...)
		}
	}
	must(t, world.OnSeed.Create(limited(t), secret))
	resource.SetLabels(map[string]string{"origin": "gardener"})
	resource.Object["spec"] = map[string]any{
		"keepObjects": true, "injectLabels": map[string]any{"shoot.gardener.cloud/no-cleanup": "true"}, "secretRefs": []any{map[string]any{"name": secret.Name}},
	}
	must(t, world.OnSeed.Create(limited(t), resource))
	must(t, gardener.Wait(limited(t), world.OnSeed, managedResource(shoot, piece), func(seen *unstructured.Unstructured) (bool, error) {
		return hasCondition(seen, "ResourcesHealthy", "True", "")
	}))
	if frozen {
		must(t, world.OnSeed.Patch(limited(t), resource, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"resources.gardener.cloud/ignore":"true"}}}`))))
	}
}

// identities are what changes when an object of the shoot is deleted, or its
// specification written.
func identities(t *testing.T, objects ...*unstructured.Unstructured) string {
	t.Helper()
	var text strings.Builder
	for _, object := range objects {
		seen := object.DeepCopy()
		must(t, world.InShoot.Get(limited(t), client.ObjectKeyFromObject(object), seen))
		text.WriteString(seen.GetKind() + " " + string(seen.GetUID()) + " ")
		if seen.GetKind() == "Deployment" {
			fmt.Fprint(&text, seen.GetLabels()["app.kubernetes.io/version"], " ", seen.GetGeneration(), " ")
		}
	}
	return text.String()
}

func ofShoot(apiVersion, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	object.SetNamespace("flux-system")
	object.SetName(name)
	return object
}

// TestAdoption takes over what the first implementation has left, lets it go, takes it
// over as if its successor had left it, and then as if the first implementation had, in
// its oldest way. Until it is removed in the end, the shoot keeps its Flux, its source and
// its key.
func TestAdoption(t *testing.T) {
	made, err := world.Lab.CreateRepository(limited(t), unique("adopted"))
	must(t, err)
	fill(t, made, "from-adopted")
	shoot := newShoot(t, "adopted", "one")
	must(t, world.InGarden.Create(limited(t), sourceSecret(t, shoot.ProjectNamespace())))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(sourceSecret(t, "flux-system"))
	must(t, err)
	secret := &unstructured.Unstructured{Object: content}
	secret.SetAPIVersion("v1")
	secret.SetKind("Secret")
	objects := fluxObjects("main-gitrepo", "main-ks", made.SSH)
	inherit(t, shoot, true, objects, secret)
	deployed(t, "default", "from-adopted")
	all := append(objects, secret, ofShoot("apps/v1", "Deployment", "source-controller"), ofShoot("apps/v1", "Deployment", "kustomize-controller"))
	before := identities(t, all...)

	configure(t, shoot, map[string]string{"repositoryUrl": made.SSH, "repositoryBranch": "main", "repositoryType": "private", "repositoryPath": path, "deletionPolicy": "Orphan"})
	extension(t)
	must(t, shoot.Enable(limited(t), nil))
	awaitCondition(t, shoot, "FluxUpToDate", "False", oldRelease)
	ready(t, shoot)
	must(t, shoot.Ask(limited(t), "reconcile"))
	ready(t, shoot)
	if after := identities(t, all...); after != before {
		t.Errorf("the shoot had %s and has %s", before, after)
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	if after := identities(t, all...); after != before {
		t.Errorf("the shoot had %s and has %s after the extension was disabled", before, after)
	}
	noContents(t, shoot)

	asSuccessor(t, shoot, provider(made.HTTP, "Once", "Delete"))
	if after := identities(t, all...); after != before {
		t.Errorf("the shoot had %s and has %s after the successor", before, after)
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))

	// The oldest releases have left their installation as it was, and this one is deleted.
	inherit(t, shoot, false, objects, secret)
	configure(t, shoot, map[string]string{"repositoryUrl": made.SSH, "repositoryBranch": "main", "repositoryType": "private", "repositoryPath": path})
	must(t, shoot.Enable(limited(t), nil))
	awaitCondition(t, shoot, "FluxUpToDate", "False", oldRelease)
	ready(t, shoot)
	if after := identities(t, all...); after != before {
		t.Errorf("the shoot had %s and has %s after the first implementation came back", before, after)
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	gone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "from-adopted"}})
	noContents(t, shoot)
}

// inherit creates the objects that the first implementation leaves.
func inherit(t *testing.T, shoot *gardener.Shoot, frozen bool, objects []*unstructured.Unstructured, secret *unstructured.Unstructured) {
	t.Helper()
	asFirst(t, shoot, "install", frozen, map[string][]*unstructured.Unstructured{"flux-install-yaml": manifests(t)})
	asFirst(t, shoot, "config", false, map[string][]*unstructured.Unstructured{"flux-reposecret": {secret}, "flux-source": objects[:1], "flux-ks": objects[1:]})
}

// asSuccessor takes over a shoot with a status that the successor has written. Flux,
// source and kustomization are those of its owner.
func asSuccessor(t *testing.T, shoot *gardener.Shoot, config map[string]any) {
	t.Helper()
	left := shoot.Extension()
	left.SetFinalizers([]string{"extensions.gardener.cloud/shoot-flux"})
	// No controller looks at it before it has its status.
	left.SetAnnotations(map[string]string{"gardener.cloud/operation": "wait-for-state"})
	left.Object["spec"] = map[string]any{"type": "shoot-flux", "providerConfig": config}
	must(t, world.OnSeed.Create(limited(t), left))
	now := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	left.Object["status"] = map[string]any{
		"lastOperation": map[string]any{"type": "Create", "state": "Succeeded", "progress": int64(100), "description": "", "lastUpdateTime": now},
		"conditions":    []any{map[string]any{"type": "FluxBootstrapped", "status": "True", "reason": "BootstrapSuccessful", "message": "", "lastTransitionTime": now, "lastUpdateTime": now}},
	}
	must(t, world.OnSeed.Status().Update(limited(t), left))
	must(t, shoot.Enable(limited(t), config))
	ready(t, shoot)
	awaitCondition(t, shoot, "FluxConfigured", "True", "NotManaged")
	notInstalled(t, shoot)
}

// noContents wants nothing on the seed that has a key in it.
func noContents(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	secrets := &corev1.SecretList{}
	must(t, world.OnSeed.List(limited(t), secrets, client.InNamespace(shoot.Namespace())))
	for _, secret := range secrets.Items {
		if strings.HasPrefix(secret.Name, "managedresource-") || secret.Name == "shoot-flux-source" {
			t.Errorf("the seed still has %s", secret.Name)
		}
	}
}
