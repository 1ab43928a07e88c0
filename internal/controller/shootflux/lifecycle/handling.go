package lifecycle

import (
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// The names of the ManagedResources. The first two are those of the first implementation, so that
// its ManagedResources are taken over.
const (
	InstallName = "extension-shoot-flux-flux-install"
	ConfigName  = "extension-shoot-flux-flux-config"
	DataName    = "extension-shoot-flux-flux-data"
)

// RequestAnnotation of a Shoot asks for an operation once.
const RequestAnnotation = "flux.extensions.gardener.cloud/operation"

// The operations of RequestAnnotation.
const (
	RequestUpgrade     = "upgrade"
	RequestRebootstrap = "rebootstrap"
	RequestRotate      = "rotate-ssh-key"
)

// request returns the requested operation of the Shoot that was not done yet; "" without a request.
//
// The state has the handled request and moves with the shoot; the annotation of the Shoot stays,
// since it belongs to its owner.
func request(shoot *gardener.Shoot, remembered state.State) string {
	asked := knownRequest(shoot.Annotations[RequestAnnotation])
	if asked == remembered.HandledOperation {
		return ""
	}
	return asked
}

// knownRequest returns an operation, or "" for an unknown text.
func knownRequest(text string) string {
	switch text {
	case RequestUpgrade, RequestRebootstrap, RequestRotate:
		return text
	}
	return ""
}

// handling is what is done with a piece.
type handling string

const (
	// enforce keeps the objects as they should be.
	enforce handling = "enforce"
	// once creates those that are missing, and changes none.
	once handling = "once"
	// leave does nothing.
	leave handling = "leave"
)

// situation is what the handling of a piece depends on.
type situation struct {
	// continuous says that the sync mode enforces this piece.
	continuous bool
	// bootstrapped says that the shoot has come up once.
	bootstrapped bool
	// requested says that the Shoot asks to have this piece done again.
	requested bool
	// installed says that this extension has installed Flux, not an earlier tool.
	installed bool
	// standing is the ManagedResource.
	standing managed.Standing
}

// handle returns the handling of a piece. Once a shoot has bootstrapped, a piece that is not
// continuous belongs to its owner: its ManagedResource is frozen then. A ManagedResource that is
// not frozen yet was lost, or its enforcing has just ended.
func (s situation) handle() handling {
	switch {
	case s.continuous:
		return enforce
	case !s.bootstrapped:
		return once
	case s.requested:
		return enforce
	case s.standing.Frozen || !s.installed:
		return leave
	}
	return once
}

// plan has the handling of each piece in a run.
type plan struct {
	install, config situation
	// settled says that the shoot works already: a changed piece need not be ready before the next
	// one follows.
	settled bool
	// version is the release whose manifests are written.
	version string
	// pinned says that another release is configured than the one that stays.
	pinned bool
}

func newPlan(c *config.Config, remembered state.State, asked string, standing, configured managed.Standing) plan {
	p := plan{version: c.Flux.Version}
	again := asked == RequestUpgrade || asked == RequestRebootstrap
	known, installed := remembered.BootstrappedVersion != "", remembered.BootstrappedBy != ""
	p.install = situation{
		continuous: c.SyncMode == config.Always, bootstrapped: remembered.Bootstrapped,
		requested: again, installed: installed, standing: standing,
	}
	p.config = situation{
		continuous: c.SyncMode != config.Once, bootstrapped: remembered.Bootstrapped,
		requested: asked == RequestRebootstrap, installed: installed, standing: configured,
	}
	p.settled = remembered.Bootstrapped && !again
	if p.settled && !p.install.continuous {
		p.pinned = known && remembered.BootstrappedVersion != c.Flux.Version
		if known {
			p.version = remembered.BootstrappedVersion
		}
	}
	return p
}

// mayFollow says whether data and configuration may be written, from the state of the manifests:
// data need the namespace, and the first configuration needs the kinds of Flux.
func (p plan) mayFollow(install managed.Standing) (data, configured bool) {
	if p.install.handle() == leave {
		return true, true
	}
	return install.Applied, install.Applied && (p.settled || install.Healthy)
}
