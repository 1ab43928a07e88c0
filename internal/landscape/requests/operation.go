// Package requests has the operations that a user may request of an Installation, with the words
// for their effects. The command line and other surfaces share it.
package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job"
)

// Request asks for an operation on an Installation and returns the Installation as it was before. A
// lost answer does not lead to a second job.
//
// The second attempt checks first whether the first one has arrived; before is the state before
// both attempts.
func Request(ctx context.Context, c client.Client, name client.ObjectKey, operation v1alpha1.Operation) (*v1alpha1.Installation, error) {
	var before *v1alpha1.Installation
	err := retry.OnError(retry.DefaultBackoff, passes, func() error {
		present := &v1alpha1.Installation{}
		if err := c.Get(ctx, name, present); err != nil {
			return fmt.Errorf("failed to read installation: %w", err)
		}
		if before != nil && arrived(before, present, operation) {
			return nil
		}
		if before == nil {
			if operation == v1alpha1.ReconcileOperation {
				if err := CheckRoot(present); err != nil {
					return err
				}
			}
			before = present
		}
		if err := Annotate(ctx, c, present, v1alpha1.OperationAnnotation, string(operation)); err != nil {
			return fmt.Errorf("failed to update installation: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return before, nil
}

// CheckRoot refuses an Installation that cannot have a job of its own.
func CheckRoot(installation *v1alpha1.Installation) error {
	if parent := inspect.Parent(installation); parent != "" {
		return fmt.Errorf("the command is only supported for root installations: %s is a part of %s, reconcile that", installation.Name, parent)
	}
	return nil
}

// Annotate changes only an annotation, so that it never conflicts with a controller. The UID
// protects another object of the same name.
func Annotate(ctx context.Context, c client.Client, object client.Object, annotation, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         object.GetUID(),
		"annotations": map[string]string{annotation: value},
	}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, object.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, patch))
}

// arrived reports that an attempt whose answer was lost did take effect. A second request would
// start a second job.
func arrived(before, present *v1alpha1.Installation, operation v1alpha1.Operation) bool {
	return present.Annotations[v1alpha1.OperationAnnotation] == string(operation) && before.Annotations[v1alpha1.OperationAnnotation] != string(operation) ||
		present.Status.JobID != before.Status.JobID || job.Admitted(present) && !job.Admitted(before)
}

// passes reports that another attempt may succeed: the API server says so, or there was no answer
// at all.
func passes(err error) bool {
	var unanswered *url.Error
	return apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		errors.As(err, &unanswered) && !errors.Is(err, context.Canceled)
}

// Remarks are what a user may not expect about a request; before is the Installation
// as Request has returned it.
func Remarks(before *v1alpha1.Installation, operation v1alpha1.Operation) []string {
	var remarks []string
	running := before.Status.JobID != before.Status.JobIDFinished
	pending := before.Annotations[v1alpha1.OperationAnnotation]
	switch {
	case pending == string(operation):
		remarks = append(remarks, fmt.Sprintf("Warning: operation %q was already pending", pending))
	case pending != "":
		remarks = append(remarks, fmt.Sprintf("Warning: operation %q was pending and is replaced", pending))
	}
	switch {
	case operation == v1alpha1.ReconcileOperation && running:
		remarks = append(remarks, "Note: a job is running; the new one starts when it has ended")
	case operation == v1alpha1.InterruptOperation && !running:
		remarks = append(remarks, "Note: no job is running")
	}
	return remarks
}
