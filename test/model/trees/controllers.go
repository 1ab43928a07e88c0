package trees

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/execution"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/world"
)

var (
	// clusters are for no one: the deployer of the model reaches no cluster.
	clusters = struct{ deployer.Clusters }{}
	// blueprints and components are shared by all histories, as by all jobs of a
	// process.
	blueprints = blueprint.NewCache(blueprint.CacheBytes(0))
	components = component.NewShared()
)

// pickup is how long an item may wait for a deployer.
const pickup = 5 * time.Minute

// Start starts the controllers with empty memories. The work of the previous process has ended with it.
func (t *Trees) Start() map[string]reconcile.Reconciler {
	t.given, t.Target.busy = map[types.NamespacedName]dispatchedJob{}, map[types.UID]bool{}
	newID := func() string {
		t.jobs++
		return fmt.Sprintf("job-%d", t.jobs)
	}
	t.items = handler.Funcs{}
	cached, live := t.Connect("deployer")
	m, dispatcher := &world.Manager{Client: cached, Live: live, Events: &world.Events{World: t.World}}, &dispatch.Dispatcher{}
	err := deployer.Add(m, deployer.Options{
		Type: desired.ItemType, Name: "model", Identity: fmt.Sprintf("model-%d", t.Counts.Crashes), Deployer: t.Target, Clusters: clusters, Dispatcher: dispatcher,
	})
	if err != nil {
		panic(err)
	}
	if t.elsewhere {
		dispatcher = nil
	} else {
		t.items = dispatcher.Handler(handler.Funcs{})
		process := t.Process
		dispatcher.OnDispatch = func(item *v1alpha1.DeployItem) { t.noteDispatched(process, item) }
		dispatcher.OnLost(func(execution types.NamespacedName) { t.Lanes["execution"].Add(execution) })
		dispatcher.Register(desired.ItemType, func(item *v1alpha1.DeployItem) {
			if process == t.Process {
				t.Others(process)
				t.Lanes["deployer"].Add(client.ObjectKeyFromObject(item))
				t.Others(process)
			}
		})
	}
	t.dispatcher = dispatcher
	cached, live = t.Connect("installation")
	planning := &installation.Reconciler{
		Client: cached, Reader: live, Recorders: reporter.Recorders{Events: &world.Events{World: t.World}}, Order: &queue.Order{}, Now: time.Now, NewJobID: newID, Parallelizer: t.Shuffled,
		Planner: installation.Planner{
			Sources: &repocontext.Reader{Client: live}, Components: components, Blueprints: blueprints,
			Verification: installation.VerifyIfAsked, Functions: func(string, []*v1alpha1.Target) map[string]template.Function { return nil },
		},
	}
	t.installations = planning
	planning.PlanAsync(t.Process.Ctx, t.ElsewhereFor(t.Process, "installation"))
	cached, live = t.Connect("execution")
	return map[string]reconcile.Reconciler{
		"installation": planning,
		"execution":    &execution.Reconciler{Client: cached, Reader: live, Order: &queue.Order{}, Now: time.Now, NewJobID: newID, PickupTimeout: pickup, Dispatcher: dispatcher, Parallelizer: t.Shuffled},
		"deployer":     m.Reconciler,
	}
}
