package chart

import (
	"context"
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/registry"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/sources"
)

// How errors about charts are named, also by the public system.
const (
	operation = "TemplateChart"
	reason    = "GetHelmChart"
)

// explain says what follows from an error. What is wrong stays wrong; but the API
// server, or whoever has the chart, may answer soon.
func explain(ctx context.Context, from kind, err error) error {
	var known *job.Error
	if errors.As(err, &known) {
		return err
	}
	var codes []v1alpha1.ErrorCode
	if errors.Is(err, registry.ErrDenied) {
		codes = append(codes, v1alpha1.ErrorUnauthorized)
		err = fmt.Errorf("%w (%s)", err, from.credentials)
	}
	wrapped := job.Wrap(err, operation, reason, from.field, codes...)
	var unread *sources.ReadError
	if ctx.Err() != nil || errors.As(err, &unread) || component.IsTemporary(err) {
		return wrapped
	}
	return job.Terminally(wrapped)
}

// unusable says that what was found is no chart that we can use. Another attempt
// would find the same, also where it looks as if something was cut off.
func unusable(ctx context.Context, field, origin string, err error) error {
	wrapped := job.Wrap(fmt.Errorf("the chart from %s cannot be used: %w", origin, err), operation, reason, field)
	if ctx.Err() != nil {
		return wrapped
	}
	return job.Terminally(wrapped)
}
