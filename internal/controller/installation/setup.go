package installation

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/wake"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

// SetupWithManager watches Installations and what triggers their reconciles: their Execution, their
// parent, subinstallations and siblings, and the default Context that they may wait for.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, options controller.Options) error {
	for _, kind := range []client.Object{&v1alpha1.DataObject{}, &v1alpha1.Target{}} {
		if err := manager.GetFieldIndexer().IndexField(ctx, kind, index.CopiesByScope, index.ScopeOf); err != nil {
			return fmt.Errorf("index copies of imports: %w", err)
		}
		if err := manager.GetFieldIndexer().IndexField(ctx, kind, index.ExportsBySource, index.SourceOf); err != nil {
			return fmt.Errorf("index exports: %w", err)
		}
	}
	for field, values := range map[string]client.IndexerFunc{index.ByParent: index.ParentOf, index.Waiting: index.WaitsAs, index.ByApproval: index.ApprovedFor} {
		if err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.Installation{}, field, values); err != nil {
			return fmt.Errorf("index Installations by %s: %w", field, err)
		}
	}
	if options.RateLimiter == nil {
		options.RateLimiter = reporter.NewRateLimiter()
	}
	plans := r.setUpAsyncPlans(ctx, options.MaxConcurrentReconciles)
	options.RateLimiter = stickyLimiter{options.RateLimiter, r.Planner.outside.Busy}
	line := r.Order.Line(r.atWork)
	options.NewQueue = line.NewQueue(options.MaxConcurrentReconciles)
	building := ctrl.NewControllerManagedBy(manager).
		Named("installation").
		Watches(&v1alpha1.Installation{}, line.Handler(queue.OnDelete(r.memory.forget, &handler.EnqueueRequestForObject{}))).
		// An Execution has the name of its Installation. The Installation waits for an Execution of
		// that name with another owner, too.
		Watches(&v1alpha1.Execution{}, queue.OnDelete(r.memory.forget, &handler.EnqueueRequestForObject{})).
		Watches(&v1alpha1.Installation{}, r.mapper().ByFamily()).
		Watches(&v1alpha1.Context{}, handler.EnqueueRequestsFromMapFunc(r.mapper().ByContext)).
		Watches(&v1alpha1.DataObject{}, handler.EnqueueRequestsFromMapFunc(r.arrived)).
		Watches(&v1alpha1.Target{}, handler.EnqueueRequestsFromMapFunc(r.arrived)).
		WatchesRawSource(plans).
		WithOptions(options)
	r.watchPolicies(building)
	if r.Triggers.OnImportChange {
		if err := r.watchImports(ctx, manager, building); err != nil {
			return err
		}
	}
	return building.Complete(r)
}

// atWork reports whether an Installation has a job, requests one, or is about to get that of its
// parent. All of a tree work for its root: all parts of an older tree come before younger trees.
func (r *Reconciler) atWork(object client.Object) (types.NamespacedName, bool) {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok {
		return client.ObjectKeyFromObject(object), false
	}
	status := &inst.Status
	works := job.Unfinished(status.JobID, status.JobIDFinished) || predicates.RequestsJob(inst, v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]), r.Triggers)
	ctx := context.Background()
	if reference, isSub := job.OwnerOf(inst, "Installation"); isSub && !works {
		parent, err := ancestor.Parent(ctx, r.Client, inst.Namespace, reference)
		works = err == nil && job.PartOfSub(inst, parent).Awaits(parent)
	}
	if !works {
		return client.ObjectKeyFromObject(inst), false
	}
	root, _, err := ancestor.Root(ctx, r.Client, inst, plan.MaxDepth)
	if err != nil {
		root = inst
	}
	return client.ObjectKeyFromObject(root), true
}

// changesMore reports whether a merge patch changes anything but asserts the
// version.
func changesMore(patch []byte) bool {
	var fields map[string]map[string]any
	if json.Unmarshal(patch, &fields) != nil {
		return true
	}
	delete(fields["metadata"], "resourceVersion")
	return len(fields) > 1 || len(fields["metadata"]) > 0
}

// arrived returns the subinstallations that wait for a cache to show an object.
func (r *Reconciler) arrived(_ context.Context, object client.Object) []reconcile.Request {
	return r.memory.arrivals.Arrived(object)
}

// mapper maps changes to the Installations that they enqueue.
func (r *Reconciler) mapper() wake.Mapper { return wake.Mapper{Reader: r.reader()} }

// Enqueued returns the Installations that a change of another one may unblock. Before is nil for a new
// one, after for a deleted one.
func (r *Reconciler) Enqueued(ctx context.Context, before, after *v1alpha1.Installation) []reconcile.Request {
	return r.mapper().Enqueued(ctx, before, after)
}
