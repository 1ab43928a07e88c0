package repositories

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// Content is the content of a resource while it is counted.
type Content struct {
	io.Reader
	io.Closer
	// MediaType is the type of the content.
	MediaType string
	what      string
}

// Explain adds to an error what the content belongs to.
func (c *Content) Explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the connection was cut: %w", err)
	}
	return fmt.Errorf("%s: %w", c.what, err)
}

// Download opens the content of a resource in such a way that a progress sees
// the bytes where they come from: an archive that is made of many blobs on the
// fly has no size of its own.
func (s *Session) Download(ctx context.Context, version *repository.Version, resource *descriptor.Resource, progress *Transfer) (*Content, error) {
	meter := newMeter(progress)
	reader := *s.Reader()
	plain := reader.Registry
	reader.Registry = func(scheme, host string) oci.Store { return meter.store(plain(scheme, host)) }
	counted := *version
	counted.Blobs = meter.blobs(ctx, version)
	progress.begin("downloading " + terminal.Printable(shortened(resource.Name)))
	meter.start()
	blob, err := reader.Resource(ctx, &counted, resource)
	if err != nil {
		return nil, err
	}
	return &Content{
		Reader: meter.stream(ctx, blob), Closer: blob, MediaType: blob.MediaType,
		what: fmt.Sprintf("download resource %q of component version %s:%s", resource.Name, version.Name, version.Version),
	}, nil
}

// blobs opens the blobs of a component version through the meter. Those that are
// files are counted when they are read.
func (m *meter) blobs(ctx context.Context, version *repository.Version) repository.Blobs {
	if version.Blobs == nil {
		return nil
	}
	store, _, err := version.Blobs.Relative()
	if err != nil {
		return version.Blobs
	}
	spec, err := repository.ParseSpec(version.Context)
	if err != nil {
		return version.Blobs
	}
	again, err := repository.OCI(m.store(store), spec, version.Context).Lookup(ctx, version.Name, version.Version)
	if err != nil {
		return version.Blobs
	}
	return again.Blobs
}

// shortened keeps a line of progress on one line.
func shortened(name string) string {
	const longest = 40
	if len(name) <= longest {
		return name
	}
	return name[:longest-1] + "…"
}
