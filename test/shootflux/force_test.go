package shootflux

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestForcedDeletion ends although nobody manages the resources of the shoot any more.
func TestForcedDeletion(t *testing.T) {
	address := repository(t, "forced", "from-forced")
	shoot := newShoot(t, "forced", "one")
	extension(t)
	must(t, shoot.Enable(limited(t), provider(address, "ManifestsOnly", "Delete")))
	ready(t, shoot)
	must(t, shoot.Unmanage())
	shoot.Object.SetAnnotations(map[string]string{"confirmation.gardener.cloud/force-deletion": "true"})
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	for _, piece := range []string{"install", "config", "data"} {
		object := managedResource(shoot, piece)
		if err := world.OnSeed.Get(limited(t), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("the seed still has %s (%v)", piece, err)
		}
	}
	// The shoot is gone with all that was in it; the cluster of the tests is not.
	must(t, shoot.Manage(limited(t)))
	shoot.Object.SetAnnotations(nil)
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Enable(limited(t), provider(address, "ManifestsOnly", "Delete")))
	ready(t, shoot)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}
