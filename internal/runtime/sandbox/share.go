package sandbox

import "context"

// Share bounds how many works of one kind run at the same time, for all tenants together: other
// works keep the remaining slots.
type Share struct{ places chan struct{} }

// NewShare returns a share for so many works.
func NewShare(works int) *Share { return &Share{make(chan struct{}, works)} }

// In lets the works under a context have no more than the share. No work may wait for another one under
// the same share.
func (s *Share) In(ctx context.Context) context.Context { return context.WithValue(ctx, shareKey{}, s) }

type shareKey struct{}

func (s *Share) enter(ctx context.Context) error {
	select {
	case s.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Share) leave() { <-s.places }
