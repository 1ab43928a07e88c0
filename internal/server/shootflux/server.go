// Package shootflux combines the controllers of the extension shoot-flux in one process.
package shootflux

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/rewatch"
	"go.landscaper.dev/internal/server/listen"
)

// Scheme returns a scheme with all kinds that the extension uses.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(gardener.AddToScheme(scheme))
	return scheme
}

// Run runs the extension until the context ends.
func Run(ctx context.Context, config Config, log logr.Logger) error {
	if err := config.Validate(); err != nil {
		return err
	}
	manager, err := newManager(config, log)
	if err != nil {
		return err
	}
	if config.runs(Heartbeat) {
		beat := &heartbeat{client: manager.GetClient(), namespace: config.HeartbeatNamespace, interval: config.HeartbeatInterval, log: log.WithName("heartbeat")}
		if err := manager.Add(beat); err != nil {
			return fmt.Errorf("add the heartbeat: %w", err)
		}
	}
	if err := addControllers(ctx, manager, config); err != nil {
		return err
	}
	log.Info("starting", "version", version.String(), "flux", install.DefaultVersion(), "garden", config.Garden != nil)
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("run controllers: %w", err)
	}
	return nil
}

func newManager(config Config, log logr.Logger) (ctrl.Manager, error) {
	manager, err := ctrl.NewManager(rewatch.Config(config.Seed, nil), ctrl.Options{
		Scheme: Scheme(), Logger: log,
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			// Of Secrets and ConfigMaps, only their names and versions are watched.
			ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Transform: nameOnly}, &corev1.ConfigMap{}: {Transform: nameOnly}},
		},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}, &gardener.Cluster{}, &coordinationv1.Lease{}},
		}},
		// The extension has its own endpoints, which bound connections; the manager's do not.
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:        "0",
		LeaderElection:                config.LeaderElection,
		LeaderElectionID:              config.LeaderElectionID,
		LeaderElectionNamespace:       config.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &config.ShutdownTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the seed %s: %w", config.Seed.Host, err)
	}
	handler, err := listen.Metrics(nil)
	if err == nil {
		err = listen.Add(manager, listen.Endpoint{Name: "metrics", Address: config.MetricsAddress, Handler: handler})
	}
	if err != nil {
		return nil, err
	}
	if err := listen.Add(manager, listen.Endpoint{Name: "health", Address: config.HealthAddress, Handler: health(manager.GetCache().WaitForCacheSync)}); err != nil {
		return nil, err
	}
	return manager, nil
}

// health answers the liveness and the readiness probe.
func health(synced func(context.Context) bool) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	routes.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !synced(ctx) {
			http.Error(w, "not ready: the caches are not filled yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	return routes
}

// nameOnly drops the unused fields of objects in a cache.
func nameOnly(object any) (any, error) {
	if meta, ok := object.(*metav1.PartialObjectMetadata); ok {
		meta.Labels, meta.Annotations, meta.ManagedFields, meta.OwnerReferences = nil, nil, nil, nil
	}
	return object, nil
}

func addControllers(ctx context.Context, manager ctrl.Manager, config Config) error {
	reconciler, err := newReconciler(ctx, manager, &config)
	if err != nil {
		return err
	}
	durations := newDurations()
	reconciler.Bootstrapped = func(took time.Duration) { durations.Observe(took.Seconds()) }
	for _, collector := range []prometheus.Collector{durations, newClusters(manager.GetClient())} {
		if err := metrics.Registry.Register(collector); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	if config.runs(HealthCheck) {
		health := &lifecycle.Health{Reconciler: reconciler}
		if err := health.SetupWithManager(manager, controller.Options{MaxConcurrentReconciles: config.HealthWorkers}); err != nil {
			return fmt.Errorf("set up the health checks: %w", err)
		}
	}
	if !config.runs(Extension) {
		return nil
	}
	wake, err := reconciler.SetupWithManager(manager, controller.Options{MaxConcurrentReconciles: config.Workers})
	if err != nil {
		return fmt.Errorf("set up the controller of Extensions: %w", err)
	}
	if config.Garden == nil || !config.ReadProjects {
		return nil
	}
	return manager.Add(watchGarden(config.Garden, manager.GetLogger().WithName("garden"), wake))
}

// watchGarden returns the runnable with the watch of the garden.
func watchGarden(garden *rest.Config, log logr.Logger, wake *lifecycle.Wake) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		return access.Watch(ctx, rewatch.Config(garden, nil), log, wake.Changed)
	})
}

// newReconciler returns the reconciler. It also sets the garden of gardenlet's kubeconfig in the
// configuration.
func newReconciler(ctx context.Context, manager ctrl.Manager, config *Config) (*lifecycle.Reconciler, error) {
	library, err := install.NewLibrary(config.Mirror)
	if err != nil {
		return nil, err
	}
	allowed, err := config.allowed()
	if err != nil {
		return nil, err
	}
	pool := cluster.NewPool(cluster.PoolOptions{UserAgent: "gardener-extension-shoot-flux/" + version.String(), Egress: config.Egress})
	reconciler := &lifecycle.Reconciler{
		Client: manager.GetClient(), Events: reporter.RateLimited(manager.GetEventRecorder("shoot-flux")), Now: time.Now,
		Systems:       lifecycle.Systems{GardenIdentity: config.GardenIdentity, Shoots: &access.Shoots{Seed: manager.GetClient(), Pool: pool}},
		Flux:          lifecycle.Flux{Manifests: library, DefaultVersion: install.DefaultVersion(), Allowed: allowed},
		RequireConfig: config.WithoutConfig == FailWithoutConfig,
		Schedule: lifecycle.Schedule{
			IgnoreOperationAnnotation: config.IgnoreOperationAnnotation, Resync: config.Resync, Spread: config.Spread, Random: rand.Float64,
		},
	}
	if config.ScanHostKeys {
		reconciler.Systems.Scan = sshkey.Scan(config.Egress)
	}
	if reconciler.Systems.Garden, err = openGarden(ctx, manager, config); err != nil {
		return nil, err
	}
	return reconciler, nil
}

// openGarden connects to the garden; nil without access to it.
func openGarden(ctx context.Context, manager ctrl.Manager, config *Config) (*access.Garden, error) {
	if config.Garden == nil && config.GardenletSecret != "" {
		var err error
		if config.Garden, err = gardenletConfig(ctx, manager.GetAPIReader(), config.GardenletSecret); err != nil {
			return nil, err
		}
	}
	if config.Garden == nil || !config.ReadProjects {
		return nil, nil
	}
	return newGarden(config.Garden, manager.GetScheme(), gardenTimeout)
}

// gardenTimeout is how long the garden may take for an answer: a garden that does not answer must
// not block shoots that do not need it.
const gardenTimeout = 30 * time.Second

// newGarden makes no request: the extension starts even if the garden cannot be reached.
func newGarden(config *rest.Config, scheme *runtime.Scheme, timeout time.Duration) (*access.Garden, error) {
	limited := rest.CopyConfig(config)
	limited.Timeout = timeout // of the copy: the watch of projects has no end
	made, err := client.New(limited, client.Options{Scheme: scheme, Mapper: coreMapper()})
	if err != nil {
		return nil, fmt.Errorf("make a client for the garden: %w", err)
	}
	return &access.Garden{Client: made}, nil
}

// gardenletConfig returns the access to the garden of the first implementation. The Secret is not
// read again, so the access ends with its credentials.
func gardenletConfig(ctx context.Context, seed client.Reader, name string) (*rest.Config, error) {
	namespace, name, _ := strings.Cut(name, "/")
	secret := &corev1.Secret{}
	if err := seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		return nil, fmt.Errorf("read the kubeconfig of gardenlet: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"]) //nolint:forbidigo // the kubeconfig is gardenlet's
	if err != nil {
		return nil, fmt.Errorf("the Secret %s/%s has no kubeconfig that can be read", namespace, name) // the reason may quote it
	}
	return config, nil
}
