package repositories

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/oci"
)

// meter lets a Transfer count what goes through stores and readers.
type meter struct {
	progress *Transfer

	mu sync.Mutex
	// on is false while nothing counts: descriptors are read before contents.
	on bool
	// stores is true when something was counted at a store, so that what leaves at
	// the other end does not count again.
	stores    bool
	announced map[digest.Digest]bool
}

func newMeter(p *Transfer) *meter { return &meter{progress: p, announced: map[digest.Digest]bool{}} }

func (m *meter) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = true
}

// store counts what is read from a store.
func (m *meter) store(behind oci.Store) oci.Store { return &meteredStore{Store: behind, meter: m} }

// Target counts what is written to a target.
func (p *Transfer) Target(behind oci.Target) oci.Target {
	return &meteredTarget{Target: behind, progress: p}
}

// stream passes a content on until its end or the end of the context, and counts it
// unless its source has counted it.
func (m *meter) stream(ctx context.Context, content io.Reader) io.Reader {
	return &meteredReader{ctx: ctx, from: content, count: func(n int) {
		m.mu.Lock()
		counted := m.stores
		m.mu.Unlock()
		if !counted {
			m.progress.add(n)
		}
	}}
}

type meteredStore struct {
	oci.Store
	meter *meter
}

// Open implements oci.Store. Manifests tell what is to come.
func (s *meteredStore) Open(ctx context.Context, repository string, content ocispec.Descriptor) (io.ReadCloser, error) {
	s.meter.mu.Lock()
	on, announced := s.meter.on, s.meter.announced[content.Digest]
	if on {
		s.meter.stores = true
	}
	s.meter.mu.Unlock()
	if !on {
		return s.Store.Open(ctx, repository, content)
	}
	if oci.IsManifest(content.MediaType) {
		return s.openManifest(ctx, repository, content)
	}
	reader, err := s.Store.Open(ctx, repository, content)
	if err != nil {
		return nil, err
	}
	if !announced {
		s.meter.progress.expect(content.Size)
	}
	return readCloser{&meteredReader{ctx: ctx, from: reader, count: s.meter.progress.add}, reader}, nil
}

func (s *meteredStore) openManifest(ctx context.Context, repository string, at ocispec.Descriptor) (io.ReadCloser, error) {
	manifest, err := oci.ReadManifest(ctx, s.Store, repository, at)
	if err != nil {
		return nil, err
	}
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	if manifest.Index {
		// Further manifests follow, each with blobs of its own.
		s.meter.progress.expect(-1)
	}
	for _, blob := range append([]ocispec.Descriptor{manifest.Config}, manifest.Layers...) {
		if blob.Digest != "" && !s.meter.announced[blob.Digest] {
			s.meter.announced[blob.Digest] = true
			s.meter.progress.expect(blob.Size)
		}
	}
	return io.NopCloser(bytes.NewReader(manifest.Raw)), nil
}

type meteredTarget struct {
	oci.Target
	progress *Transfer
}

// Push implements oci.Target.
func (t *meteredTarget) Push(ctx context.Context, repository string, content ocispec.Descriptor, data io.Reader) error {
	if content.Size < 1<<20 {
		return t.Target.Push(ctx, repository, content, data)
	}
	t.progress.beginOne("writing "+content.Digest.Encoded()[:12], content.Size)
	defer t.progress.endOne()
	return t.Target.Push(ctx, repository, content, &meteredReader{ctx: ctx, from: data, count: t.progress.add})
}

type readCloser struct {
	io.Reader
	io.Closer
}

// meteredReader counts what goes through it and ends with the context.
type meteredReader struct {
	ctx   context.Context // lives as long as the read
	from  io.Reader
	count func(int)
}

// Read implements io.Reader.
func (r *meteredReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.from.Read(p)
	r.count(n)
	if err != nil && !errors.Is(err, io.EOF) && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}
