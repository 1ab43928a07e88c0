package remote

import (
	"context"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/template/componentfunc"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// limited notes how much may be read.
type limited struct {
	componentfunc.Session
	limit int64
}

func (l *limited) Read(_ context.Context, _ *repository.Version, _ *descriptor.Resource, limit int64) ([]byte, string, error) {
	l.limit = limit
	return nil, "", nil
}

// TestLimitOfReads: the limit is that of the server, whatever a process asks for that was taken over.
func TestLimitOfReads(t *testing.T) {
	session := &limited{}
	version := &repository.Version{Descriptor: &descriptor.Descriptor{}}
	version.Resources = make([]descriptor.Resource, 1)
	a := &answers{ctx: t.Context(), component: &plan.Component{Session: session}, versions: []*repository.Version{version}}
	for _, test := range []struct {
		reason      string
		asked, want int64
	}{
		{"less than a template may read", 10, 10},
		{"as much as all answers together", maxAnswered, componentfunc.MaxContent},
	} {
		body, err := sandbox.Encode(&question{Read: &readQuestion{Limit: test.asked}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.answer(body); err != nil || session.limit != test.want {
			t.Errorf("%s: at most %d bytes, %v", test.reason, session.limit, err)
		}
	}
}
