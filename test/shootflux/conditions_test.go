package shootflux

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// publishedKey is the public key in the status of an Extension that is ready.
func publishedKey(t *testing.T, shoot *gardener.Shoot) string {
	t.Helper()
	key, _, _ := unstructured.NestedString(ready(t, shoot).Object, "status", "providerStatus", "publicKey")
	return strings.TrimSpace(key)
}

// rotate asks for another key.
func rotate(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	shoot.Object.SetAnnotations(map[string]string{"flux.extensions.gardener.cloud/operation": "rotate-ssh-key"})
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Ask(limited(t), "reconcile"))
}

// deployed waits until a ConfigMap of a repository is in the shoot.
func deployed(t *testing.T, namespace, name string) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetNamespace(namespace)
	object.SetName(name)
	must(t, gardener.Wait(limited(t), world.InShoot, object, func(*unstructured.Unstructured) (bool, error) { return true, nil }))
}
