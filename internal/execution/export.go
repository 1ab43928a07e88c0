package execution

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plain"
)

// complete collects what the items export and ends the job.
func (r *Reconciler) complete(ctx context.Context, s *snapshot) error {
	exports := make(map[string]any, len(s.items))
	for _, item := range s.items {
		value, err := r.exported(ctx, item)
		if err != nil {
			return job.Wrap(err, "handleReconcilePhase", "handlePhaseCompleting", "collect the exports of deploy item "+itemName(item))
		}
		exports[itemName(item)] = value
	}
	reference, err := r.storeExports(ctx, s.exec, exports)
	if err != nil {
		return job.Wrap(err, "handleReconcilePhase", "handlePhaseCompleting", "store the exports of Execution "+s.exec.Name)
	}
	s.exec.Status.ExportReference = reference
	if s.exec.Status.DeployItemCache != nil {
		s.exec.Status.DeployItemCache.OrphanedDIs = nil
	}
	r.setPhase(s.exec, v1alpha1.ExecutionPhases.Succeeded, nil)
	return r.writeStatus(ctx, s.exec)
}

// exported reads the Secret with the exports of an item.
func (r *Reconciler) exported(ctx context.Context, item *v1alpha1.DeployItem) (any, error) {
	if item.Status.ExportReference == nil {
		return nil, nil
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: item.Namespace, Name: item.Status.ExportReference.Name}
	if err := r.Reader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", key.Name, err)
	}
	value, err := plain.FromYAML(secret.Data[v1alpha1.DataObjectSecretDataKey])
	if err != nil {
		return nil, fmt.Errorf("key %s of Secret %s does not hold a map: %w", v1alpha1.DataObjectSecretDataKey, key.Name, err)
	}
	fields, isMap := value.(map[string]any)
	if !isMap && value != nil {
		return nil, fmt.Errorf("key %s of Secret %s does not hold a map", v1alpha1.DataObjectSecretDataKey, key.Name)
	}
	return fields, nil
}

// storeExports writes the DataObject with the exports of all items, if it is not
// there yet with this very content.
func (r *Reconciler) storeExports(ctx context.Context, exec *v1alpha1.Execution, exports map[string]any) (*v1alpha1.ObjectReference, error) {
	raw, err := dataflow.EncodeData(exports)
	if err != nil {
		return nil, err
	}
	scope := v1alpha1.ExecutionScope(exec.Name)
	object := &v1alpha1.DataObject{
		ObjectMeta: metav1.ObjectMeta{
			Name:        v1alpha1.GenerateDataObjectName(scope, ""),
			Namespace:   exec.Namespace,
			Labels:      map[string]string{v1alpha1.DataObjectContextLabel: scope, v1alpha1.DataObjectSourceLabel: scope},
			Annotations: map[string]string{v1alpha1.DataObjectHashAnnotation: dataflow.Hash(raw)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "Execution", Name: exec.Name, UID: exec.UID,
			}},
		},
		Data: v1alpha1.NewAnyJSON(raw),
	}
	reference := &v1alpha1.ObjectReference{Name: object.Name, Namespace: object.Namespace}
	live := &v1alpha1.DataObject{}
	switch err := r.Client.Get(ctx, client.ObjectKeyFromObject(object), live); {
	case apierrors.IsNotFound(err):
		return reference, r.Client.Create(ctx, object)
	case err != nil:
		return nil, err
	}
	hash, err := dataflow.DataHash(live)
	if err == nil && hash == dataflow.Hash(raw) && len(live.OwnerReferences) == 1 && live.OwnerReferences[0].UID == exec.UID {
		return reference, nil
	}
	object.ResourceVersion = live.ResourceVersion
	return reference, r.Client.Update(ctx, object)
}
