package components

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// fileFor returns the name of the file for a content.
func (f *downloadFlags) fileFor(name, mediaType string) (string, error) {
	if _, isSet := oci.IsSet(mediaType); isSet && f.layout {
		// A layout is not compressed.
		mediaType = "application/x-tar"
	}
	return defaultFile(name, mediaType, f.extract)
}

// downloadAll downloads all resources of a component version, in one session: what
// they have in common is read once.
func (f *downloadFlags) downloadAll(ctx context.Context, streams terminal.Streams, args []string) error {
	return f.withTarget(ctx, streams, args, func(ctx context.Context, o *opened) error {
		all, err := o.versions(ctx, f.recursive)
		if err != nil {
			return err
		}
		results := []downloaded{}
		for _, one := range all {
			some, err := f.downloadVersion(ctx, streams, o.session, one)
			results = append(results, some...)
			if err != nil {
				return err
			}
		}
		if f.output != outputText {
			return writeDocument(streams.Out, f.output, results)
		}
		for _, result := range results {
			fmt.Fprintf(streams.Out, "Wrote %s (%s, %s)\n", result.File, repositories.ByteSize(result.Size), result.Digest)
		}
		return nil
	})
}

func (f *downloadFlags) downloadVersion(ctx context.Context, streams terminal.Streams, session *repositories.Session, version *repository.Version) ([]downloaded, error) {
	directory := f.file
	if directory == "" {
		directory = "."
	}
	if f.recursive {
		directory = filepath.Join(directory, strings.ReplaceAll(version.Name, "/", "_")+"-"+version.Version)
	}
	progress := repositories.NewTransfer(streams, f.quiet)
	defer progress.End()
	var results []downloaded
	for i := range version.Resources {
		resource := &version.Resources[i]
		result := downloaded{Component: version.Name + ":" + version.Version, Resource: resource.Name}
		err := f.downloadInto(ctx, session, version, resource, directory, progress, &result)
		switch {
		case errors.As(err, new(*access.UnknownError)), errors.Is(err, access.ErrNoContent):
			progress.End()
			fmt.Fprintf(streams.Err, "Warning: resource %s of %s is passed over: %v\n", terminal.Printable(resource.Name), result.Component, err)
		case err != nil:
			return results, err
		default:
			results = append(results, result)
		}
	}
	return results, nil
}

// downloadInto downloads one resource. Its file is named after it, and after what
// else tells it from others of the same name.
func (f *downloadFlags) downloadInto(ctx context.Context, session *repositories.Session, version *repository.Version, resource *descriptor.Resource, directory string, progress *repositories.Transfer, result *downloaded) error {
	content, err := session.Download(ctx, version, resource, progress)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // nothing is written
	name := resource.Name
	if more := identityText(descriptor.IdentityOf(*resource, version.Resources)); more != "" {
		name += "-" + strings.NewReplacer("=", "-", ",", "-").Replace(more)
	}
	file, err := f.fileFor(name, content.MediaType)
	if err != nil {
		return err
	}
	result.MediaType, result.File = content.MediaType, filepath.Join(directory, file)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", result.File, err)
	}
	if err := f.checkFile(result.File); err != nil {
		return err
	}
	return f.save(ctx, content, result)
}

// counter counts what is written.
type counter struct {
	to    io.Writer
	count int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.count += int64(n)
	return n, err
}
