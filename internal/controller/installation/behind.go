package installation

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
)

// deletionLagLimit is how long a cache may take to show that an Execution is being deleted.
const deletionLagLimit = 2 * time.Second

// awaitExecution returns expectations.StaleCacheError if a cache shows an Execution as it was before our last
// write, or before its deletion.
//
// A deletion that no cache shows for long may never have been: the store of the API server was
// restored from a backup. The API server decides, and an Execution that is not being deleted is
// deleted again.
func (r *Reconciler) awaitExecution(ctx context.Context, inst *v1alpha1.Installation, exec *v1alpha1.Execution) error {
	if err := r.memory.await(ctx, r.Reader, exec); err != nil {
		return err // says what was read
	}
	// Nothing but the last write of an Execution is remembered.
	r.memory.Forget(exec.UID)
	if exec.DeletionTimestamp != nil || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Deleting || !r.memory.Of(inst.UID).marks.has(executionDeleted) {
		return nil
	}
	if age := r.memory.Of(inst.UID).marks.age(executionDeleted); age < deletionLagLimit {
		return expectations.StaleCacheError{RetryAfter: deletionLagLimit - age}
	}
	live := &v1alpha1.Execution{}
	err := r.Reader.Get(ctx, client.ObjectKeyFromObject(exec), live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Execution %s/%s, whose deletion the cache does not show: %w", exec.Namespace, exec.Name, err)
	}
	isDeleted := err != nil || live.UID != exec.UID || live.DeletionTimestamp != nil
	if r.memory.Of(inst.UID).marks.note(executionDeleted, isDeleted); !isDeleted {
		return nil
	}
	return expectations.StaleCacheError{RetryAfter: deletionLagLimit}
}
