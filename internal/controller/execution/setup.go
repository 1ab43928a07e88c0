package execution

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

// itemsByExecution is the index of DeployItems by the Execution that they belong
// to.
const itemsByExecution = "execution"

// SetupWithManager watches Executions and what triggers their reconciles: their DeployItems, and
// the Installation that assigns its jobs to them.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, options controller.Options) error {
	err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.DeployItem{}, itemsByExecution, func(object client.Object) []string {
		return []string{object.GetLabels()[v1alpha1.ExecutionManagedByLabel]}
	})
	if err != nil {
		return fmt.Errorf("index DeployItems: %w", err)
	}
	if options.RateLimiter == nil {
		options.RateLimiter = reporter.NewRateLimiter()
	}
	line := r.Order.Line(r.atWork)
	options.NewQueue = line.NewQueue(options.MaxConcurrentReconciles)
	building := ctrl.NewControllerManagedBy(manager).
		Named("execution").
		Watches(&v1alpha1.Execution{}, line.Handler(queue.OnDelete(r.memory.forget, &handler.EnqueueRequestForObject{}))).
		Watches(&v1alpha1.DeployItem{}, queue.OnDelete(r.memory.forget, handler.EnqueueRequestsFromMapFunc(executionOfItem))).
		Watches(&v1alpha1.Installation{}, handler.EnqueueRequestsFromMapFunc(executionOf)).
		WatchesRawSource(source.Func(r.watchLostJobs)).
		WithOptions(options)
	return r.watchPolicies(building).Complete(r)
}

// relisted is how long caches may take to list again.
const relisted = 5 * time.Second

// watchLostJobs enqueues Executions whose items have lost the job that was dispatched, when the
// caches are up to date.
func (r *Reconciler) watchLostJobs(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.Dispatcher.OnLost(func(execution types.NamespacedName) {
		queue.AddAfter(reconcile.Request{NamespacedName: execution}, relisted)
	})
	return nil
}

// maxDepth is more than any tree of Installations has levels.
const maxDepth = 100

// atWork reports whether an Execution has a job, or is about to get that of its Installation. It
// works for the root of its tree.
//
// It is called with every event of an Execution, also before the work on it begins, and reads
// caches only. An object whose root cannot be read counts as its own root, which costs order and
// nothing else.
func (r *Reconciler) atWork(object client.Object) (types.NamespacedName, bool) {
	key := client.ObjectKeyFromObject(object)
	exec, ok := object.(*v1alpha1.Execution)
	if !ok {
		return key, false
	}
	works := job.Unfinished(exec.Status.JobID, exec.Status.JobIDFinished)
	reference, owned := job.OwnerOf(exec, "Installation")
	if !owned {
		return key, works
	}
	ctx := context.Background()
	parent, err := ancestor.Parent(ctx, r.Client, exec.Namespace, reference)
	if works = works || err == nil && job.PartOfExecution(exec).Awaits(parent); !works || parent == nil {
		return key, works
	}
	root, _, err := ancestor.Root(ctx, r.Client, parent, maxDepth)
	if err != nil {
		return key, works
	}
	return client.ObjectKeyFromObject(root), works
}

// executionOfItem returns the Execution that an item belongs to, by the rules of belongs: a
// restored item may have nothing but a label, and the Execution waits for its deletion all the
// same.
func executionOfItem(_ context.Context, item client.Object) []reconcile.Request {
	name := item.GetLabels()[v1alpha1.ExecutionManagedByLabel]
	if owner, ours := job.OwnerOf(item, "Execution"); ours {
		name = owner.Name
	} else if metav1.GetControllerOf(item) != nil {
		return nil
	}
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: item.GetNamespace(), Name: name}}}
}

// executionOf returns the Execution of an Installation, which has its name. While a job creates a
// first Execution there is nothing to do; when the job ends before, an interruption that was meant
// for it has to be removed.
func executionOf(_ context.Context, object client.Object) []reconcile.Request {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok || inst.Status.ExecutionReference == nil && inst.DeletionTimestamp == nil &&
		job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: inst.Namespace, Name: inst.Name}}}
}
