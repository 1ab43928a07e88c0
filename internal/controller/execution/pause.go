package execution

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// pause is a DeliveryPolicy that stops a running job: its name, and what it says. The name is empty
// without one.
type pause struct{ policy, message string }

// observePause finds out whether the root of a running job is paused.
func (r *Reconciler) observePause(ctx context.Context, s *snapshot) error {
	if r.Policies == nil || len(s.lineage) == 0 {
		return nil
	}
	policies, err := r.Policies(ctx, s.exec.Namespace)
	if err != nil {
		return fmt.Errorf("read the DeliveryPolicies of namespace %s: %w", s.exec.Namespace, err)
	}
	s.pause.policy, s.pause.message = delivery.PausedBy(policies, s.lineage[0])
	return nil
}

// halt lets a job rest that would let items begin, and says why. Deployers work on an item only when
// it has the job, so that nothing new is written to a target. Items at work end.
func halt(s snapshot) decision {
	if delivery.DeferralMessage(s.exec.Status.Conditions) != s.pause.message {
		return decision{do: sayPause, message: s.pause.message, wake: job.Continues()}
	}
	_, deadline := overdue(s)
	return decision{do: rest, wake: job.OnChange("DeliveryPolicy", s.pause.policy).And(job.OnChange("DeployItem", working(s).names()...)).By(deadline)}
}

// sayPause says in the status that a job is paused, or that it goes on.
func (r *Reconciler) sayPause(ctx context.Context, s *snapshot, message string) error {
	job.DropCondition(&s.exec.Status.Conditions, deliveryv1alpha1.DeferredCondition)
	if message != "" {
		job.SetCondition(&s.exec.Status.Conditions, v1alpha1.Condition{
			Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Paused), Message: message,
			ObservedGeneration: s.exec.Status.ObservedGeneration,
		}, metav1.NewTime(s.now))
	}
	s.show(message)
	return r.reporter().Save(ctx, reporter.Execution(s.exec)) // says what was written
}

// watchPolicies enqueues the running Executions of a namespace when a policy of it is changed.
func (r *Reconciler) watchPolicies(building *builder.Builder) *builder.Builder {
	if r.Policies == nil {
		return building
	}
	return building.Watches(&deliveryv1alpha1.DeliveryPolicy{}, handler.EnqueueRequestsFromMapFunc(r.running), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
}

func (r *Reconciler) running(ctx context.Context, policy client.Object) []reconcile.Request {
	list := &v1alpha1.ExecutionList{}
	if err := r.Client.List(ctx, list, client.InNamespace(policy.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if exec := &list.Items[i]; job.Unfinished(exec.Status.JobID, exec.Status.JobIDFinished) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(exec)})
		}
	}
	return requests
}
