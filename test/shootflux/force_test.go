package shootflux

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestForcedDeletion ends although the resource manager, which holds all resources of the
// shoot, is there no more.
func TestForcedDeletion(t *testing.T) {
	shoot := asleep(t, "forced", "one")
	extension(t)
	must(t, shoot.Enable(limited(t), provider("https://git.example.org/app.git", "ManifestsOnly", "Delete")))
	ready(t, shoot)
	pieces := []string{"install", "config", "data"}
	held := []byte(`{"metadata":{"finalizers":["resources.gardener.cloud/gardener-resource-manager"]}}`)
	for _, piece := range pieces {
		must(t, world.OnSeed.Patch(limited(t), managedResource(shoot, piece), client.RawPatch("application/merge-patch+json", held)))
	}
	shoot.Object.SetAnnotations(map[string]string{"confirmation.gardener.cloud/force-deletion": "true"})
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	for _, piece := range pieces {
		object := managedResource(shoot, piece)
		if err := world.OnSeed.Get(limited(t), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("the seed still has %s (%v)", piece, err)
		}
	}
}
