package approvals

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/landscape/deliveryplan"
)

// Newest returns the newest plan of an Installation, and the one before; nil without one. Of the others,
// and of their parts, only names are read: they may be large.
func Newest(ctx context.Context, reader client.Reader, inst *v1alpha1.Installation) (newest, before *deliveryv1alpha1.DeliveryPlan, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("DeliveryPlanList"))
	if err := reader.List(ctx, list, client.InNamespace(inst.Namespace)); err != nil {
		return nil, nil, fmt.Errorf("list the DeliveryPlans: %w", err)
	}
	firsts := slices.DeleteFunc(list.Items, func(plan metav1.PartialObjectMetadata) bool { return !isFirstOf(inst, &plan) })
	slices.SortFunc(firsts, newerName)
	var found []*deliveryv1alpha1.DeliveryPlan
	for i := range firsts[:min(len(firsts), 2)] {
		plan := &deliveryv1alpha1.DeliveryPlan{}
		err := reader.Get(ctx, client.ObjectKeyFromObject(&firsts[i]), plan)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return nil, nil, fmt.Errorf("read DeliveryPlan %s: %w", firsts[i].Name, err)
		case err == nil && plan.Spec.Installation.UID == inst.UID:
			found = append(found, plan)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil, nil
	case 1:
		return found[0], nil, nil
	}
	return found[0], found[1], nil
}

// isFirstOf reports whether an object is the first part of a plan of an Installation.
func isFirstOf(inst *v1alpha1.Installation, plan *metav1.PartialObjectMetadata) bool {
	const anyDigest = "0000000000000000"
	owned := slices.ContainsFunc(plan.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == inst.UID })
	return owned && len(plan.Name) == len(deliveryplan.NameOf(inst.Name, anyDigest))
}

func newerName(a, b metav1.PartialObjectMetadata) int {
	switch {
	case resourceversion.Older(a.ResourceVersion, b.ResourceVersion):
		return 1
	case resourceversion.Older(b.ResourceVersion, a.ResourceVersion):
		return -1
	}
	return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
}

// Content reads what a plan shows.
func Content(ctx context.Context, reader client.Reader, plan *deliveryv1alpha1.DeliveryPlan, shown any) error {
	content, err := deliveryplan.Join(plan, func(name string) (*deliveryv1alpha1.DeliveryPlan, error) {
		part := &deliveryv1alpha1.DeliveryPlan{}
		return part, reader.Get(ctx, client.ObjectKey{Namespace: plan.Namespace, Name: name}, part)
	})
	if err == nil {
		_, err = deliveryplan.Decode(content, shown)
	}
	if err != nil {
		return fmt.Errorf("read DeliveryPlan %s: %w", plan.Name, err)
	}
	return nil
}

// Policies reads the DeliveryPolicies of a namespace. A user who may not read them gets none: who approves
// need not see all rules.
func Policies(ctx context.Context, reader client.Reader, namespace string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
	list := &deliveryv1alpha1.DeliveryPolicyList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		if apierrors.IsForbidden(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("list the DeliveryPolicies: %w", err)
	}
	return pointers(list.Items), nil
}

// Given reads the DeliveryApprovals of a namespace.
func Given(ctx context.Context, reader client.Reader, namespace string) ([]*deliveryv1alpha1.DeliveryApproval, error) {
	list := &deliveryv1alpha1.DeliveryApprovalList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the DeliveryApprovals: %w", err)
	}
	return pointers(list.Items), nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
