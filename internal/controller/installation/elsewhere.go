package installation

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/crashnote"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/memguard"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/workpool"
)

const (
	// plansPerWorker is how many plans may wait for an external system for each worker: waiting
	// costs little.
	plansPerWorker = 4
	// mostPlansPerWorker is for when more namespaces than that have plans.
	mostPlansPerWorker = 64
	// namespaceShare is the divisor for the plans that one namespace gets at most, also if it is
	// the only one.
	namespaceShare = 4
	// planPreemptAfter is how long a plan runs before others may preempt it.
	planPreemptAfter = 30 * time.Second
)

// plans are made outside the workers.
type plans = workpool.Pool[*planResult]

// planResult is the result of a plan that was made outside the workers.
type planResult struct {
	// made are the children of a job, exports its exports.
	made    *renderedJob
	exports *plan.Exports
	// subject has what the plan has noted.
	subject *reporter.Subject
	// imports identify the inputs of the plan.
	imports string
}

// setUpAsyncPlans lets plans that need an external system be made outside the workers. It returns
// the source that enqueues the Installations.
func (r *Reconciler) setUpAsyncPlans(ctx context.Context, workers int) source.Source {
	var requests workqueue.TypedRateLimitingInterface[reconcile.Request]
	most := plansPerWorker * max(workers, 1)
	enqueue := func(key types.NamespacedName) { requests.Add(reconcile.Request{NamespacedName: key}) }
	r.setUpAhead(ctx, enqueue)
	r.PlanAsync(ctx, workpool.Options{
		MaxConcurrent: most, Most: mostPlansPerWorker * max(workers, 1), MaxPerNamespace: most / namespaceShare, MaxResults: most, PreemptAfter: planPreemptAfter, Timeout: maxPlanDuration,
		Enqueue: enqueue,
	})
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		requests = queue
		return nil
	})
}

// PlanAsync lets plans that need an external system be made outside the workers. A caller
// without a manager passes the options.
func (r *Reconciler) PlanAsync(ctx context.Context, options workpool.Options) {
	r.Planner.outside = workpool.New[*planResult](ctx, options)
}

// Plans returns how many plans are being made outside the workers, and how many wait for that.
func (r *Reconciler) Plans() (running, waiting int) { return r.Planner.outside.Load() }

// planned renders what the job makes; nil if that goes on outside the workers.
func (r *Reconciler) planned(ctx context.Context, s *snapshot) (*renderedJob, error) {
	result, err := r.runAsync(ctx, s, needsComponent(s.Inst), func(ctx context.Context, s *snapshot, reach externalAccess) (*planResult, error) {
		made, err := r.plan(ctx, s, reach.functions)
		return &planResult{made: made}, err
	})
	if result == nil {
		return nil, err
	}
	return result.made, err
}

// work is what is done for a plan.
type work func(ctx context.Context, s *snapshot, reach externalAccess) (*planResult, error)

// runAsync does work. Quick work that needs no external system is done at once; the rest outside the
// workers. As long as that goes on the result is nil and the attempt ends; the Installation is enqueued
// at its end.
func (r *Reconciler) runAsync(ctx context.Context, s *snapshot, outside bool, do work) (*planResult, error) {
	functions, do := r.Planner.Functions(s.Inst.Namespace, s.imported()), r.noted(do)
	ctx = job.WithWork(ctx, job.Work{JobID: s.Inst.Status.JobID, UID: s.Inst.UID})
	if r.Planner.outside == nil {
		return do(ctx, s, externalAccess{functions: functions})
	}
	key, version := workOf(s.Inst)
	if outside || r.Planner.outside.Has(key, version) {
		return r.fetch(ctx, s, key, version, do)
	}
	own, asked := s.clone(), false
	result, err := do(sandbox.Quick(ctx, &asked), own, externalAccess{functions: asking(functions, &asked), asked: &asked})
	if !asked {
		s.subject.MergeFrom(own.subject)
		return result, err
	}
	return r.fetch(ctx, s, key, version, do)
}

// noted returns work that begins after it was noted. Work that has ended the process before waits, or
// ends the job when that has happened too often.
func (r *Reconciler) noted(do work) work {
	return func(ctx context.Context, s *snapshot, reach externalAccess) (*planResult, error) {
		key := crashnote.Key{Kind: "Installation", Namespace: s.Inst.Namespace, Name: s.Inst.Name, UID: s.Inst.UID}
		survived, err := r.Planner.Attempts.Begin(key)
		if err != nil {
			refused := job.Wrap(err, published.HandlePhaseInit, reasons.ServerEnded, "")
			if crashnote.IsGivenUp(err) {
				return nil, job.AsTerminal(refused)
			}
			return nil, refused
		}
		defer survived()
		ctx, done := r.Planner.Memory.Begin(ctx, key.String())
		defer done()
		result, err := do(ctx, s, reach)
		if ended := memguard.Reason(ctx, err); errors.Is(ended, memguard.ErrEnded) {
			return result, r.final(s.Inst, job.Wrap(ended, published.HandlePhaseInit, reasons.OutOfMemory, ""))
		}
		return result, err
	}
}

// bookInputs books what a plan is made of, before anything is made of it.
func (r *Reconciler) bookInputs(ctx context.Context, s *snapshot, files fs.FS) error {
	var size int64
	for _, value := range s.Inputs.Imports.Data {
		size += int64(len(value.Value.RawMessage))
	}
	for _, target := range s.Inputs.Imports.AllTargets() {
		size += int64(dataflow.TargetSize(target))
	}
	if tree, ok := files.(interface{ Bytes() int64 }); ok {
		size += tree.Bytes()
	}
	if err := memguard.Of(ctx).Book(size); err != nil {
		return r.final(s.Inst, job.Wrap(err, published.HandlePhaseInit, reasons.OutOfMemory, ""))
	}
	return nil
}

// workOf names the plan of the job that an Installation has.
func workOf(inst *v1alpha1.Installation) (types.NamespacedName, workpool.Version) {
	return types.NamespacedName{Namespace: inst.Namespace, Name: inst.Name},
		workpool.Version{UID: inst.UID, Job: inst.Status.JobID, Generation: inst.Generation}
}

// planning reports whether the plan of the job is being made outside the workers, or was made.
func (r *Reconciler) planning(inst *v1alpha1.Installation) bool {
	return r.Planner.outside != nil && r.Planner.outside.Has(workOf(inst))
}

// forgetPlan cancels the work for an Installation outside the workers.
func (r *Reconciler) forgetPlan(key types.NamespacedName) {
	if r.Planner.outside != nil {
		r.Planner.outside.Forget(key)
	}
}

// fetch returns the result from outside the workers, or lets the work be done.
func (r *Reconciler) fetch(ctx context.Context, s *snapshot, key types.NamespacedName, version workpool.Version, do work) (*planResult, error) {
	own := s.clone()
	logger := log.FromContext(ctx)
	work, _ := job.WorkOf(ctx)
	result, how, err := r.Planner.outside.Fetch(key, version, func(ctx context.Context) (*planResult, error) {
		result := &planResult{}
		err := job.RecoverPanic(func() error {
			done, err := do(job.WithWork(log.IntoContext(ctx, logger), work), own, externalAccess{functions: r.Planner.Functions(own.Inst.Namespace, own.imported())})
			if done != nil {
				result = done
			}
			return err
		})
		result.subject, result.imports = own.subject, own.Inst.Status.ImportsHash
		return result, err
	})
	switch {
	case how == workpool.Working:
		s.ends = true
		return nil, nil
	case result != nil:
		s.subject.MergeFrom(result.subject)
		s.Inst.Status.ImportsHash = result.imports
	}
	return result, err
}

// imported are the Targets that templates may reach clusters with. They are not read again at the
// end of a job: exports then reach none.
func (s *snapshot) imported() []*v1alpha1.Target {
	if s.Inputs == nil {
		return nil
	}
	return s.Inputs.Imports.AllTargets()
}

// clone returns a copy that others may work on: only the inputs are shared.
func (s *snapshot) clone() *snapshot {
	own := &snapshot{Situation: decide.Situation{Family: siblings.Family{Inst: s.Inst.DeepCopy(), Exec: s.Exec, Subs: s.Subs}, Inputs: s.Inputs}}
	own.subject = reporter.Installation(own.Inst)
	return own
}

// needsComponent reports whether a registry must be asked before anything else.
func needsComponent(inst *v1alpha1.Installation) bool {
	return inst.Spec.ComponentDescriptor != nil || inst.Spec.Blueprint.Reference != nil
}

// errOutside ends the attempt to plan without external systems.
var errOutside = errors.New("this needs a cluster")

// asking returns functions that reach no cluster but note that they were called. The result of such
// a template is not used: an engine may have caught the error.
func asking(functions map[string]template.Function, asked *bool) map[string]template.Function {
	noting := make(map[string]template.Function, len(functions))
	for name := range functions {
		noting[name] = func(context.Context, []any) (any, error) {
			*asked = true
			return nil, errOutside
		}
	}
	return noting
}

// stickyLimiter is a rate limiter whose pauses keep growing while an attempt runs outside the workers:
// that a worker has passed it there says nothing about its success.
type stickyLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	isAsync func(types.NamespacedName) bool
}

// Forget implements workqueue.TypedRateLimiter.
func (p stickyLimiter) Forget(request reconcile.Request) {
	if !p.isAsync(request.NamespacedName) {
		p.TypedRateLimiter.Forget(request)
	}
}
