package chart

import (
	"context"
	"fmt"

	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// How errors about charts are named, also by upstream.
const (
	operation = published.TemplateChart
	reason    = reasons.GetHelmChart
)

// explain says what follows from an error about a chart.
func explain(ctx context.Context, from kind, err error) error {
	return itemcontext.Explain(ctx, err, itemcontext.Errand{Operation: operation, Reason: reason, Field: from.field, Credentials: from.credentials})
}

// unusable says that what was found is no chart that we can use. Another attempt
// would find the same, also where it looks as if something was cut off.
func unusable(ctx context.Context, field, where string, err error) error {
	wrapped := job.Wrap(fmt.Errorf("the chart from %s cannot be used: %w", where, err), operation, reason, field)
	if ctx.Err() != nil {
		return wrapped
	}
	return job.AsTerminal(wrapped)
}
