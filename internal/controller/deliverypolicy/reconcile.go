package deliverypolicy

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Reconciler writes the status of DeliveryPolicies.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// Now is the clock.
	Now func() time.Time
}

// Read reads the DeliveryPolicies of a namespace, which must not be changed.
func Read(cached client.Reader) func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
	return func(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
		list := &deliveryv1alpha1.DeliveryPolicyList{}
		if err := cached.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, err // the caller says what was read
		}
		policies := make([]*deliveryv1alpha1.DeliveryPolicy, len(list.Items))
		for i := range list.Items {
			policies[i] = &list.Items[i]
		}
		return policies, nil
	}
}

// Reconcile brings the status of a policy up to date.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	policy := &deliveryv1alpha1.DeliveryPolicy{}
	if err := r.Client.Get(ctx, request.NamespacedName, policy); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(policy.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the Installations of namespace %s: %w", policy.Namespace, err)
	}
	before, now := policy.Status.DeepCopy(), r.Now()
	state := describe(policy, list.Items, now)
	if !equality.Semantic.DeepEqual(*before, policy.Status) {
		if err := r.Client.Status().Update(ctx, policy); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, fmt.Errorf("write the status of DeliveryPolicy %s: %w", request.NamespacedName, err)
		}
	}
	if state.NextChange.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: job.Wake{}.By(state.NextChange).By(now.Add(delivery.Recheck)).Pause(now)}, nil
}

// describe writes into the status what a policy does.
func describe(policy *deliveryv1alpha1.DeliveryPolicy, all []v1alpha1.Installation, now time.Time) delivery.State {
	rules, status := delivery.Read(policy), &policy.Status
	state := rules.StateAt(now)
	status.ObservedGeneration, status.NextChange = policy.Generation, nil
	if !state.NextChange.IsZero() {
		next := metav1.NewTime(state.NextChange).Rfc3339Copy()
		status.NextChange = &next
	}
	status.Selected, status.Deferred = 0, 0
	for i := range all {
		if !rules.Selects(&all[i]) {
			continue
		}
		status.Selected++
		if delivery.Deferral(all[i].Status.Conditions) != nil {
			status.Deferred++
		}
	}
	set := func(kind string, is bool, reason reasons.Reason, message string) {
		condition := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: string(reason), Message: message, ObservedGeneration: policy.Generation, LastTransitionTime: metav1.NewTime(now)}
		if is {
			condition.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	if rules.Err != nil {
		set(deliveryv1alpha1.ValidCondition, false, reasons.InvalidPolicy, rules.Err.Error())
	} else {
		set(deliveryv1alpha1.ValidCondition, true, reasons.Valid, "the policy is understood")
	}
	if state.Reason != "" {
		set(deliveryv1alpha1.OpenCondition, false, state.Reason, state.Message)
	} else {
		set(deliveryv1alpha1.OpenCondition, true, reasons.Open, "every job may begin")
	}
	return state
}
