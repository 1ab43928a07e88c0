package server

import (
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/controller/fleet"
	"go.landscaper.dev/internal/runtime/reporter"
)

// addFleets adds the controller of Fleets. Without their kind, addChannels waits for it.
func (f *fleets) addFleets(manager ctrl.Manager, config *Config) error {
	if !f.counts() || !config.runs(Installations) {
		return nil
	}
	reconciler := &fleet.Reconciler{
		Client: manager.GetClient(), Cache: manager.GetCache(), Reader: manager.GetAPIReader(),
		Events: reporter.RateLimited(manager.GetEventRecorder("Landscaper")), Problems: problems(manager, *config), Now: time.Now,
		Gates: &fleet.Asker{Client: manager.GetClient(), Transport: config.Egress.Transport(egress.Timeouts{})},
	}
	if err := reconciler.SetupWithManager(manager); err != nil {
		return fmt.Errorf("set up the Fleet controller: %w", err)
	}
	return config.register(reconciler.Metrics()...)
}
