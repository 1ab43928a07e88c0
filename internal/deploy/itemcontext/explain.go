package itemcontext

import (
	"context"
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Errand is what was to be fetched, as errors name it.
type Errand struct {
	Operation string
	Reason    reasons.Reason
	// Field is where the item says what to fetch.
	Field string
	// Credentials says where those come from that were not accepted.
	Credentials string
}

// Explain says what follows from an error about what an item names. What is wrong stays wrong; but
// the API server, or the source of the content, may answer soon.
func Explain(ctx context.Context, err error, on Errand) error {
	var known *job.Error
	if errors.As(err, &known) {
		return err // its own name says more
	}
	var codes []v1alpha1.ErrorCode
	if errors.Is(err, registry.ErrDenied) {
		codes = append(codes, v1alpha1.ErrorUnauthorized)
		err = fmt.Errorf("%w (%s)", err, on.Credentials)
	}
	wrapped := job.Wrap(component.Advise(err), on.Operation, on.Reason, on.Field, codes...)
	var unread *repocontext.ReadError
	if ctx.Err() != nil || errors.As(err, &unread) || component.IsTemporary(err) {
		return wrapped
	}
	return job.AsTerminal(wrapped)
}

// WithoutRepository says where the repository of an item belongs, if an error is that nothing names
// one. The repository of an Installation is not known to its items.
func WithoutRepository(err error, context string) error {
	if !errors.Is(err, component.ErrNoRepository) {
		return err
	}
	return fmt.Errorf("the Context %s names no repository: set its repositoryContext; that of an Installation is not known to its items", context)
}
