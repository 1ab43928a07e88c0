package shootflux

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/gardener"
)

// TestRotationOncePerRequest asks for another key at a moment when something else is
// wrong, and gets one, not one for each attempt.
func TestRotationOncePerRequest(t *testing.T) {
	made, err := world.Lab.CreateRepository(limited(t), unique("rotated"))
	must(t, err)
	shoot := asleep(t, "rotated", "one")
	configure(t, shoot, map[string]string{"repositoryUrl": made.SSH, "repositoryBranch": "main", "repositoryType": "private", "repositoryPath": path})
	extension(t)
	must(t, shoot.Enable(limited(t), nil))
	ready(t, shoot)
	first := projectKey(t, shoot)

	must(t, unstructured.SetNestedSlice(shoot.Object.Object, []any{map[string]any{
		"name": "late", "resourceRef": map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "late"},
	}}, "spec", "resources"))
	shoot.Object.SetAnnotations(map[string]string{"flux.extensions.gardener.cloud/operation": "rotate-ssh-key"})
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Enable(limited(t), map[string]any{
		"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "FluxConfig", "configMapRef": map[string]any{},
		"additionalSecretResources": []any{map[string]any{"name": "late"}},
	}))
	failed(t, shoot, "late", "is not on the seed")
	second := projectKey(t, shoot)
	if string(second["identity.old"]) != string(first["identity"]) || string(second["identity"]) == string(first["identity"]) {
		t.Error("the key was not rotated, or the one before was not kept")
	}

	must(t, shoot.Ask(limited(t), "reconcile"))
	must(t, gardener.Wait(limited(t), world.OnSeed, shoot.Extension(), func(seen *unstructured.Unstructured) (bool, error) {
		state, _, _ := unstructured.NestedString(seen.Object, "status", "lastOperation", "state")
		return state == "Error" && seen.GetAnnotations()["gardener.cloud/operation"] == "", nil
	}))
	late := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace(), Name: "ref-late"}, Data: map[string][]byte{"a": []byte("b")}}
	must(t, world.OnSeed.Create(limited(t), late))
	must(t, shoot.Ask(limited(t), "reconcile"))
	ready(t, shoot)
	if third := projectKey(t, shoot); string(third["identity"]) != string(second["identity"]) {
		t.Error("a further attempt has made another key")
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// projectKey is what the Secret of the project has.
func projectKey(t *testing.T, shoot *gardener.Shoot) map[string][]byte {
	t.Helper()
	secret := &corev1.Secret{}
	must(t, world.InGarden.Get(limited(t), client.ObjectKey{Namespace: shoot.ProjectNamespace(), Name: "flux-source"}, secret))
	return secret.Data
}
