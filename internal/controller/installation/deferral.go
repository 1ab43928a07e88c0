package installation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/wake"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// observePolicies reads the DeliveryPolicies that may defer a job of a root, and what the root asks for
// itself.
func (r *Reconciler) observePolicies(ctx context.Context, s *snapshot) (err error) {
	if r.Policies == nil || !predicates.IsRoot(s.Inst) {
		return nil
	}
	if s.Policies, err = r.Policies(ctx, s.Inst.Namespace); err != nil {
		return fmt.Errorf("read the DeliveryPolicies of namespace %s: %w", s.Inst.Namespace, err)
	}
	s.OwnApproval = delivery.OwnRule(s.Inst)
	return nil
}

// deferJob says in the status that a job is deferred, or that none is any more. The event comes once
// for each policy and reason; the time at which the job may begin is in the condition.
func (r *Reconciler) deferJob(ctx context.Context, s *snapshot, verdict delivery.Verdict) error {
	status := &s.Inst.Status
	if verdict.Permitted() {
		job.DropCondition(&status.Conditions, deliveryv1alpha1.DeferredCondition)
		return r.reporter().Save(ctx, s.subject) // says what was written
	}
	before := delivery.Deferral(status.Conditions)
	isNew := before == nil || before.Reason != string(verdict.Reason)
	job.SetCondition(&status.Conditions, v1alpha1.Condition{
		Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: string(verdict.Reason), Message: verdict.String(),
		ObservedGeneration: status.ObservedGeneration,
	}, metav1.NewTime(r.Now()))
	if err := r.reporter().Save(ctx, s.subject); err != nil {
		return err // says what was written
	}
	if isNew {
		r.reporter().Emit(s.subject, corev1.EventTypeNormal, verdict.Reason, "a job is "+verdict.String())
	}
	return nil
}

// reportOverride records that a job begins which a policy would have deferred.
func (r *Reconciler) reportOverride(ctx context.Context, s *snapshot, trigger v1alpha1.JobTrigger) {
	name := s.Verdict(trigger).Overridden
	if name == "" {
		return
	}
	log.FromContext(ctx).Info("a job begins although a policy would defer it", "policy", name, "job", s.Inst.Status.JobID)
	s.subject.RecordOverride(name, s.overrider)
	r.reporter().Emit(s.subject, corev1.EventTypeWarning, reasons.Overridden, "job "+s.Inst.Status.JobID+" begins although DeliveryPolicy "+name+" would defer it: the annotation "+deliveryv1alpha1.OverrideAnnotation+" overrides the policy")
}

// useOverride removes an override, which is for one job, and notes the job.
func (r *Reconciler) useOverride(inst *v1alpha1.Installation, jobID string) {
	name := inst.Annotations[deliveryv1alpha1.OverrideAnnotation]
	if r.Policies == nil || name == "" {
		return
	}
	delete(inst.Annotations, deliveryv1alpha1.OverrideAnnotation)
	inst.Annotations[deliveryv1alpha1.OverriddenAnnotation] = jobID + " " + name
}

// watchPolicies enqueues the roots whose jobs are deferred when a policy of their namespace is changed.
// One whose condition no cache shows yet is reconciled after its own write.
func (r *Reconciler) watchPolicies(building *builder.Builder) {
	if r.Policies == nil {
		return
	}
	building.Watches(&deliveryv1alpha1.DeliveryPolicy{}, handler.EnqueueRequestsFromMapFunc(r.deferredBy), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	if r.Ahead == nil {
		return
	}
	building.Watches(&deliveryv1alpha1.DeliveryApproval{}, handler.EnqueueRequestsFromMapFunc(r.approvedBy), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	building.Watches(&deliveryv1alpha1.DeliveryPlan{}, handler.EnqueueRequestsFromMapFunc(r.planDeleted), builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
	}))
}

// approvedBy enqueues the root whose plan is approved, or not any more.
func (r *Reconciler) approvedBy(_ context.Context, object client.Object) []reconcile.Request {
	approval, ok := object.(*deliveryv1alpha1.DeliveryApproval)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: approval.Namespace, Name: approval.Spec.Installation}}}
}

// planDeleted forgets a plan that was deleted and enqueues its root, which works it out again if its job
// waits.
func (r *Reconciler) planDeleted(_ context.Context, object client.Object) []reconcile.Request {
	plan, ok := object.(*deliveryv1alpha1.DeliveryPlan)
	if !ok {
		return nil
	}
	if known := r.memory.Find(plan.Spec.Installation.UID); known != nil {
		known.ahead.drop(plan.Spec.Digest)
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: plan.Namespace, Name: plan.Spec.Installation.Name}}}
}

func (r *Reconciler) deferredBy(ctx context.Context, policy client.Object) []reconcile.Request {
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(policy.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if inst := &list.Items[i]; delivery.Deferral(inst.Status.Conditions) != nil {
			requests = append(requests, wake.RequestFor(inst))
		}
	}
	return requests
}
