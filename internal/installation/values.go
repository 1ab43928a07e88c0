package installation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow/holder"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/wanted"
)

// Values that come from Secrets are copied into Secrets. The DataObject of such a copy
// refers to its Secret, see holder.SecretOf.

// ensureValue writes the Secret with the value of a DataObject, if it is not there yet.
func (r *Reconciler) ensureValue(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, take taking) error {
	live := &corev1.Secret{}
	exists, err := r.find(ctx, take, "Secret", secret, live)
	if err != nil || !exists {
		return err
	}
	if live.Type != secret.Type {
		return foreign("Secret", live)
	}
	changed, change, err := wanted.ValueCopy(inst, secret, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	return r.Client.Update(ctx, changed) // the caller tells what is stored
}

// dropData deletes the copy of an import, and the Secret with its value before it.
func (r *Reconciler) dropData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject) error {
	if err := r.dropValue(ctx, inst, holder.SecretOf(object)); err != nil {
		return job.Wrap(err, "handlePhaseCompleting", "CleanupContext", "delete the Secret with the value of DataObject "+object.Name+", which is no longer imported")
	}
	return r.drop(ctx, object, "CleanupContext", "DataObject "+object.Name+", which is no longer imported")
}

// dropValue deletes the Secret with the value of a DataObject. What is not ours, or
// already gone, is left alone.
func (r *Reconciler) dropValue(ctx context.Context, inst *v1alpha1.Installation, name string) error {
	if name == "" {
		return nil
	}
	secret := &corev1.Secret{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: inst.Namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err // the caller tells what is deleted
	}
	if secret.Type != holder.ValueSecretType || !facts.AsOwner(inst).Owns(secret) {
		return nil
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})) // the caller tells what is deleted
}
