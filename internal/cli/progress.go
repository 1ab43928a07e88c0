package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/term"

	"go.landscaper.dev/internal/component/oci"
)

const (
	// redrawAfter is how often a terminal shows a new number, and lineAfter how
	// often a file gets a new line.
	redrawAfter = 100 * time.Millisecond
	lineAfter   = 5 * time.Second
)

// transfer tells on the standard error how far something is: on a terminal in
// one line that changes, else in a line every few seconds.
type transfer struct {
	out      io.Writer
	terminal bool
	quiet    bool
	now      func() time.Time

	mu          sync.Mutex
	what        string
	began, told time.Time
	done, total int64
	// open is true while the terminal's line is not complete.
	open bool
}

func newTransfer(streams Streams, quiet bool) *transfer {
	return &transfer{out: streams.Err, terminal: isTerminal(streams.Err), quiet: quiet, now: time.Now}
}

func isTerminal(stream io.Writer) bool {
	switch stream := stream.(type) {
	case interface{ IsTerminal() bool }:
		return stream.IsTerminal()
	case *os.File:
		return term.IsTerminal(int(stream.Fd()))
	}
	return false
}

// begin starts to count for something.
func (p *transfer) begin(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.done, p.total = what, 0, 0
	p.began = p.now()
	p.told = p.began
}

// expect adds bytes to what is to come; a negative number means that it is not
// known any more.
func (p *transfer) expect(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes < 0 || p.total < 0 {
		p.total = -1
		return
	}
	p.total += bytes
}

// add counts bytes that have been moved.
func (p *transfer) add(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += int64(bytes)
	now := p.now()
	after := lineAfter
	if p.terminal {
		after = redrawAfter
	}
	if p.quiet || now.Sub(p.told) < after {
		return
	}
	p.told = now
	if p.terminal {
		fmt.Fprintf(p.out, "\r%s%s", p.line(now), clearRight)
		p.open = true
		return
	}
	fmt.Fprintf(p.out, "%4s  %s\n", now.Sub(p.began).Round(time.Second), p.line(now))
}

func (p *transfer) line(now time.Time) string {
	text := p.what + ": " + byteSize(p.done)
	if p.total > 0 {
		text += fmt.Sprintf(" of %s (%d%%)", byteSize(p.total), min(100*p.done/p.total, 100))
	}
	if elapsed := now.Sub(p.began); elapsed > 0 {
		text += ", " + byteSize(int64(float64(p.done)/elapsed.Seconds())) + "/s"
	}
	return text
}

// end removes the line of a terminal.
func (p *transfer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *transfer) clear() {
	if p.open {
		fmt.Fprint(p.out, "\r"+clearRight)
		p.open = false
	}
}

// say prints a line of its own.
func (p *transfer) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	p.clear()
	fmt.Fprintln(p.out, line)
}

// byteSize is a number of bytes for people.
func byteSize(bytes int64) string {
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	value := float64(bytes)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		value /= 1024
		if value < 1024 || unit == "GiB" {
			return fmt.Sprintf("%.1f %s", value, unit)
		}
	}
	return ""
}

// meter lets a transfer count what goes through stores and readers.
type meter struct {
	progress *transfer

	mu sync.Mutex
	// on is false while nothing counts: descriptors are read before contents.
	on bool
	// stores is true when something was counted at a store, so that what leaves at
	// the other end does not count again.
	stores    bool
	announced map[digest.Digest]bool
}

func newMeter(p *transfer) *meter { return &meter{progress: p, announced: map[digest.Digest]bool{}} }

func (m *meter) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = true
}

// store counts what is read from a store.
func (m *meter) store(behind oci.Store) oci.Store { return &meteredStore{Store: behind, meter: m} }

// target counts what is written to a target.
func (m *meter) target(behind oci.Target) oci.Target {
	return &meteredTarget{Target: behind, meter: m}
}

// stream hands on a content until the end or the end of the context, and counts
// it unless that was done where it comes from.
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
	meter *meter
}

// Push implements oci.Target.
func (t *meteredTarget) Push(ctx context.Context, repository string, content ocispec.Descriptor, data io.Reader) error {
	if content.Size < 1<<20 {
		return t.Target.Push(ctx, repository, content, data)
	}
	t.meter.progress.begin("writing " + content.Digest.Encoded()[:12])
	t.meter.progress.expect(content.Size)
	defer t.meter.progress.end()
	return t.Target.Push(ctx, repository, content, &meteredReader{ctx: ctx, from: data, count: t.meter.progress.add})
}

type readCloser struct {
	io.Reader
	io.Closer
}

// meteredReader counts what goes through it and ends with the context.
type meteredReader struct {
	ctx   context.Context //nolint:containedctx // lives as long as the read
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
