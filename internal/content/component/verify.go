package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

// ErrUnverified says that something is no part of the component version whose signature was
// verified.
var ErrUnverified = errors.New("it is not part of the component version whose signature was verified")

// Verify checks the signature of a component version and of all that belongs to it. Overwrites do
// not count: the signed component version is checked. From then on the session delivers only what
// was verified, whatever a repository context, a label or an overwrite says.
func (s *Session) Verify(ctx context.Context, version *repository.Version, name string, trust signature.Trust) error {
	verifier := s.verifier(version)
	closure, err := verifier.Verify(ctx, version, name, trust)
	if err != nil {
		return err // says what it did
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verified == nil {
		s.verified = signature.Closure{}
	}
	maps.Copy(s.verified, closure)
	return nil
}

// Sign signs a component version and puts the signature into its descriptor.
// Overwrites do not count.
func (s *Session) Sign(ctx context.Context, version *repository.Version, how signature.Signing) (*descriptor.Signature, error) {
	verifier := s.verifier(version)
	return verifier.Sign(ctx, version, how) // says what it did
}

// verifier finds what a component version refers to in the repository of the
// version itself.
func (s *Session) verifier(version *repository.Version) signature.Verifier {
	return signature.Verifier{
		Referenced: func(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
			if known := s.closure()[signature.Key{Name: reference.ComponentName, Version: reference.Version}]; known != nil {
				return known, nil
			}
			return referenced(ctx, from, reference, version.Context, s.resolve)
		},
		Digest: s.reader.Digest,
	}
}

func (s *Session) closure() signature.Closure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.verified)
}

// pinned returns the component version with a name that was verified; nil if
// nothing was.
//
// It comes before overwrites and defaults: after a verification these could only lead to another
// version.
func (s *Session) pinned(reference Reference) (*repository.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verified == nil {
		return nil, nil // anything may be used
	}
	found := s.verified[signature.Key{Name: reference.Name, Version: reference.Version}]
	if found == nil {
		return nil, fmt.Errorf("component version %s: %w", reference, ErrUnverified)
	}
	return found, nil
}

// Verified reports whether the session delivers only what was verified.
func (s *Session) Verified() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verified != nil
}

// Seen returns the component versions that the session knows without a request, sorted by name: those
// that were verified, or those that were found so far.
func (s *Session) Seen() []*repository.Version {
	var seen []*repository.Version
	if verified := s.closure(); verified != nil {
		seen = slices.Collect(maps.Values(verified))
	} else {
		s.found.mu.Lock()
		seen = slices.Collect(maps.Values(s.found.versions))
		s.found.mu.Unlock()
	}
	slices.SortFunc(seen, func(a, b *repository.Version) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(string(a.Context), string(b.Context)))
	})
	return seen
}
