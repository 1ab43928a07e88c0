package lifecycle

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/job"
)

// report changes the status of an Extension, if there is anything to change. It is bound
// to the version that was read.
//
// The new status is used only after it was stored, so that a later report is compared with the
// stored one.
func (r *Reconciler) report(ctx context.Context, e *gardener.Extension, change func(*gardener.ExtensionStatus)) error {
	changed := e.DeepCopy()
	change(&changed.Status)
	if reflect.DeepEqual(e.Status, changed.Status) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, changed, locked(e)); err != nil {
		r.doubt(e, err)
		return fmt.Errorf("write the status of Extension %s/%s: %w", e.Namespace, e.Name, err)
	}
	r.extensionsNow.Record(changed)
	*e = *changed
	return nil
}

// doubt lets the next attempt read an Extension from the API server if a write may have arrived although
// it has failed. From an older version in the cache it could follow that there is nothing to write, and
// the event of the newer one triggers nothing.
func (r *Reconciler) doubt(e *gardener.Extension, err error) {
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !job.IsRefusal(err) {
		r.extensionsNow.Doubt(e)
	}
}

func locked(e *gardener.Extension) client.Patch {
	return client.MergeFromWithOptions(e.DeepCopy(), client.MergeFromWithOptimisticLock{})
}

// edit changes the metadata of an Extension, if there is anything to change.
func (r *Reconciler) edit(ctx context.Context, e *gardener.Extension, change func(*metav1.ObjectMeta)) error {
	changed := e.DeepCopy()
	change(&changed.ObjectMeta)
	if reflect.DeepEqual(e.ObjectMeta, changed.ObjectMeta) {
		return nil
	}
	if err := r.Client.Patch(ctx, changed, locked(e)); err != nil {
		r.doubt(e, err)
		return fmt.Errorf("change the metadata of Extension %s/%s: %w", e.Namespace, e.Name, err)
	}
	r.extensionsNow.Record(changed)
	*e = *changed
	return nil
}

// begin reports that an operation is in progress. The request for it is removed afterwards, so that
// a crash repeats an operation rather than losing it.
func (r *Reconciler) begin(ctx context.Context, e *gardener.Extension, kind gardener.OperationType) error {
	return r.report(ctx, e, func(status *gardener.ExtensionStatus) {
		status.LastOperation = &gardener.LastOperation{
			Type: kind, State: gardener.Processing, Progress: 1, LastUpdateTime: r.now(),
			Description: string(kind) + " of the extension has begun",
		}
	})
}

// adopt adds the finalizer to an Extension and removes the request to reconcile it.
func (r *Reconciler) adopt(ctx context.Context, e *gardener.Extension) error {
	return r.edit(ctx, e, func(meta *metav1.ObjectMeta) {
		if !slices.Contains(meta.Finalizers, Finalizer) {
			meta.Finalizers = append(meta.Finalizers, Finalizer)
		}
		if meta.Annotations[gardener.OperationAnnotation] == gardener.OperationReconcile {
			delete(meta.Annotations, gardener.OperationAnnotation)
		}
	})
}

// processing sets the progress of an operation. Times change only with other fields.
func (r *Reconciler) processing(status *gardener.ExtensionStatus, kind gardener.OperationType, progress int32, why string) {
	r.operate(status, gardener.LastOperation{Type: kind, State: gardener.Processing, Progress: progress, Description: why})
}

func (r *Reconciler) operate(status *gardener.ExtensionStatus, said gardener.LastOperation) {
	if last := status.LastOperation; last != nil {
		said.LastUpdateTime = last.LastUpdateTime
		if *last == said {
			return
		}
	}
	said.LastUpdateTime = r.now()
	status.LastOperation = &said
}

// failed sets the error of an operation.
func (r *Reconciler) failed(status *gardener.ExtensionStatus, e *gardener.Extension, kind gardener.OperationType, err error) {
	r.operate(status, gardener.LastOperation{Type: kind, State: gardener.Error, Progress: 50, Description: err.Error()})
	said := gardener.LastError{Description: err.Error(), Codes: codes(err)}
	if last := status.LastError; last != nil && last.Description == said.Description && slices.Equal(last.Codes, said.Codes) {
		said.LastUpdateTime = last.LastUpdateTime
	} else {
		now := r.now()
		said.LastUpdateTime = &now
	}
	status.LastError, status.ObservedGeneration = &said, e.Generation
}

// succeeded sets the success of an operation. An operation without a request and without a change
// is not reported.
func (r *Reconciler) succeeded(status *gardener.ExtensionStatus, e *gardener.Extension, kind gardener.OperationType) {
	status.LastError, status.ObservedGeneration = nil, e.Generation
	last := status.LastOperation
	if last != nil && last.State == gardener.Succeeded && !behind(e) {
		return
	}
	status.LastOperation = &gardener.LastOperation{
		Type: kind, State: gardener.Succeeded, Progress: 100, LastUpdateTime: r.now(),
		Description: string(kind) + " of the extension has succeeded",
	}
}

func (r *Reconciler) now() metav1.Time { return metav1.NewTime(r.Now()).Rfc3339Copy() }
