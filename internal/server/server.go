// Package server puts the controllers together into one process.
package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/registry"
	"go.landscaper.dev/internal/defaultcontext"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/execution"
	"go.landscaper.dev/internal/installation"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/render"
	"go.landscaper.dev/internal/render/clusterfunc"
	"go.landscaper.dev/internal/seniority"
	"go.landscaper.dev/internal/sources"
	"go.landscaper.dev/internal/version"
)

// Scheme returns a scheme with all kinds that the controllers use.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// Run runs the controllers until the context ends.
func Run(ctx context.Context, config Config, log logr.Logger) error {
	if err := config.Validate(); err != nil {
		return err
	}
	manager, err := newManager(config, log)
	if err != nil {
		return err
	}
	if err := checkInstalled(manager.GetRESTMapper()); err != nil {
		return err
	}
	if err := addControllers(ctx, manager, config); err != nil {
		return err
	}
	log.Info("starting", "controllers", config.Controllers)
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("run controllers: %w", err)
	}
	return nil
}

// checkInstalled finds out early whether the cluster serves our kinds.
func checkInstalled(mapper meta.RESTMapper) error {
	for _, kind := range []string{"Installation", "Execution", "DeployItem", "Target", "DataObject", "Context"} {
		_, err := mapper.RESTMapping(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), v1alpha1.GroupVersion.Version)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("the cluster does not serve kind %s: run \"landscaper install\" with the same kubeconfig first", kind)
		}
		if err != nil {
			return fmt.Errorf("look for kind %s: %w", kind, err)
		}
	}
	return nil
}

func newManager(config Config, log logr.Logger) (ctrl.Manager, error) {
	manager, err := ctrl.NewManager(config.Cluster, ctrl.Options{
		Scheme: Scheme(),
		Logger: log,
		Cache: cache.Options{
			// Managed fields are for the API server; we would only keep them in memory.
			DefaultTransform: cache.TransformStripManagedFields(),
		},
		Client: client.Options{Cache: &client.CacheOptions{
			// Secrets and ConfigMaps are read when they are needed, not kept.
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
		}},
		Metrics:                 server.Options{BindAddress: config.MetricsAddress},
		HealthProbeBindAddress:  config.HealthAddress,
		LeaderElection:          config.LeaderElection,
		LeaderElectionID:        "landscaper.landscaper.gardener.cloud",
		LeaderElectionNamespace: config.LeaderElectionNamespace,
		// A replica that stops hands over at once instead of letting its lease run out.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &config.ShutdownTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the resource cluster %s: %w", config.Cluster.Host, err)
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("add health check: %w", err)
	}
	synced := func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !manager.GetCache().WaitForCacheSync(ctx) {
			return fmt.Errorf("the caches are not filled yet")
		}
		return nil
	}
	if err := manager.AddReadyzCheck("caches", synced); err != nil {
		return nil, fmt.Errorf("add readiness check: %w", err)
	}
	return manager, nil
}

func addControllers(ctx context.Context, manager ctrl.Manager, config Config) error {
	order := &seniority.Order{}
	clusters := deployer.NewClusters(manager, "landscaper/"+version.String())
	options := func(name string) controller.Options {
		return controller.Options{MaxConcurrentReconciles: config.Workers[name]}
	}
	if config.runs(Installations) {
		if err := addInstallations(ctx, manager, config, order, clusters); err != nil {
			return fmt.Errorf("set up the Installation controller: %w", err)
		}
	}
	if config.runs(Executions) {
		err := (&execution.Reconciler{
			Client: manager.GetClient(), Reader: manager.GetAPIReader(),
			Order: order, Now: time.Now, NewJobID: job.NewID, PickupTimeout: config.PickupTimeout,
		}).SetupWithManager(ctx, manager, options(Executions))
		if err != nil {
			return fmt.Errorf("set up the Execution controller: %w", err)
		}
	}
	if config.runs(Contexts) {
		err := (&defaultcontext.Reconciler{
			Client: manager.GetClient(), ExcludedNamespaces: config.ExcludedNamespaces, RepositoryContext: config.RepositoryContext,
		}).SetupWithManager(manager, options(Contexts))
		if err != nil {
			return fmt.Errorf("set up the Context controller: %w", err)
		}
	}
	if config.runs(Manifests) {
		return deployer.Add(manager, deployer.Options{
			Type: v1alpha1.ManifestDeployItemType, Name: manifest.Name, Version: version.String(),
			MaxConcurrent: config.Workers[Manifests], Deployer: manifest.New(), Clusters: clusters,
		})
	}
	return nil
}

// addInstallations adds the controller that renders blueprints, with all that
// templates may reach.
func addInstallations(ctx context.Context, manager ctrl.Manager, config Config, order *seniority.Order, clusters *deployer.Clusters) error {
	base, err := config.components()
	if err != nil {
		return err
	}
	shared := component.NewShared()
	shared.Pool = registry.NewPool(registryTimeouts())
	log := manager.GetLogger().WithName("templates")
	functions := func(namespace string) map[string]render.Function {
		return clusterfunc.Functions(clusterfunc.Options{
			Clusters: cluster.NewKubeconfigs(clusters, namespace),
			Disabled: config.disabledFunctions(),
			Log: func(function, target string, expires time.Time) {
				log.Info("a template got a kubeconfig", "function", function, "target", target, "expires", expires)
			},
		})
	}
	reconciler := &installation.Reconciler{
		Client: manager.GetClient(), Reader: manager.GetAPIReader(), Events: manager.GetEventRecorder("Landscaper"),
		Order: order, Now: time.Now, NewJobID: job.NewID,
		Sources:    &sources.Reader{Client: manager.GetAPIReader(), Base: base, Foreign: config.SourceNamespaces},
		Components: shared, Blueprints: blueprint.NewCache(blueprint.DefaultCacheBytes),
		Verification: config.Verification, Functions: functions,
	}
	return reconciler.SetupWithManager(ctx, manager, controller.Options{MaxConcurrentReconciles: config.Workers[Installations]})
}
