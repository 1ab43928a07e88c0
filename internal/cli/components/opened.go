package components

import (
	"context"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/repository"
)

// opened is a component version that was found, and through what.
type opened struct {
	access  *repositories.Access
	session *repositories.Session
	target  target
	version *repository.Version
}

// withTarget opens the repository that the arguments name and finds the component
// version.
func (f *commonFlags) withTarget(ctx context.Context, streams terminal.Streams, args []string, do func(context.Context, *opened) error) error {
	return f.run(ctx, streams, func(ctx context.Context, access *repositories.Access) error {
		wanted, err := targetOf(args)
		if err != nil {
			return err
		}
		session, err := access.Session(wanted.Location)
		if err != nil {
			return err
		}
		defer session.Close() //nolint:errcheck // nothing was written
		version, err := wanted.resolve(ctx, streams, access, session)
		if err != nil {
			return err
		}
		return do(ctx, &opened{access, session, wanted, version})
	})
}

// versions returns the component version, and if that is asked for all that it
// refers to.
func (o *opened) versions(ctx context.Context, recursive bool) ([]*repository.Version, error) {
	if !recursive {
		return []*repository.Version{o.version}, nil
	}
	return o.session.Closure(ctx, o.version, o.target.Context)
}
