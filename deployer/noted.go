package deployer

import (
	"context"

	"go.landscaper.dev/internal/runtime/crashnote"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// noted lets work of the deployer begin after it was noted. Work that has ended the process before
// waits, or ends the job when that has happened too often.
func (r *reconciler) noted(ctx context.Context, item *Item, work func(context.Context) error) error {
	if r.options.Attempts == nil {
		return work(ctx)
	}
	ctx, end, err := r.options.Attempts.Begin(ctx, item.key, item.UID)
	if err != nil {
		refused := job.Wrap(err, item.operation(), reasons.ServerEnded, "")
		if crashnote.IsGivenUp(err) {
			return job.AsTerminal(refused)
		}
		return refused
	}
	return end(work(ctx))
}
