package server

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/runtime/dispatch"
)

// Embedding is how the controllers run within another program, such as the command line that brings up a
// landscape in memory. A process may have several of them: they have no metrics and no endpoints.
type Embedding struct {
	// Targets takes the place of the network to target clusters.
	Targets http.RoundTripper
	// Components are found before those of all repositories; nil for none.
	Components repository.Repository
	// Renderers carry out foreign work.
	Renderers renderers.Renderers
}

// newPool returns the connections to target clusters.
func (c *Config) newPool(manager ctrl.Manager) *cluster.Pool {
	options := cluster.OptionsFor(manager, "landscaper/"+version.String(), c.Egress)
	if c.Embedded != nil {
		options.Network = c.Embedded.Targets
	}
	return cluster.NewPool(options)
}

// observe adds what counts the work of a process: a program that only embeds the controllers has none of
// it.
func (c *Config) observe(ctx context.Context, manager ctrl.Manager, dispatcher *dispatch.Dispatcher) error {
	if c.Embedded != nil {
		return nil
	}
	return addTally(ctx, manager, *c, dispatcher)
}

// register adds metrics to those of the process.
func (c *Config) register(collectors ...prometheus.Collector) error {
	if c.Embedded != nil {
		return nil
	}
	return register(collectors...)
}
