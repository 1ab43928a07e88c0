package shootflux

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/gardener"
)

// awaitCondition waits until the Extension has a condition with a status and a text.
func awaitCondition(t *testing.T, shoot *gardener.Shoot, kind, status, text string) {
	t.Helper()
	must(t, gardener.Wait(limited(t), world.OnSeed, shoot.Extension(), func(seen *unstructured.Unstructured) (bool, error) {
		return hasCondition(seen, kind, status, text)
	}))
}

// hasCondition says whether an object has a condition with a status and a text.
func hasCondition(seen *unstructured.Unstructured, kind, status, text string) (bool, error) {
	conditions, _, err := unstructured.NestedSlice(seen.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(entry any) bool {
		condition, _ := entry.(map[string]any)
		return condition["type"] == kind && condition["status"] == status && strings.Contains(fmt.Sprint(condition), text)
	}), err
}

// toldKey is the public key in the status of an Extension that is ready.
func toldKey(t *testing.T, shoot *gardener.Shoot) string {
	t.Helper()
	told, _, _ := unstructured.NestedString(ready(t, shoot).Object, "status", "providerStatus", "publicKey")
	return strings.TrimSpace(told)
}

// rotate asks for another key.
func rotate(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	shoot.Object.SetAnnotations(map[string]string{"flux.extensions.gardener.cloud/operation": "rotate-ssh-key"})
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Ask(limited(t), "reconcile"))
}

// publicKey is the key that the extension tells of, in the garden and on the seed.
func publicKey(t *testing.T, shoot *gardener.Shoot) string {
	t.Helper()
	told := toldKey(t, shoot)
	secret := &corev1.Secret{}
	must(t, world.InGarden.Get(limited(t), client.ObjectKey{Namespace: shoot.ProjectNamespace(), Name: "flux-source"}, secret))
	key := strings.TrimSpace(string(secret.Data["identity.pub"]))
	if key == "" || told != key {
		t.Errorf("the key of the project is %q, and the Extension tells %q", key, told)
	}
	published := &corev1.ConfigMap{}
	must(t, world.InGarden.Get(limited(t), client.ObjectKey{Namespace: shoot.ProjectNamespace(), Name: "flux-source.pub"}, published))
	if !strings.Contains(published.Data["publicKey"], key) {
		t.Errorf("the key of the project is %q, and %q is published", key, published.Data["publicKey"])
	}
	return key
}

// TestPrivateRepository generates a key for a repository, which does not know it at first,
// and replaces it on request.
func TestPrivateRepository(t *testing.T) {
	made, err := world.Lab.CreateRepository(limited(t), unique("private"))
	must(t, err)
	fill(t, made, "from-private")
	shoot := newShoot(t, "secretive", "one")
	configure(t, shoot, map[string]string{
		"repositoryUrl": made.SSH, "repositoryBranch": "main", "repositoryType": "private", "repositoryPath": path,
		"interval": "5s", "kustomizationInterval": "5s",
	})
	extension(t)
	must(t, shoot.Enable(limited(t), nil))
	ready(t, shoot)
	first := publicKey(t, shoot)
	must(t, gardener.Wait(limited(t), world.InShoot, ofShoot("source.toolkit.fluxcd.io/v1", "GitRepository", "main-gitrepo"), func(seen *unstructured.Unstructured) (bool, error) {
		return hasCondition(seen, "Ready", "False", "")
	}))
	must(t, shoot.Ask(limited(t), "reconcile"))
	awaitCondition(t, shoot, "FluxConfigured", "False", "GitRepository flux-system/main-gitrepo")
	must(t, world.Lab.Git.Authorize([]byte(first)))
	deployed(t, "default", "from-private")
	awaitCondition(t, shoot, "FluxConfigured", "True", "Ready")

	rotate(t, shoot)
	second := publicKey(t, shoot)
	if first == second {
		t.Error("the key was not replaced")
	}
	must(t, shoot.Ask(limited(t), "reconcile"))
	if third := publicKey(t, shoot); third != second {
		t.Error("one request has replaced the key twice")
	}
	// The shoot has the new key and no other.
	inShoot := awaitSecret(t, "flux-system", "flux-source", "identity", string(projectKey(t, shoot)["identity"]))
	if len(inShoot.Data) != 3 {
		t.Errorf("the Secret in the shoot has %d entries", len(inShoot.Data))
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	// The key of the project stays: other shoots may have it.
	must(t, world.InGarden.Get(limited(t), client.ObjectKey{Namespace: shoot.ProjectNamespace(), Name: "flux-source"}, &corev1.Secret{}))
}
