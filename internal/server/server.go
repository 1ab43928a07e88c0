// Package server combines the controllers in one process.
package server

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/controller/defaultcontext"
	"go.landscaper.dev/internal/controller/execution"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/controller/targetsync"
	"go.landscaper.dev/internal/deploy/helm"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/deploy/kustomize"
	"go.landscaper.dev/internal/deploy/kustomize/files"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/deploy/mock"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/crashnote"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/memguard"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/readthrough"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/rewatch"
	"go.landscaper.dev/internal/runtime/watchdecoder"
	"go.landscaper.dev/internal/server/feature"
	"go.landscaper.dev/internal/server/process"
)

// Scheme returns a scheme with all kinds that the controllers use.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(deliveryv1alpha1.AddToScheme(scheme))
	utilruntime.Must(fleetv1alpha1.AddToScheme(scheme))
	return scheme
}

// Run runs the controllers until the context ends.
func Run(ctx context.Context, config Config, log logr.Logger) error {
	if err := config.Validate(); err != nil {
		return err
	}
	if config.Embedded == nil {
		if err := nameHosts(config.Cluster); err != nil {
			return err
		}
	}
	dispatcher := &dispatch.Dispatcher{}
	recent := &rewatch.Recent{Now: time.Now}
	config.Cluster = watchdecoder.WithBodyCapture(rewatch.Config(config.Cluster, func() {
		recent.Note()
		dispatcher.Rewound()
	}))
	features := newFeatures(&config)
	manager, library, err := newManager(ctx, config, features, log)
	if err != nil {
		return err
	}
	if err := awaitInstalled(ctx, manager.GetRESTMapper(), discoveryRetries, log); err != nil {
		return err
	}
	if err := features.look(ctx, manager.GetRESTMapper(), discoveryRetries, log); err != nil {
		return err
	}
	if err := addControllers(ctx, manager, config, library, dispatcher, features, recent.Unsettled); err != nil {
		return err
	}
	// Before the start, because the observers of the dispatcher and of the traffic are read without
	// a lock.
	if err := config.observe(ctx, manager, dispatcher); err != nil {
		return err
	}
	log.Info("starting", "controllers", config.Controllers, "features", feature.On(config.Features))
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("run controllers: %w", err)
	}
	return nil
}

// ManagerOptions are the options of the manager of the controllers: tests of single controllers use
// the same caches and clients as the server.
func ManagerOptions(config Config, log logr.Logger) ctrl.Options {
	return managerOptions(config, log, newWatches(config))
}

func newWatches(config Config) *watches {
	return &watches{grace: config.UnreadyAfter, now: time.Now}
}

func managerOptions(config Config, log logr.Logger, watches *watches) ctrl.Options {
	scheme := Scheme()
	return ctrl.Options{
		Scheme: scheme,
		Logger: log,
		Cache: cache.Options{
			DefaultTransform: readthrough.Transform,
			// Records of objects that are not reconciled are dropped after some time.
			SyncPeriod:        new(expectations.Resync),
			DefaultNamespaces: config.cachedNamespaces(),
			NewInformer:       watches.newInformer(scheme),
			ByObject:          config.consoleCaches(),
		},
		NewClient: readthrough.NewClient,
		Client: client.Options{Cache: &client.CacheOptions{
			// Secrets and ConfigMaps are read when they are needed, not kept. The setting is per
			// kind, so only the cache has their metadata: manager.GetCache() reads it. Overwrites, too, are
			// read when a Context names them; there is no right to watch them.
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}, &v1alpha1.ComponentVersionOverwrites{}},
		}},
		// The server has its own endpoint, which bounds connections; the manager's does not.
		Metrics: metricsserver.Options{BindAddress: "0"},
		// The server has its own probes, which name the problem; the manager's do not.
		HealthProbeBindAddress:  "0",
		LeaderElection:          config.LeaderElection,
		LeaderElectionID:        v1alpha1.ServerLease,
		LeaderElectionNamespace: config.LeaderElectionNamespace,
		// A replica that stops releases its lease at once instead of letting it expire.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &config.ShutdownTimeout,
		// The names of controllers are labels of metrics, which a program that embeds them has not.
		Controller: controllerconfig.Controller{SkipNameValidation: new(config.Embedded != nil)},
	}
}

func newManager(ctx context.Context, config Config, features *features, log logr.Logger) (ctrl.Manager, *library, error) {
	watches := newWatches(config)
	options := managerOptions(config, log, watches)
	// The controllers see the values of the context; when it ends, the manager ends them in its order.
	options.BaseContext = func() context.Context { return context.WithoutCancel(ctx) }
	manager, err := ctrl.NewManager(config.Cluster, options)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the resource cluster %s: %w", config.Cluster.Host, err)
	}
	checks := &health{watches: watches, elected: manager.Elected(), kinds: config.kinds(), synced: manager.GetCache().WaitForCacheSync, optional: features.all()}
	if err := addHealth(manager, config, checks); err != nil {
		return nil, nil, err
	}
	if err := addMetrics(manager, config.metrics()); err != nil {
		return nil, nil, err
	}
	library, err := newLibrary(ctx, manager, config)
	if err != nil {
		return nil, nil, err
	}
	if err := addConsole(ctx, manager, config, watches, library); err != nil {
		return nil, nil, err
	}
	if err := addHealthObject(manager, config, checks.ready); err != nil {
		return nil, nil, err
	}
	return manager, library, nil
}

func addControllers(ctx context.Context, manager ctrl.Manager, config Config, library *library, dispatcher *dispatch.Dispatcher, features *features, unsettled func() bool) error {
	policies, order := features.delivery, &queue.Order{}
	clusters := config.newPool(manager)
	options := func(name string) controller.Options {
		return controller.Options{MaxConcurrentReconciles: config.Workers[name]}
	}
	notes, guard := openNotes(config, manager.GetLogger()), newMemoryGuard(config, manager.GetLogger())
	counted := newChanges(&config)
	if config.runs(Installations) {
		jobs := installations{
			manager: manager, config: config, order: order, clusters: clusters, library: library,
			attempts: itemAttempts{notes, guard}, policies: policies, counted: counted, unsettled: unsettled,
		}
		if err := jobs.add(ctx); err != nil {
			return fmt.Errorf("set up the Installation controller: %w", err)
		}
	}
	if config.runs(Executions) {
		err := (&execution.Reconciler{
			Client: manager.GetClient(), Reader: manager.GetAPIReader(), Recorders: recorders(manager, config), Order: order, Now: time.Now, NewJobID: job.NewID, PickupTimeout: config.PickupTimeout, Dispatcher: dispatcher,
			Surroundings: execution.Surroundings{
				Unsettled: unsettled, Policies: policies.reader(manager),
				ClusterRemoved: (&targetsync.Shoots{Client: manager.GetClient(), Reader: manager.GetAPIReader(), Pool: clusters}).Removed,
			},
		}).SetupWithManager(ctx, manager, options(Executions))
		if err != nil {
			return fmt.Errorf("set up the Execution controller: %w", err)
		}
	}
	if err := policies.add(manager, &config); err != nil {
		return err
	}
	if err := features.fleets.addChannels(ctx, manager, &config, library); err != nil {
		return err
	}
	if err := features.fleets.addFleets(manager, &config); err != nil {
		return err
	}
	if config.runs(Contexts) {
		err := (&defaultcontext.Reconciler{
			Client: manager.GetClient(), ExcludedNamespaces: config.ExcludedNamespaces, RepositoryContext: config.RepositoryContext,
			Namespaces: config.Namespaces,
		}).SetupWithManager(manager, options(Contexts))
		if err != nil {
			return fmt.Errorf("set up the Context controller: %w", err)
		}
	}
	if config.runs(TargetSyncs) {
		if err := addTargetSyncs(ctx, manager, config, clusters); err != nil {
			return fmt.Errorf("set up the TargetSync controller: %w", err)
		}
	}
	return addDeployers(manager, config, deployer.Options{Clusters: pool{clusters}, Order: jobOrder{order}, Dispatcher: dispatcher, Attempts: itemAttempts{notes, guard}, Deferred: policies.deferred(manager), Changes: counted.deployers()}, library)
}

// newMemoryGuard returns what ends the largest work when the memory is almost used up; nil without a limit.
func newMemoryGuard(config Config, log logr.Logger) *memguard.Guard {
	guard := memguard.New(config.MemoryLimit, func(name string, held int64) {
		log.Info("the memory is almost used up: the largest work was ended, and will be tried again", "work", name, "bytes", held)
	})
	if guard != nil {
		process.AfterEachCollection(guard.Check)
	}
	return guard
}

// openNotes reads which attempts the process before has not survived, and says so in the log. A
// directory that cannot be written switches the notes off: the server works without them.
func openNotes(config Config, log logr.Logger) *crashnote.Notes {
	if config.AttemptNotes == "" {
		return nil
	}
	notes, err := crashnote.Open(config.AttemptNotes, crashnote.Options{})
	if err != nil {
		log.Info("attempts are not noted, so that one that ends the server may do so again and again", "reason", err.Error())
		return nil
	}
	for key, ends := range notes.Ended() {
		log.Info("the server ended during this attempt", "kind", key.Kind, "namespace", key.Namespace, "name", key.Name, "times", ends)
	}
	return notes
}

// addTargetSyncs adds the controller that makes Targets, with its metrics.
func addTargetSyncs(ctx context.Context, manager ctrl.Manager, config Config, clusters *cluster.Pool) error {
	reconciler := &targetsync.Reconciler{
		Client: manager.GetClient(), Reader: manager.GetAPIReader(), Events: reporter.RateLimited(manager.GetEventRecorder("Landscaper")),
		Pool: clusters, Problems: problems(manager, config), Now: time.Now, Spread: rand.Float64,
	}
	if err := reconciler.SetupWithManager(ctx, manager, controller.Options{MaxConcurrentReconciles: config.Workers[TargetSyncs]}); err != nil {
		return err
	}
	return config.register(reconciler.Metrics()...)
}

// library is the source of component versions and charts.
type library struct {
	sources    *repocontext.Reader
	components *component.Shared
	renderers  renderers.Renderers
}

func newLibrary(ctx context.Context, manager ctrl.Manager, config Config) (*library, error) {
	base, err := config.components()
	if err != nil {
		return nil, err
	}
	keys, err := config.Signatures.keys()
	if err != nil {
		return nil, err
	}
	foreign, err := config.foreign(ctx, manager.GetLogger())
	if err != nil {
		return nil, err
	}
	return &library{
		renderers: foreign,
		sources: &repocontext.Reader{
			Client: manager.GetAPIReader(), Base: base, Foreign: config.SourceNamespaces,
			Keys: keys, OwnKeys: config.Verification == installation.VerifyAlways && !config.Signatures.TrustContexts,
		},
		components: component.NewSharedFor(config.Egress, config.Registry.wget()),
	}, nil
}

// addDeployers adds the deployers, with what all of them share.
func addDeployers(manager ctrl.Manager, config Config, shared deployer.Options, library *library) error {
	charts := chart.New(chart.Options{Contexts: manager.GetClient(), Sources: library.sources, Components: library.components})
	origins := itemcontext.Origins{Contexts: manager.GetClient(), Sources: library.sources, Components: library.components}
	rules := rollout.Options{Readiness: config.Deployers.ReadinessMode, Protected: config.Deployers.ProtectedNamespaces}
	deployers := map[string]deployer.Options{
		Manifests:      {Type: manifest.Type, Name: manifest.Name, Deployer: manifest.New(rules)},
		Charts:         {Type: helm.Type, Name: helm.Name, Deployer: helm.New(helm.Options{Options: rules, Charts: charts, Renderer: library.renderers.Charts()})},
		Kustomizations: {Type: kustomize.Type, Name: kustomize.Name, Deployer: kustomize.New(kustomize.Options{Options: rules, Sources: &files.Loader{Origins: origins}, Builder: library.renderers.Kustomizations()})},
		Mocks:          {Type: mock.Type, Name: mock.Name, Deployer: mock.New()},
	}
	record := func(context.Context, string) error { return nil }
	if where := problems(manager, config); where != nil {
		record = where.Record
	}
	for _, name := range slices.Sorted(maps.Keys(deployers)) {
		if !config.runs(name) {
			continue
		}
		options := deployers[name]
		options.RecordProblem = record
		options.Version, options.MaxConcurrent = version.String(), config.Workers[name]
		options.Clusters, options.Order, options.Dispatcher = shared.Clusters, shared.Order, shared.Dispatcher
		options.Attempts, options.Deferred, options.Changes = shared.Attempts, shared.Deferred, shared.Changes
		if err := deployer.Add(manager, options); err != nil {
			return err
		}
	}
	return nil
}

// problems returns the record of the controllers' panics, in the namespace of the process. Without
// a namespace, as on a developer's machine, only the log has them.
func problems(manager ctrl.Manager, config Config) *reporter.Problems {
	if config.Namespace == "" {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return &reporter.Problems{Client: manager.GetClient(), Reader: manager.GetAPIReader(), Namespace: config.Namespace, PodName: name, Now: time.Now}
}

// recorders take what controllers of jobs report beyond the status.
func recorders(manager ctrl.Manager, config Config) reporter.Recorders {
	return reporter.Recorders{Events: reporter.RateLimited(manager.GetEventRecorder("Landscaper")), Problems: problems(manager, config)}
}
