package shootflux

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/gardener"
)

// wantMetrics wants lines of what the extension measures. They can only be asked for, and
// follow from what it sees.
func wantMetrics(t *testing.T, address string, lines ...string) {
	t.Helper()
	tick, ctx := time.NewTicker(50*time.Millisecond), limited(t)
	defer tick.Stop()
	for {
		text := metrics(t, address)
		missing := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains("\n"+text, "\n"+line+"\n") })
		if len(missing) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("no %q in the metrics", missing)
		}
	}
}

func metrics(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(limited(t), http.MethodGet, "http://"+address+"/metrics", nil)
	must(t, err)
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { must(t, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return string(text)
}

// TestHeartbeat shows gardenlet that the extension lives.
func TestHeartbeat(t *testing.T) {
	extension(t, "--heartbeat-renew-interval-seconds", "1", "--disable-controllers", "extension,healthcheck")
	lease := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}}
	lease.SetNamespace(chart.ShootFlux.Namespace)
	lease.SetName("gardener-extension-heartbeat")
	var first string
	must(t, gardener.Wait(limited(t), world.OnSeed, lease, func(seen *unstructured.Unstructured) (bool, error) {
		renewed, _, err := unstructured.NestedString(seen.Object, "spec", "renewTime")
		seconds, _, _ := unstructured.NestedInt64(seen.Object, "spec", "leaseDurationSeconds")
		if first == "" && seconds == 1 {
			first = renewed
		}
		return seconds == 1 && renewed != first, err
	}))
	if holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity"); holder != "shoot-flux" {
		t.Errorf("the holder is %s", holder)
	}
}

// TestGardenletKubeconfig reaches the garden as the first implementation did, and follows
// the configuration of projects there.
func TestGardenletKubeconfig(t *testing.T) {
	kubeconfig, err := os.ReadFile(inGarden.Kubeconfig)
	must(t, err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: chart.ShootFlux.Namespace, Name: unique("gardenlet")}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
	must(t, world.OnSeed.Create(limited(t), secret))
	shoot := asleep(t, "gardenlet", "one")
	configure(t, shoot, map[string]string{})
	extension(t, "--garden-kubeconfig", "", "--gardenlet-kubeconfig", secret.Namespace+"/"+secret.Name)
	must(t, shoot.Enable(limited(t), nil))
	if origin, _, _ := unstructured.NestedString(ready(t, shoot).Object, "status", "providerStatus", "origin"); origin != "ProjectConfigMap" {
		t.Errorf("the configuration is from %s", origin)
	}
	before := generations(t, shoot)
	configure(t, shoot, map[string]string{"fluxComponents": "source-controller,kustomize-controller"})
	must(t, gardener.Wait(limited(t), world.OnSeed, managedResource(shoot, "install"), func(seen *unstructured.Unstructured) (bool, error) {
		return seen.GetGeneration() > 1, nil
	}))
	if generations(t, shoot) == before {
		t.Error("the contents are the same")
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	must(t, client.IgnoreNotFound(world.OnSeed.Delete(limited(t), secret)))
}
