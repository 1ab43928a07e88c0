package deployer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// exportKey is the key of the values in an export Secret.
const exportKey = "config"

const (
	// toPropagateAnnotation names, in an export Secret, the values that have changed after the job
	// and for which no job was requested yet.
	toPropagateAnnotation = v1alpha1.GroupName + "/to-hand-on"
	// propagateAfterAnnotation says there which job the root had then.
	propagateAfterAnnotation = v1alpha1.GroupName + "/to-hand-on-after"
	// changesAnnotation says there when a value was last propagated after the job.
	changesAnnotation = v1alpha1.GroupName + "/changes"
)

const createExports = published.CreateExports

// Export exports values: it stores them in a Secret that belongs to the item and that its status
// names once the job has succeeded. Call it last; nothing is written if the values are the same as
// before. It needs the right to get, create and update Secrets.
//
// In the removal round of a job exports are not collected: what has been exported stays, and a
// value that has changed since is noticed after the job.
func (i *Item) Export(ctx context.Context, values map[string]any) error {
	if i.staysExported() {
		return nil
	}
	if values == nil {
		values = map[string]any{}
	}
	content, err := json.Marshal(values)
	if err != nil {
		// The reason may quote a value.
		return job.NewError(createExports, reasons.MarshalExportData, "the values cannot be written as JSON", v1alpha1.ErrorInternalProblem)
	}
	ref := i.exportReference()
	secret := exportSecret(i.DeployItem, ref, content)
	if i.Status.ExportReference != nil {
		err = i.updateExport(ctx, secret)
	} else if err = i.reconciler.client.Create(ctx, secret); apierrors.IsAlreadyExists(err) {
		// The answer to an earlier attempt may have been lost.
		err = i.updateExport(ctx, secret)
	}
	if err != nil {
		return job.Wrap(err, createExports, reasons.CreateOrUpdateSecret, fmt.Sprintf("store the exports in Secret %s/%s", ref.Namespace, ref.Name))
	}
	i.Status.ExportReference = ref
	i.run.noteExport(ref)
	return nil
}

// RemoveExport removes what the item has exported in an earlier job. Without an export nothing
// happens. The Secret is emptied, not deleted: it is deleted with the item, and a deployer needs no
// right to delete Secrets.
func (i *Item) RemoveExport(ctx context.Context) error {
	if i.Status.ExportReference == nil || i.staysExported() {
		return nil
	}
	ref := i.exportReference()
	if err := i.updateExport(ctx, exportSecret(i.DeployItem, ref, []byte("{}"))); err != nil {
		return job.Wrap(err, createExports, reasons.CreateOrUpdateSecret, fmt.Sprintf("remove the exports in Secret %s/%s", ref.Namespace, ref.Name))
	}
	i.Status.ExportReference = nil
	i.run.noteExport(nil)
	return nil
}

// staysExported reports whether the job of an item exports nothing anew.
func (i *Item) staysExported() bool { return job.IsRemoval(i.Status.JobID) }

// exportReference names the Secret with the exports. The namespace is always that of the item,
// whatever the status says.
func (i *Item) exportReference() *v1alpha1.ObjectReference {
	if ref := i.Status.ExportReference; ref != nil && ref.Name != "" {
		return &v1alpha1.ObjectReference{Name: ref.Name, Namespace: i.Namespace}
	}
	return &v1alpha1.ObjectReference{Name: i.Name + "-export", Namespace: i.Namespace}
}

func exportSecret(item *v1alpha1.DeployItem, ref *v1alpha1.ObjectReference, content []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ref.Namespace, Name: ref.Name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "DeployItem", Name: item.Name, UID: item.UID}},
		},
		Data: map[string][]byte{exportKey: content},
	}
}

// updateExport stores exports in a Secret that exists. The Secret is read from the API server: no
// cache holds the content of Secrets.
func (i *Item) updateExport(ctx context.Context, wanted *corev1.Secret) error {
	stored := &corev1.Secret{}
	err := i.reconciler.live.Get(ctx, client.ObjectKeyFromObject(wanted), stored)
	if apierrors.IsNotFound(err) {
		return i.reconciler.client.Create(ctx, wanted)
	}
	if err != nil {
		return err
	}
	mine := ownedBy(stored, i.DeployItem)
	if !mine && !isLeft(stored, i.DeployItem) {
		return job.NewError(createExports, reasons.ForeignSecret, "it exists and does not belong to the item: remove or rename it")
	}
	// The job propagates all changes.
	_, pending := stored.Annotations[toPropagateAnnotation]
	if mine && len(stored.Data) == 1 && bytes.Equal(stored.Data[exportKey], wanted.Data[exportKey]) && !pending {
		return nil
	}
	delete(stored.Annotations, toPropagateAnnotation)
	delete(stored.Annotations, propagateAfterAnnotation)
	stored.Data, stored.OwnerReferences = wanted.Data, wanted.OwnerReferences
	return i.reconciler.client.Update(ctx, stored)
}

// noteExport stores the state of the exports after the job: their values, if they are given, and
// annotations, of which empty ones are removed.
func (i *Item) noteExport(ctx context.Context, content []byte, annotations map[string]string) error {
	ref, stored := i.exportReference(), &corev1.Secret{}
	err := i.reconciler.live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, stored)
	if apierrors.IsNotFound(err) && content == nil {
		// The Secret was deleted; the job creates it again.
		return nil
	}
	if apierrors.IsNotFound(err) {
		stored = exportSecret(i.DeployItem, ref, content)
		stored.Annotations = annotations
		return i.reconciler.client.Create(ctx, stored)
	}
	if err != nil {
		return fmt.Errorf("read Secret %s/%s with the exports: %w", ref.Namespace, ref.Name, err)
	}
	if !ownedBy(stored, i.DeployItem) {
		return fmt.Errorf("secret %s/%s with the exports does not belong to the item: remove or rename it", ref.Namespace, ref.Name)
	}
	if stored.Annotations == nil {
		stored.Annotations = map[string]string{}
	}
	for key, value := range annotations {
		if stored.Annotations[key] = value; value == "" {
			delete(stored.Annotations, key)
		}
	}
	if content != nil {
		stored.Data = map[string][]byte{exportKey: content}
	}
	if err := i.reconciler.client.Update(ctx, stored); err != nil {
		return fmt.Errorf("store the exports in Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return nil
}

// ownedBy reports whether a Secret belongs to an item. The name alone proves nothing: another
// client may have created a Secret of this name.
func ownedBy(secret *corev1.Secret, item *v1alpha1.DeployItem) bool {
	return slices.ContainsFunc(secret.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == item.UID })
}

// isLeft reports whether a Secret belonged to an earlier item of the same name, which does not
// exist any more then. The garbage collector removes such a Secret, but not at once, and not
// one that has another owner by then.
func isLeft(secret *corev1.Secret, item *v1alpha1.DeployItem) bool {
	return job.Owner{Kind: "DeployItem", Object: item}.MayReplace(secret)
}
