package model

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/execution"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

type schemaKind = schema.GroupVersionKind

var (
	scheme = newScheme()
	mapper = testrestmapper.TestOnlyStaticRESTMapper(scheme)
	// clusters are for no one: the deployer of the model reaches no cluster.
	clusters = struct{ deployer.Clusters }{}
	// blueprints and components are shared by all histories, as by all jobs of a
	// process.
	blueprints = blueprint.NewCache(blueprint.CacheBytes(0))
	components = component.NewShared()
)

// pickup is how long an item may wait for a deployer.
const pickup = 5 * time.Minute

func newScheme() *runtime.Scheme {
	made := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(made))
	utilruntime.Must(v1alpha1.AddToScheme(made))
	utilruntime.Must(gardener.AddToScheme(made))
	return made
}

// indexes are those that the controllers ask for, by their names.
var indexes = map[string]func(client.Object) []string{
	"execution": label(v1alpha1.ExecutionManagedByLabel),
	"source":    label(v1alpha1.DataObjectSourceLabel),
	"scope":     label(v1alpha1.DataObjectContextLabel),
	"parent":    func(object client.Object) []string { return []string{parentOf(object)} },
	"waiting":   index.WaitsAs,
	"approval":  index.ApprovedFor,
}

func label(name string) func(client.Object) []string {
	return func(object client.Object) []string { return []string{object.GetLabels()[name]} }
}

// parentOf returns the name of the Installation that another one is a part of.
func parentOf(object client.Object) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Installation" {
			return owner.Name
		}
	}
	return "-"
}

func labelsOf(object client.Object) labels.Set { return labels.Set(object.GetLabels()) }

// events are what users are told. They must not contain a secret.
type events struct {
	recorder.EventRecorder // what no controller uses
	world                  *world
}

// Eventf implements events.EventRecorder.
func (e *events) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	e.world.checkSecret("the event "+reason, fmt.Sprintf(note, args...))
}

// newControllers starts the controllers with empty memories.
func newControllers(w *world) map[string]reconcile.Reconciler {
	w.answers = map[string]*answers{}
	newID := func() string {
		w.jobs++
		return fmt.Sprintf("job-%d", w.jobs)
	}
	w.items = handler.Funcs{}
	cached, live := w.connect("deployer")
	m, dispatcher := &capturing{client: cached, live: live, events: &events{world: w}}, &dispatch.Dispatcher{}
	err := deployer.Add(m, deployer.Options{
		Type: itemType, Name: "model", Identity: fmt.Sprintf("model-%d", w.counts.crashes), Deployer: w.target, Clusters: clusters, Dispatcher: dispatcher,
	})
	if err != nil {
		panic(err)
	}
	if w.elsewhere {
		dispatcher = nil
	} else {
		w.items = dispatcher.Handler(handler.Funcs{})
		process := w.process
		dispatcher.OnDispatch = func(item *v1alpha1.DeployItem) { w.noteDispatched(process, item) }
		dispatcher.OnLost(func(execution types.NamespacedName) { w.lanes["execution"].add(execution) })
		dispatcher.Register(itemType, func(item *v1alpha1.DeployItem) {
			if process == w.process {
				w.others(process)
				w.lanes["deployer"].add(client.ObjectKeyFromObject(item))
				w.others(process)
			}
		})
	}
	w.dispatcher = dispatcher
	cached, live = w.connect("installation")
	planning := &installation.Reconciler{
		Client: cached, Reader: live, Recorders: reporter.Recorders{Events: &events{world: w}}, Order: &queue.Order{}, Now: time.Now, NewJobID: newID, Parallelizer: w.shuffled,
		Planner: installation.Planner{
			Sources: &repocontext.Reader{Client: live}, Components: components, Blueprints: blueprints,
			Verification: installation.VerifyIfAsked, Functions: func(string, []*v1alpha1.Target) map[string]template.Function { return nil },
		},
	}
	planning.PlanAsync(w.process.ctx, w.elsewhereFor(w.process, "installation"))
	cached, live = w.connect("execution")
	extension, health := newExtension(w)
	return map[string]reconcile.Reconciler{
		"installation": planning,
		"execution":    &execution.Reconciler{Client: cached, Reader: live, Order: &queue.Order{}, Now: time.Now, NewJobID: newID, PickupTimeout: pickup, Dispatcher: dispatcher, Parallelizer: w.shuffled},
		"deployer":     m.reconciler,
		"targetsync":   newTargetSyncs(w),
		"extension":    extension,
		"health":       health,
	}
}

// shuffled stands in for what is done at the same time: one after the other in any order, so
// that a history can be repeated, and a crash leaves any part of it undone.
func (w *world) shuffled(count int, call func(int)) {
	for _, i := range w.random.Perm(count) {
		call(i)
	}
}

// capturing is a manager that keeps the controller which is added to it.
type capturing struct {
	manager.Manager // what no deployer needs
	client          client.Client
	live            client.Reader
	reconciler      reconcile.Reconciler
	events          recorder.EventRecorder
}

// Add implements manager.Manager.
func (m *capturing) Add(runnable manager.Runnable) error {
	m.reconciler, _ = runnable.(reconcile.Reconciler)
	return nil
}

// GetClient implements cluster.Cluster.
func (m *capturing) GetClient() client.Client { return m.client }

// GetAPIReader implements cluster.Cluster.
func (m *capturing) GetAPIReader() client.Reader { return m.live }

// GetEventRecorder implements cluster.Cluster.
func (m *capturing) GetEventRecorder(string) recorder.EventRecorder { return m.events }

// GetFieldIndexer implements cluster.Cluster.
func (m *capturing) GetFieldIndexer() client.FieldIndexer { return m }

// IndexField implements client.FieldIndexer.
func (m *capturing) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// GetCache implements cluster.Cluster.
func (m *capturing) GetCache() cache.Cache { return nil }

// GetScheme implements cluster.Cluster.
func (m *capturing) GetScheme() *runtime.Scheme { return scheme }

// GetRESTMapper implements cluster.Cluster.
func (m *capturing) GetRESTMapper() meta.RESTMapper { return mapper }

// GetConfig implements cluster.Cluster.
func (m *capturing) GetConfig() *rest.Config { return &rest.Config{} }

// GetLogger implements manager.Manager.
func (m *capturing) GetLogger() logr.Logger { return logr.Discard() }

// GetControllerOptions implements manager.Manager.
func (m *capturing) GetControllerOptions() config.Controller {
	skip := true
	return config.Controller{SkipNameValidation: &skip}
}
