package lifecycle

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

var (
	missing = managed.Standing{}
	present = managed.Standing{Exists: true}
	applied = managed.Standing{Exists: true, Applied: true}
	healthy = managed.Standing{Exists: true, Applied: true, Healthy: true}
	frozen  = managed.Standing{Exists: true, Frozen: true, Applied: true, Healthy: true}
)

func TestHandlings(t *testing.T) {
	never := state.State{}
	ours := state.State{Bootstrapped: true, BootstrappedVersion: "v2.3.0", BootstrappedBy: "ProviderConfig"}
	foreign := state.State{Bootstrapped: true}
	adopted := state.State{Bootstrapped: true, BootstrappedVersion: "v0.29.5"}
	for _, test := range []struct {
		name               string
		mode               config.SyncMode
		remembered         state.State
		asked              string
		installed, written managed.Standing
		install, config    handling
		version            string
		pinned             bool
		reason             string
	}{
		{"first, once", config.Once, never, "", missing, missing, once, once, "v2.4.0", false, "existing objects belong to another owner"},
		{"first, manifests only", config.ManifestsOnly, never, "", missing, missing, once, enforce, "v2.4.0", false, "the configuration is ours"},
		{"first, always", config.Always, never, "", missing, missing, enforce, enforce, "v2.4.0", false, "all is ours"},
		{"first, asked", config.Once, never, "upgrade", missing, missing, once, once, "v2.4.0", false, "there is nothing to do again"},
		{"done, once", config.Once, ours, "", frozen, frozen, leave, leave, "v2.3.0", true, "it belongs to the owner of the shoot"},
		{"done, manifests only", config.ManifestsOnly, ours, "", frozen, healthy, leave, enforce, "v2.3.0", true, "Flux belongs to the owner of the shoot"},
		{"done, always", config.Always, ours, "", healthy, healthy, enforce, enforce, "v2.4.0", false, "the new release is rolled out"},
		{"frozen, then always", config.Always, ours, "", frozen, frozen, enforce, enforce, "v2.4.0", false, "the mode has changed"},
		{"always, then once", config.Once, ours, "", healthy, healthy, once, once, "v2.3.0", true, "enforcing ends with what is there"},
		{"upgrade", config.Once, ours, "upgrade", frozen, frozen, enforce, leave, "v2.4.0", false, "Flux alone is done again"},
		{"rebootstrap", config.Once, ours, "rebootstrap", frozen, frozen, enforce, enforce, "v2.4.0", false, "all is done again"},
		{"rotate", config.Once, ours, "rotate-ssh-key", frozen, frozen, leave, leave, "v2.3.0", true, "it is about the Secret"},
		{"restored", config.Once, ours, "", missing, missing, once, once, "v2.3.0", true, "the same as before, and nothing is changed in the shoot"},
		{"of others", config.Once, foreign, "", missing, missing, leave, leave, "v2.4.0", false, "we do not know what they have installed"},
		{"of others, manifests only", config.ManifestsOnly, foreign, "", missing, missing, leave, enforce, "v2.4.0", false, "the configuration is ours"},
		{"of the first implementation", config.ManifestsOnly, adopted, "", frozen, healthy, leave, enforce, "v0.29.5", true, "the configuration is for the Flux that is there"},
		{"of the first implementation, restored", config.ManifestsOnly, adopted, "", missing, missing, leave, enforce, "v0.29.5", true, "the manifests of the old release may not exist any more"},
		{"of the first implementation, not frozen", config.ManifestsOnly, adopted, "", healthy, healthy, leave, enforce, "v0.29.5", true, "Flux belongs to the owner of the shoot from now on"},
		{"of the first implementation, always", config.Always, adopted, "", healthy, healthy, enforce, enforce, "v2.4.0", false, "the new release is rolled out"},
		{"of others, upgraded", config.Once, foreign, "upgrade", missing, missing, enforce, leave, "v2.4.0", false, "from now on we know"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config.Default()
			c.SyncMode, c.Flux.Version = test.mode, "v2.4.0"
			got := newPlan(c, test.remembered, test.asked, test.installed, test.written)
			if got.install.handle() != test.install || got.config.handle() != test.config {
				t.Errorf("install %s, config %s; want %s, %s: %s", got.install.handle(), got.config.handle(), test.install, test.config, test.reason)
			}
			if got.version != test.version || got.pinned != test.pinned {
				t.Errorf("version %s, pinned %v; want %s, %v: %s", got.version, got.pinned, test.version, test.pinned, test.reason)
			}
		})
	}
}

func TestMayFollow(t *testing.T) {
	for _, test := range []struct {
		name             string
		bootstrapped     bool
		asked            string
		standing         managed.Standing
		data, configured bool
		reason           string
	}{
		{"nothing there", false, "", present, false, false, "there is no namespace yet"},
		{"first, applied", false, "", applied, true, false, "pods may need a Secret to pull images, and the kinds of Flux may not be served"},
		{"first, healthy", false, "", healthy, true, true, "Flux works"},
		{"later, applied", true, "", applied, true, true, "a change must reach a shoot whose pods do not run"},
		{"upgrade, applied", true, "upgrade", applied, true, false, "the configuration may be in a new version of the API"},
		{"frozen", true, "", frozen, true, true, "a frozen ManagedResource is not observed any more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config.Default()
			c.SyncMode = config.ManifestsOnly
			p := newPlan(c, state.State{Bootstrapped: test.bootstrapped, BootstrappedVersion: "v2.4.0", BootstrappedBy: "ProviderConfig"}, test.asked, test.standing, missing)
			if data, configured := p.mayFollow(test.standing); data != test.data || configured != test.configured {
				t.Errorf("data %v, configuration %v: %s", data, configured, test.reason)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	for _, test := range []struct{ annotation, handled, want, reason string }{
		{"", "", "", "nothing is asked"},
		{"upgrade", "", "upgrade", "it is new"},
		{"upgrade", "upgrade", "", "it was done"},
		{"rebootstrap", "upgrade", "rebootstrap", "it is another one"},
		{"", "upgrade", "", "the annotation was removed"},
		{"reboot", "", "", "the operation is unknown"},
		{strings.Repeat("x", 1<<10), "", "", "the operation is unknown, at any length"},
	} {
		t.Run(test.annotation+" after "+test.handled, func(t *testing.T) {
			shoot := &gardener.Shoot{}
			shoot.Annotations = map[string]string{RequestAnnotation: test.annotation}
			if got := request(shoot, state.State{HandledOperation: test.handled}); got != test.want {
				t.Errorf("%q, want %q: %s", got, test.want, test.reason)
			}
		})
	}
}
