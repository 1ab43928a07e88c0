package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

// defaultFile makes the name of a file from that of a resource, which somebody
// else has chosen.
func defaultFile(resource, mediaType string, extracted bool) (string, error) {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.', r == '+':
			return r
		}
		return '_'
	}, resource)
	name = strings.TrimLeft(name, ".-")
	if name == "" {
		return "", fmt.Errorf("the name %q of the resource cannot be that of a file: name one with --output-file", resource)
	}
	suffix := suffixOf(mediaType)
	if extracted || strings.HasSuffix(name, suffix) {
		return name, nil
	}
	return name + suffix, nil
}

func suffixOf(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	for _, known := range []struct{ end, suffix string }{
		{"tar+gzip", ".tgz"}, {"x-tgz", ".tgz"}, {"x-tar", ".tar"}, {"+tar", ".tar"}, {".tar", ".tar"},
		{"json", ".json"}, {"yaml", ".yaml"}, {"text/plain", ".txt"}, {"+gzip", ".gz"}, {"application/gzip", ".gz"}, {"zip", ".zip"},
	} {
		if strings.HasSuffix(mediaType, known.end) {
			return known.suffix
		}
	}
	return ""
}

// meteredContent is the content of a resource while it is counted.
type meteredContent struct {
	io.Reader
	io.Closer
	mediaType string
	what      string
}

// explain tells of what the content is.
func (c *meteredContent) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the connection was cut: %w", err)
	}
	return fmt.Errorf("%s: %w", c.what, err)
}

// openMetered opens the content of a resource in such a way that a progress sees
// the bytes where they come from: an archive that is made of many blobs on the
// fly has no size of its own.
func openMetered(ctx context.Context, session *openSession, version *repository.Version, resource *descriptor.Resource, progress *transfer) (*meteredContent, error) {
	meter := newMeter(progress)
	reader := *session.Reader()
	plain := reader.Registry
	reader.Registry = func(scheme, host string) oci.Store { return meter.store(plain(scheme, host)) }
	counted := *version
	counted.Blobs = meter.blobs(ctx, version)
	progress.begin("downloading " + printable(shortened(resource.Name)))
	meter.start()
	blob, err := reader.Resource(ctx, &counted, resource)
	if err != nil {
		return nil, err
	}
	return &meteredContent{
		Reader: meter.stream(ctx, blob), Closer: blob, mediaType: blob.MediaType,
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
