package itemcontext

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// TestExplain: wrong input fails at once; a host that does not answer is asked again.
func TestExplain(t *testing.T) {
	errand := Errand{Operation: "Fetch", Reason: "GetFiles", Field: "spec.config.source", Credentials: "they come from the Context"}
	known := job.NewError("Other", "Known", "it says more")
	ended, end := context.WithCancel(t.Context())
	end()
	tests := []struct {
		reason  string
		ctx     context.Context
		err     error
		outcome job.Outcome
		want    string
	}{
		{"wrong input is final", t.Context(), errors.New("no such file"), job.Terminal, "spec.config.source: no such file"},
		{"a refusal says where to look", t.Context(), fmt.Errorf("read it: %w", registry.ErrDenied), job.Terminal, "(they come from the Context)"},
		{"an error that names itself", t.Context(), fmt.Errorf("while reading: %w", known), job.Transient, "it says more"},
		{"the process ends, which says nothing about the source", ended, errors.New("no such file"), job.Transient, "no such file"},
		{"the API server could not be asked for the Context", t.Context(), &repocontext.ReadError{Object: "Context a/b", Cause: errors.New("it does not answer")}, job.Transient, "Context a/b"},
		{"the registry does not answer", t.Context(), registry.ErrStalled, job.Transient, "spec.config.source"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := Explain(test.ctx, test.err, errand)
			if job.OutcomeOf(err) != test.outcome || !strings.Contains(err.Error(), test.want) || !errors.Is(err, test.err) {
				t.Errorf("outcome %v: %v", job.OutcomeOf(err), err)
			}
		})
	}
	t.Run("a credential that was not accepted has a code", func(t *testing.T) {
		var shown *job.Error
		if !errors.As(Explain(t.Context(), registry.ErrDenied, errand), &shown) || len(shown.Codes) != 1 || shown.Codes[0] != v1alpha1.ErrorUnauthorized {
			t.Errorf("got %+v", shown)
		}
	})
}

// TestWithoutRepository: the way out is the Context, which the general error leaves open.
func TestWithoutRepository(t *testing.T) {
	err := WithoutRepository(fmt.Errorf("find component version a:1: %w", component.ErrNoRepository), "vendor")
	if !strings.HasPrefix(err.Error(), "the Context vendor names no repository: set its repositoryContext") {
		t.Error(err)
	}
	if other := errors.New("not found"); !errors.Is(WithoutRepository(other, "vendor"), other) {
		t.Error("another error is another one")
	}
}
