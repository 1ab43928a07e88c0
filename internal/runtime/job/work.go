package job

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// Work is which object work is done for, and in which job.
type Work struct {
	JobID string
	UID   types.UID
}

type workKey struct{}

// WithWork returns a context of work for an object, so that the requests made with it can be
// reported as a part of its job.
func WithWork(ctx context.Context, work Work) context.Context {
	return context.WithValue(ctx, workKey{}, work)
}

// WorkOf returns the work that a context is of; false if it is of none.
func WorkOf(ctx context.Context) (Work, bool) {
	work, ok := ctx.Value(workKey{}).(Work)
	return work, ok
}
