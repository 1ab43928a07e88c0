// Package renderers says where the work is done that others have written: in the processes of a pool,
// or in this process. The server and the command line have the same.
package renderers

import (
	"maps"
	"time"

	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/plan/remote"
	"go.landscaper.dev/internal/runtime/sandbox"
)

const (
	// Memory is the most that one work may take; a small server gives less.
	Memory = 512 << 20
	// Timeout is how long one work may compute.
	Timeout = 30 * time.Second
)

// Handlers are what the processes do.
func Handlers() map[string]sandbox.Handler {
	handlers := map[string]sandbox.Handler{}
	for _, more := range []map[string]sandbox.Handler{remote.Handlers(), render.Handlers(), build.Handlers()} {
		maps.Copy(handlers, more)
	}
	return handlers
}

// Renderers work in the processes of a pool; without a pool, in this process.
type Renderers struct{ Pool *sandbox.Pool }

// Plans makes the plans of Installations.
func (r Renderers) Plans() plan.Maker {
	if r.Pool == nil {
		return plan.Here{}
	}
	return remote.Maker{Pool: r.Pool}
}

// Charts renders charts.
func (r Renderers) Charts() render.Renderer {
	if r.Pool == nil {
		return render.Here{}
	}
	return render.Process{Pool: r.Pool}
}

// Kustomizations builds kustomizations.
func (r Renderers) Kustomizations() build.Builder {
	if r.Pool == nil {
		return build.Here{}
	}
	return build.Process{Pool: r.Pool}
}
