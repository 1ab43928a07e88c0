package requests

import (
	"context"
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/revision"
)

// Revisions reads the revisions of a root.
func Revisions(ctx context.Context, reader client.Reader, root *v1alpha1.Installation) ([]*deliveryv1alpha1.DeliveryRevision, error) {
	list := &deliveryv1alpha1.DeliveryRevisionList{}
	if err := reader.List(ctx, list, client.InNamespace(root.Namespace), client.MatchingLabels(revision.Labels(root.UID))); err != nil {
		return nil, fmt.Errorf("list the DeliveryRevisions of Installation %s/%s: %w", root.Namespace, root.Name, err)
	}
	all := make([]*deliveryv1alpha1.DeliveryRevision, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return all, nil
}

// GoBack gives an Installation the specification of a revision, and asks for a job with it. Both are one
// write, bound to the version of the Installation that was read. A job that the server asks for by itself
// is automatic: windows for automatic jobs count for it.
func GoBack(ctx context.Context, c client.Client, root *v1alpha1.Installation, to *deliveryv1alpha1.DeliveryRevision, back revision.Back) (*v1alpha1.Installation, error) {
	spec, err := revision.Specification(to)
	if err != nil {
		return nil, err
	}
	changed := root.DeepCopy()
	changed.Spec = *spec
	annotations := map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation), deliveryv1alpha1.WentBackAnnotation: back.String()}
	if back.Mode == revision.OnFailure {
		annotations[v1alpha1.ReconcileReasonAnnotation] = v1alpha1.ReconcileReasonRetry
	}
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	maps.Copy(changed.Annotations, annotations)
	if err := c.Update(ctx, changed); err != nil {
		return nil, fmt.Errorf("write the earlier specification of Installation %s/%s: %w", root.Namespace, root.Name, err)
	}
	return changed, nil
}
