package deployer

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
)

// recoverPanic calls a deployer. A panic ends the job, not the process: another attempt would end
// the same way. A deletion is another job, so an item that could not be deployed can still be
// deleted.
func (r *reconciler) recoverPanic(ctx context.Context, item *Item, call func(context.Context, *Item) (Result, error)) (result Result, err error) {
	ctx = job.WithWork(ctx, job.Work{JobID: item.Status.JobID, UID: item.UID})
	err = r.noted(ctx, item, func(ctx context.Context) error {
		return job.RecoverPanic(func() (err error) {
			result, err = call(ctx, item)
			return err
		})
	})
	if job.IsPanic(err) {
		r.notePanic(ctx, item.key, err)
		return Result{}, err
	}
	return result, err
}

// notePanic logs a panic with its stack, and records it by the function of the options.
func (r *reconciler) notePanic(ctx context.Context, key types.NamespacedName, err error) {
	var broken *job.Panic
	if !errors.As(err, &broken) {
		return
	}
	logger := log.FromContext(ctx)
	logger.Error(errors.New(broken.Problem), "the deployer panicked", "stack", broken.Stack)
	if r.options.RecordProblem == nil {
		return
	}
	if err := r.options.RecordProblem(ctx, r.options.Name+" of "+key.String()+": "+broken.Problem); err != nil {
		logger.Error(err, "the problem could not be recorded")
	}
}

// giveUp ends the job of an item on which this library itself has panicked. If even that is not
// possible, the item stays as it is until it changes: the same attempt is never repeated endlessly.
func (r *reconciler) giveUp(ctx context.Context, key types.NamespacedName, broken error) {
	r.notePanic(ctx, key, broken)
	r.memory.end(key)
	err := job.RecoverPanic(func() error {
		stored := &v1alpha1.DeployItem{}
		if err := r.client.Get(ctx, key, stored); err != nil {
			return err
		}
		shown := r.options.Dispatcher.Overlay(stored)
		if !unfinished(shown) {
			return nil
		}
		item := &Item{DeployItem: shown.DeepCopy(), reconciler: r, key: key, stored: stored}
		if starts(shown) {
			status.PickUp(item.DeployItem, r.information(), false, status.Stamp(r.now()))
		}
		status.Conclude(item.DeployItem, status.Failed, broken, status.Stamp(r.now()))
		return item.write(ctx)
	})
	if err != nil {
		log.FromContext(ctx).Error(err, "the end of the job could not be stored")
	}
}
