package shootflux

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// later builds the program as a later release, with another release of Flux in it, and
// returns both.
func later(t *testing.T) (program, version string) {
	t.Helper()
	root, err := lab.Root()
	must(t, err)
	bundled := filepath.Join(root, "internal", "controller", "shootflux", "install", "flux")
	version = "v2.99.0"
	names, err := filepath.Glob(filepath.Join(bundled, install.DefaultVersion(), "*.yaml"))
	must(t, err)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, name := range names {
		overlay.Replace[name] = ""
		overlay.Replace[filepath.Join(bundled, version, filepath.Base(name))] = name
	}
	directory := t.TempDir()
	text, err := json.Marshal(overlay)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(directory, "overlay.json"), text, 0o600))
	program = filepath.Join(directory, "later")
	build := exec.CommandContext(limited(t), "go", "build", "-overlay", filepath.Join(directory, "overlay.json"),
		"-ldflags", "-X go.landscaper.dev/internal/base/version.release=v99.0.0", "-o", program, "./cmd/gardener-extension-shoot-flux")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a later release: %v\n%s", err, output)
	}
	return program, version
}

// TestTwoVersions has two releases of the extension side by side, as during an update and when it
// is taken back: one replica works and the other one waits. A replica that becomes leader writes
// its differences once, and leaves the Flux of a shoot alone that belongs to its owner.
func TestTwoVersions(t *testing.T) {
	program, laterFlux := later(t)
	owned, followed := asleep(t, "versions", "owned"), asleep(t, "versions", "followed")
	const address = "https://git.example.org/app.git"
	old := extension(t, "--leader-election")
	must(t, owned.Enable(limited(t), provider(address, "Once", "Delete")))
	must(t, followed.Enable(limited(t), provider(address, "Always", "Delete")))
	ready(t, owned)
	ready(t, followed)
	bootstrapped(t, owned)
	ofOwned, ofFollowed := generations(t, owned), generations(t, followed)

	updated := options(t, "--leader-election")
	updated.Program = program
	next := landscape.Run(t, updated)
	work(t, owned, followed)
	if generations(t, owned) != ofOwned || generations(t, followed) != ofFollowed || strings.Contains(next.Output(), working) {
		t.Error("both work at the same time")
	}

	must(t, old.Stop())
	work(t, owned, followed)
	if generations(t, owned) != ofOwned {
		t.Error("the shoot of an owner was changed by the later release")
	}
	awaitCondition(t, owned, "FluxUpToDate", "False", laterFlux)
	afterwards := generations(t, followed)
	if afterwards == ofFollowed {
		t.Error("the later release has not brought its Flux")
	}

	// The old one comes back while the later one works.
	again := extension(t, "--leader-election")
	work(t, owned, followed)
	if generations(t, owned) != ofOwned || generations(t, followed) != afterwards || strings.Contains(again.Output(), working) {
		t.Error("the old release fights with the later one")
	}
	must(t, next.Stop())
	work(t, owned, followed)
	if generations(t, owned) != ofOwned || generations(t, followed) != ofFollowed {
		t.Error("the old release has not taken back what the later one has brought, or more than that")
	}
	for _, shoot := range []*gardener.Shoot{owned, followed} {
		must(t, shoot.Disable(limited(t)))
		must(t, shoot.Gone(limited(t)))
	}
}

// working is what an extension says when it begins to work.
const working = "Starting workers"

// work asks for an operation on shoots and waits until all are done.
func work(t *testing.T, shoots ...*gardener.Shoot) {
	t.Helper()
	for _, shoot := range shoots {
		must(t, shoot.Ask(limited(t), "reconcile"))
	}
	for _, shoot := range shoots {
		ready(t, shoot)
	}
}

// bootstrapped makes a shoot, which sleeps, one that has come up before it fell asleep.
func bootstrapped(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	state := map[string]any{"status": map[string]any{"state": map[string]any{
		"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "FluxState", "bootstrapped": true,
		"bootstrappedVersion": install.DefaultVersion(), "bootstrappedBy": "ProviderConfig", "namespace": "flux-system",
	}}}
	text, err := json.Marshal(state)
	must(t, err)
	must(t, world.OnSeed.Status().Patch(limited(t), shoot.Extension(), client.RawPatch("application/merge-patch+json", text)))
	frozen := []byte(`{"metadata":{"annotations":{"resources.gardener.cloud/ignore":"true"}}}`)
	for _, piece := range []string{"install", "config"} {
		must(t, world.OnSeed.Patch(limited(t), managedResource(shoot, piece), client.RawPatch("application/merge-patch+json", frozen)))
	}
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
