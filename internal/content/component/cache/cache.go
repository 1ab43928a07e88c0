// Package cache keeps immutable content in memory, by its digest. Content is
// shared between tenants, but a tenant gets it only after the registry has delivered
// it from a repository, and has accepted the tenant's credentials for the same one.
package cache

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// Defaults.
const (
	DefaultBytes    = 256 << 20
	DefaultValidity = time.Minute
)

// maxAnswers bounds how many answers of registries are remembered.
const maxAnswers = 100_000

// maxJobs bounds how many jobs are remembered.
const maxJobs = 20_000

// maxPlaces bounds how many repositories of a content are remembered.
const maxPlaces = 1000

// entryOverhead is what an entry costs beside its content, roughly.
const entryOverhead = 512

// Cache holds content. It is shared by all tenants.
type Cache struct {
	max      int64
	validity time.Duration
	now      func() time.Time
	turns    turns

	mu      sync.Mutex
	used    int64
	order   *list.List // of *content, the last used first
	content map[digest.Digest]*list.Element
	// answers of registries to a tenant.
	tags     map[tagKey]answer
	accepted map[place]time.Time
	// events counts beginnings of jobs and requests, in their order; jobs has when a job asked first.
	// A count orders two events of one instant, which a clock does not.
	events uint64
	jobs   map[jobKey]uint64
	// last is what tags have led to, for all tenants.
	last map[tag]digest.Digest
}

// tag is a name in a repository.
type tag struct{ repository, reference string }

type content struct {
	digest digest.Digest
	data   []byte
	// in are the repositories that have delivered the content.
	in map[string]bool
}

// place is a repository as a tenant sees it.
type place struct{ tenant, repository string }

type tagKey struct {
	place
	reference string
}

// jobKey is a job of a tenant.
type jobKey struct{ tenant, job string }

type answer struct {
	manifest ocispec.Descriptor
	until    time.Time
	// asked is the event of the request.
	asked uint64
	// validator is what a server calls the state of a document.
	validator string
}

// New returns a cache of at most max bytes. After the validity the registry is asked again for what
// it said to a tenant.
func New(max int64, validity time.Duration, now func() time.Time) *Cache {
	return &Cache{
		max: max, validity: validity, now: now, order: list.New(),
		content: map[digest.Digest]*list.Element{}, tags: map[tagKey]answer{}, accepted: map[place]time.Time{},
		last: map[tag]digest.Digest{}, jobs: map[jobKey]uint64{},
	}
}

// Used returns how many bytes the cache holds.
func (c *Cache) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Asker is on whose behalf a server is asked.
type Asker struct {
	// Tenant stands for a namespace together with its credentials: other credentials
	// are another tenant.
	Tenant string
	// Job is the job that needs the answer. Names are resolved anew for each job, since the content
	// may have been published again under its name before the job. Without a job, an answer counts for
	// the time of the validity.
	Job string
}

// Store returns a store that asks the cache first. The registry names the store
// behind it.
func (c *Cache) Store(behind oci.Store, registry string, by Asker) oci.Store {
	if c == nil {
		return behind
	}
	return &store{cache: c, behind: behind, registry: registry, by: by}
}

type store struct {
	cache    *Cache
	behind   oci.Store
	registry string
	by       Asker
}

func (s *store) place(repository string) place {
	return place{tenant: s.by.Tenant, repository: short(s.registry + "/" + repository)}
}

// maxKey is how long a part of a key, or of an answer, may be that is kept as it is.
const maxKey = 256

// short returns a text, or the digest of a long one: users write repositories, tags and addresses, and
// as many are remembered as there are short ones.
func short(text string) string {
	if len(text) <= maxKey {
		return text
	}
	// No name of a registry has a space.
	return "digest " + digest.FromString(text).String()
}

// Resolve implements oci.Store.
func (s *store) Resolve(ctx context.Context, repository, reference string) (ocispec.Descriptor, error) {
	at := s.place(repository)
	key, began := tagKey{place: at, reference: short(reference)}, uint64(0)
	if digest.Digest(reference).Validate() != nil {
		// A tag may be moved; a digest stands for one content.
		began = s.cache.began(s.by)
	}
	if manifest, known := s.cache.tag(key, began); known {
		return manifest, nil
	}
	var manifest ocispec.Descriptor
	err := s.cache.turns.do(ctx, fmt.Sprint(key), func() (err error) {
		var known bool
		if manifest, known = s.cache.tag(key, began); known {
			return nil
		}
		asked := s.cache.event()
		if manifest, err = s.resolve(ctx, key, repository, reference); err == nil {
			s.cache.remember(key, answer{manifest: manifest, asked: asked})
		}
		return err
	})
	return manifest, err
}

// resolve asks for the whole manifest if it is probably not cached yet, and otherwise only for its
// digest.
func (s *store) resolve(ctx context.Context, key tagKey, repository, reference string) (ocispec.Descriptor, error) {
	fetcher, can := s.behind.(oci.Fetcher)
	if !can || s.cache.seen(key.repository, key.reference) {
		return s.behind.Resolve(ctx, repository, reference) // the store says what it did
	}
	manifest, raw, err := fetcher.Fetch(ctx, repository, reference)
	if err != nil {
		return ocispec.Descriptor{}, err // the store says what it did
	}
	s.cache.put(key.place, manifest.Digest, raw)
	s.cache.note(key.repository, key.reference, manifest.Digest)
	return manifest, nil
}

// seen reports whether a tag has led any caller to a content that is still cached. The answer is a
// guess that saves bytes; it gives no access.
func (c *Cache) seen(repository, reference string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, exists := c.content[c.last[tag{repository, reference}]]
	return exists && element.Value.(*content).in[repository]
}

func (c *Cache) note(repository, reference string, d digest.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) >= maxAnswers {
		clear(c.last)
	}
	c.last[tag{repository, reference}] = d
}

// Open implements oci.Store.
func (s *store) Open(ctx context.Context, repository string, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	at := s.place(repository)
	if data, found := s.cache.get(at, wanted.Digest); found {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	if wanted.Size > s.cache.largest() {
		return s.behind.Open(ctx, repository, wanted) // the store says what it did
	}
	var content io.ReadCloser
	err := s.cache.turns.do(ctx, fmt.Sprint(at, wanted.Digest), func() (err error) {
		if data, found := s.cache.get(at, wanted.Digest); found {
			content = io.NopCloser(bytes.NewReader(data))
			return nil
		}
		content, err = s.fetch(ctx, repository, wanted)
		return err
	})
	return content, err
}

// fetch reads a content of moderate size and keeps it. A content of unknown size that turns out to
// be large is passed without being kept.
func (s *store) fetch(ctx context.Context, repository string, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	reader, err := s.behind.Open(ctx, repository, wanted)
	if err != nil {
		return nil, err // the store says what it did
	}
	start, err := io.ReadAll(io.LimitReader(reader, s.cache.largest()+1))
	if err == nil && int64(len(start)) > s.cache.largest() {
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(start), reader), reader}, nil
	}
	_ = reader.Close()
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", wanted.Digest, repository, err)
	}
	s.cache.put(s.place(repository), wanted.Digest, start)
	return io.NopCloser(bytes.NewReader(start)), nil
}

// largest is the size of the largest content that is kept.
func (c *Cache) largest() int64 { return min(c.max/4, archive.DefaultLimits().Bytes) }

// tag returns what a registry said a tag stands for, unless that is too long ago or was
// before a job began.
func (c *Cache) tag(key tagKey, began uint64) (ocispec.Descriptor, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, exists := c.tags[key]
	return known.manifest, exists && known.asked >= began && c.now().Before(known.until)
}

// event counts a request. It is counted before the request is sent.
func (c *Cache) event() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events++
	return c.events
}

// began returns when a job asked first in this process; 0 without a job. A job that was dropped
// begins anew, which costs a request and never gives an older answer.
func (c *Cache) began(by Asker) uint64 {
	if by.Job == "" {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := jobKey{tenant: by.Tenant, job: by.Job}
	if began, known := c.jobs[key]; known {
		return began
	}
	if len(c.jobs) >= maxJobs {
		clear(c.jobs)
	}
	c.events++
	c.jobs[key] = c.events
	return c.events
}

// remember notes what a registry said to a tenant. The answer does not prove where a content is: a
// registry may claim any digest, and has to deliver the content.
func (c *Cache) remember(key tagKey, said answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said.until = c.now().Add(c.validity)
	c.forgetOld()
	c.accepted[key.place] = said.until
	if len(said.manifest.MediaType)+len(said.manifest.ArtifactType)+len(said.manifest.Digest) > maxKey {
		// The registry is asked again.
		delete(c.tags, key)
		return
	}
	// What nothing needs may be of any length.
	said.manifest.URLs, said.manifest.Annotations, said.manifest.Data, said.manifest.Platform = nil, nil, nil, nil
	if len(said.validator) > maxKey {
		said.validator = ""
	}
	c.tags[key] = said
}

// forgetOld keeps the answers bounded.
func (c *Cache) forgetOld() {
	if len(c.tags)+len(c.accepted) < maxAnswers {
		return
	}
	now := c.now()
	for key, known := range c.tags {
		if !now.Before(known.until) {
			delete(c.tags, key)
		}
	}
	for at, until := range c.accepted {
		if !now.Before(until) {
			delete(c.accepted, at)
		}
	}
	if len(c.tags)+len(c.accepted) >= maxAnswers {
		clear(c.tags)
		clear(c.accepted)
	}
}

// get returns a content if the tenant may have it.
func (c *Cache) get(at place, d digest.Digest) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, exists := c.content[d]
	if !exists || !c.now().Before(c.accepted[at]) {
		return nil, false
	}
	found := element.Value.(*content)
	if !found.in[at.repository] {
		return nil, false
	}
	c.order.MoveToFront(element)
	return found.data, true
}

// put keeps a content that a registry has just given to a tenant.
func (c *Cache) put(at place, d digest.Digest, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOld()
	c.accepted[at] = c.now().Add(c.validity)
	if element, exists := c.content[d]; exists {
		known := element.Value.(*content)
		if len(known.in) >= maxPlaces {
			clear(known.in)
		}
		known.in[at.repository] = true
		c.order.MoveToFront(element)
		return
	}
	c.content[d] = c.order.PushFront(&content{digest: d, data: data, in: map[string]bool{at.repository: true}})
	c.used += int64(len(data)) + entryOverhead
	for c.used > c.max {
		last := c.order.Back()
		old := last.Value.(*content)
		c.order.Remove(last)
		delete(c.content, old.digest)
		c.used -= int64(len(old.data)) + entryOverhead
	}
}
