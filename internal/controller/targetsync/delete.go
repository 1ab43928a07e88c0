package targetsync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// remove removes what a TargetSync has made, and then its finalizer. The source is not needed. The
// status says what blocks the deletion.
func (a *attempt) remove(ctx context.Context) (job.Wake, error) {
	if err := a.r.removeAll(ctx, a.sync); err != nil {
		err = fmt.Errorf("remove what the TargetSync has made: %w", err)
		if job.OutcomeOf(err) == job.Conflict {
			return job.Wake{}, err
		}
		pause, err := a.r.report(ctx, a.sync, a.known, (&outcome{}).ended(reasons.ResourceClusterFailed, err))
		return a.within(pause), err
	}
	err := a.r.patch(ctx, a.sync, a.known, func(changed *v1alpha1.TargetSync) { controllerutil.RemoveFinalizer(changed, v1alpha1.Finalizer) })
	if client.IgnoreNotFound(err) != nil {
		return job.Wake{}, fmt.Errorf("remove the finalizer: %w", err)
	}
	return job.Settled(), nil
}

// removeAll removes the Targets and then their Secrets. The lists come from the API server: a cache
// may lack the latest objects.
func (r *Reconciler) removeAll(ctx context.Context, sync *v1alpha1.TargetSync) error {
	all := &v1alpha1.TargetSyncList{}
	if err := r.Client.List(ctx, all, client.InNamespace(sync.Namespace)); err != nil {
		return fmt.Errorf("list TargetSyncs: %w", err)
	}
	alone, accesses := true, map[string]bool{sync.Spec.SecretRef.Name: true}
	for _, other := range all.Items {
		alone = alone && (other.Name == sync.Name || other.DeletionTimestamp != nil)
		accesses[other.Spec.SecretRef.Name] = true
	}
	targets, secrets := &v1alpha1.TargetList{}, metadataOfSecrets()
	for _, list := range []client.ObjectList{targets, secrets} {
		if err := r.Reader.List(ctx, list, client.InNamespace(sync.Namespace), client.MatchingLabels{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue}); err != nil {
			return fmt.Errorf("list what it has made: %w", err)
		}
	}
	goes := func(object client.Object) bool { return syncplan.Ours(object) && attributed(object, sync.Name, alone) }
	var first, then []client.Object
	for i := range targets.Items {
		if target := &targets.Items[i]; goes(target) {
			first = append(first, target)
		}
	}
	for i := range secrets.Items {
		if secret := &secrets.Items[i]; !accesses[secret.Name] && goes(secret) {
			then = append(then, secret)
		}
	}
	if err := r.deleteTogether(ctx, first); err != nil {
		return err
	}
	return r.deleteTogether(ctx, then)
}

// deleteTogether deletes objects in parallel, since a worker waits here.
func (r *Reconciler) deleteTogether(ctx context.Context, objects []client.Object) error {
	return parallelize.Until(r.Parallelizer, len(objects), func(i int) error {
		uid := objects[i].GetUID()
		if err := r.Client.Delete(ctx, objects[i], client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %s: %w", objects[i].GetName(), err)
		}
		return nil
	})
}

// attributed reports whether an object is deleted with a TargetSync of this name. An object without
// a maker, or with a maker that no longer exists, is deleted with the last TargetSync of the
// namespace: if several are deleted at once, none of them can leave the object to the others.
func attributed(object metav1.Object, name string, alone bool) bool {
	return alone || object.GetAnnotations()[v1alpha1.TargetSyncNameAnnotation] == name
}

func metadataOfSecrets() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	return list
}
