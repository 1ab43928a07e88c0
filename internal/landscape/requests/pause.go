package requests

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// PauseOf is the name of the DeliveryPolicy that pauses an Installation.
func PauseOf(installation string) string { return "pause-" + installation }

// Pause pauses a root by a DeliveryPolicy of its own.
func Pause(ctx context.Context, c client.Client, name client.ObjectKey, reason string) error {
	root := &v1alpha1.Installation{}
	if err := c.Get(ctx, name, root); err != nil {
		return fmt.Errorf("read Installation %s: %w", name.Name, err)
	}
	if err := CheckRoot(root); err != nil {
		return err
	}
	policy := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": deliveryv1alpha1.GroupVersion.String(), "kind": "DeliveryPolicy",
		"metadata": map[string]any{"namespace": name.Namespace, "name": PauseOf(name.Name)},
		"spec":     map[string]any{"installations": []any{name.Name}, "paused": map[string]any{"reason": reason}},
	}}
	return explainPolicy(policy.GetName(), c.Apply(ctx, client.ApplyConfigurationFromUnstructured(policy), client.FieldOwner("landscaper-cli"), client.ForceOwnership))
}

// Resume ends the pause of a root.
func Resume(ctx context.Context, c client.Client, name client.ObjectKey) error {
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: PauseOf(name.Name)}}
	return explainPolicy(policy.Name, c.Delete(ctx, policy))
}

// SetPause pauses all that a DeliveryPolicy selects, or ends that with nil.
func SetPause(ctx context.Context, c client.Client, name client.ObjectKey, pause *deliveryv1alpha1.Pause) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"paused": pause}})
	if err != nil {
		return fmt.Errorf("encode the pause: %w", err)
	}
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	return explainPolicy(policy.Name, c.Patch(ctx, policy, client.RawPatch(types.MergePatchType, patch)))
}

// explainPolicy says what to do where there is no policy, or no such kind.
func explainPolicy(name string, err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no DeliveryPolicy %s, or the cluster does not serve the kind: landscaper install --feature-gates=DeliveryPolicies=true brings it: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("write DeliveryPolicy %s: %w", name, err)
	}
	return nil
}
