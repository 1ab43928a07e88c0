package shootflux

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/gardener"
)

// TestTwoReplicas has two extensions side by side, as during an update: one works, and the
// other one goes on with its work without writing anything anew.
func TestTwoReplicas(t *testing.T) {
	address := repository(t, "replicas", "from-replicas")
	shoot := newShoot(t, "replicas", "one")
	const working = "Starting workers"
	first := extension(t, "--leader-election")
	must(t, shoot.Enable(limited(t), provider(address, "Always", "Delete")))
	ready(t, shoot)
	second := extension(t, "--leader-election")
	if strings.Contains(second.Output(), working) {
		t.Error("both work at the same time")
	}
	deployed(t, "default", "from-replicas")
	before := generations(t, shoot)
	must(t, first.Stop())
	must(t, shoot.Ask(limited(t), "reconcile"))
	ready(t, shoot)
	if !strings.Contains(second.Output(), working) {
		t.Error("the second one does not work")
	}
	if after := generations(t, shoot); after != before {
		t.Errorf("the contents were %s and are %s", before, after)
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// generations change with the contents of ManagedResources.
func generations(t *testing.T, shoot *gardener.Shoot) string {
	t.Helper()
	text := ""
	for _, piece := range []string{"install", "config", "data"} {
		object := managedResource(shoot, piece)
		must(t, world.OnSeed.Get(limited(t), client.ObjectKeyFromObject(object), object))
		text += piece + " " + string(object.GetUID()) + " "
		contents, _, _ := unstructured.NestedSlice(object.Object, "spec", "secretRefs")
		for _, content := range contents {
			text += content.(map[string]any)["name"].(string) + " "
		}
	}
	return text
}
