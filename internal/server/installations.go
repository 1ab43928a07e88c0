package server

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/clusterfunc"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/queue"
)

// installations is what the controller that renders blueprints gets, with all that templates may reach.
type installations struct {
	manager  ctrl.Manager
	config   Config
	order    *queue.Order
	clusters *cluster.Pool
	library  *library
	attempts itemAttempts
	policies *delivery
	counted  *changes
	// unsettled reports whether the history of the API server was rewound a moment ago.
	unsettled func() bool
}

// add adds the controller.
func (i installations) add(ctx context.Context) error {
	log := i.manager.GetLogger().WithName("templates")
	functions := func(namespace string, imported []*v1alpha1.Target) map[string]template.Function {
		return clusterfunc.Functions(clusterfunc.Options{
			Clusters: cluster.NewKubeconfigs(i.clusters, namespace, imported),
			Disabled: i.config.disabledFunctions(),
			Log: func(function, target string, expires time.Time) {
				log.Info("a template got a kubeconfig", "function", function, "target", target, "expires", expires)
			},
		})
	}
	key, err := planKey(ctx, i.manager.GetAPIReader(), i.manager.GetClient(), i.config.Namespace)
	if err != nil {
		return err
	}
	reconciler := &installation.Reconciler{
		Client: i.manager.GetClient(), Reader: i.manager.GetAPIReader(), Recorders: recorders(i.manager, i.config),
		Order: i.order, Now: time.Now, NewJobID: job.NewID, Triggers: i.config.Triggers,
		Surroundings: installation.Surroundings{Changes: i.counted.installations(), Unsettled: i.unsettled},
		Deliveries:   installation.Deliveries{Policies: i.policies.reader(i.manager), Ahead: i.policies.ahead(i.manager, i.config, i.clusters, i.library, key)},
		Planner: installation.Planner{
			Sources: i.library.sources, Components: i.library.components, Blueprints: blueprint.NewCache(blueprint.CacheBytes(i.config.MemoryLimit)),
			Verification: i.config.Verification, NamedTargets: i.config.NamedTargets, Functions: functions,
			Maker: i.library.renderers.Plans(), Key: key, Attempts: i.attempts.notes, Memory: i.attempts.guard,
		},
	}
	if err := reconciler.SetupWithManager(ctx, i.manager, controller.Options{MaxConcurrentReconciles: i.config.Workers[Installations]}); err != nil {
		return err
	}
	return i.config.register(countPlans(reconciler.Plans)...)
}
