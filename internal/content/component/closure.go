package component

import (
	"context"
	"fmt"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// Closure returns a component version and all that it refers to, at any depth.
// References are looked up in the given repository, after overwrites. Cycles end.
//
// A reference that leads nowhere ends it, even if no template needs the reference: see mentioned in
// the package plan, which asks for the closure only where it is used.
func (s *Session) Closure(ctx context.Context, root *repository.Version, context descriptor.Typed) ([]*repository.Version, error) {
	walk := closure{session: s, context: context, seen: map[string]bool{}, counted: map[*repository.Version]bool{}}
	if walk.context.IsZero() {
		walk.context = root.Context
	}
	if err := walk.add(ctx, root); err != nil {
		return nil, err
	}
	return walk.all, nil
}

const (
	// maxClosure bounds how many component versions may belong together.
	maxClosure = 10_000
	// maxVersions is what the descriptors of a closure, and those that a session has resolved, may take
	// in memory, as an estimate: one may be of 32 MiB, and all are kept.
	maxVersions = 96 << 20
)

// tooLarge is the error about descriptors that do not fit into the memory of a session.
func tooLarge(name, version string) error {
	return fmt.Errorf("with component version %s:%s, the component descriptors take more than %d MiB of memory: refer to fewer or smaller component versions", name, version, maxVersions>>20)
}

type closure struct {
	session *Session
	context descriptor.Typed
	seen    map[string]bool
	all     []*repository.Version
	// size is what the versions take that were found, counted which of them count.
	size    int64
	counted map[*repository.Version]bool
}

func (c *closure) add(ctx context.Context, root *repository.Version) error {
	// A list instead of recursion: a chain of components may be long.
	for queue := []*repository.Version{root}; len(queue) > 0; queue = queue[1:] {
		version := queue[0]
		key := version.Name + ":" + version.Version
		if c.seen[key] {
			continue
		}
		if len(c.all) == maxClosure {
			return fmt.Errorf("more than %d component versions belong to %s:%s", maxClosure, root.Name, root.Version)
		}
		c.seen[key] = true
		c.all = append(c.all, version)
		for _, reference := range version.References {
			found, err := c.session.Referenced(ctx, version, &reference, c.context)
			if err != nil {
				return err
			}
			if !c.counted[found] {
				c.counted[found] = true
				if c.size += found.Size(); c.size > maxVersions {
					return tooLarge(found.Name, found.Version)
				}
			}
			queue = append(queue, found)
		}
	}
	return nil
}

// Referenced finds the component version behind a reference of another one. The
// descriptor may be in a label of the reference.
func (s *Session) Referenced(ctx context.Context, from *repository.Version, reference *descriptor.Reference, context descriptor.Typed) (*repository.Version, error) {
	if found, err := s.pinned(Reference{Name: reference.ComponentName, Version: reference.Version}); found != nil || err != nil {
		return found, err
	}
	return referenced(ctx, from, reference, context, s.Resolve)
}

func referenced(ctx context.Context, from *repository.Version, reference *descriptor.Reference, in descriptor.Typed,
	resolve func(context.Context, Reference) (*repository.Version, error),
) (*repository.Version, error) {
	fail := func(err error) (*repository.Version, error) {
		return nil, fmt.Errorf("unable to resolve component reference %s with component name %s and version %s of component %s:%s: %w",
			reference.Name, reference.ComponentName, reference.Version, from.Name, from.Version, err)
	}
	if reference.Label(descriptor.NestedLabel) != nil {
		if found, err := nested(ctx, from, reference); found != nil || err != nil {
			if err != nil {
				return fail(err)
			}
			return found, nil
		}
	}
	found, err := resolve(ctx, Reference{Context: in, Name: reference.ComponentName, Version: reference.Version})
	if err != nil {
		return fail(err)
	}
	return found, nil
}

// nested reads the descriptor in the label of one reference.
func nested(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
	alone := *from.Descriptor
	alone.References = []descriptor.Reference{*reference}
	all, err := alone.Nested()
	if err != nil {
		return nil, err // the caller says where
	}
	return repository.Inline(all, nil).Lookup(ctx, reference.ComponentName, reference.Version) // the caller says where
}
