package installation

import (
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/runtime/reporter"
)

// snapshot is what one attempt knows: what it decides by, and what it has begun.
type snapshot struct {
	decide.Situation
	// subject is what is reported about.
	subject *reporter.Subject
	// unsaved says that the status has a job which is not stored yet.
	unsaved bool
	// admitted says that the request for it is gone: the one that is there is for the
	// job after it.
	admitted bool
}
