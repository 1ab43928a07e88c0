package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/oci"
)

// counting is a store with repositories of contents; some tenants are refused.
type counting struct {
	content  map[string][]byte // repository/digest
	tags     map[string]digest.Digest
	refuse   bool
	requests atomic.Int64
}

var errRefused = errors.New("refused")

func (s *counting) Resolve(_ context.Context, repository, reference string) (ocispec.Descriptor, error) {
	s.requests.Add(1)
	if s.refuse {
		return ocispec.Descriptor{}, errRefused
	}
	d := s.tags[repository+":"+reference]
	return ocispec.Descriptor{Digest: d, Size: int64(len(s.content[repository+"/"+string(d)]))}, nil
}

func (s *counting) Open(_ context.Context, repository string, content ocispec.Descriptor) (io.ReadCloser, error) {
	s.requests.Add(1)
	data, exists := s.content[repository+"/"+string(content.Digest)]
	if s.refuse || !exists {
		return nil, errRefused
	}
	return oci.Verified(io.NopCloser(bytes.NewReader(data)), content)
}

func newStore(repository, tag string, data []byte) (*counting, ocispec.Descriptor) {
	d := digest.FromBytes(data)
	return &counting{
		content: map[string][]byte{repository + "/" + string(d): data},
		tags:    map[string]digest.Digest{repository + ":" + tag: d},
	}, ocispec.Descriptor{Digest: d, Size: int64(len(data))}
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func read(t *testing.T, store oci.Store, repository string, d ocispec.Descriptor) ([]byte, error) {
	t.Helper()
	return oci.Read(t.Context(), store, repository, d, 1<<20)
}

func TestContentIsSharedOnlyAfterAcceptance(t *testing.T) {
	data := []byte("secret blueprint")
	behind, d := newStore("private", "1", data)
	now := &clock{time.Unix(1000, 0)}
	cache := New(1<<20, time.Minute, now.now)
	first := cache.Store(behind, "r", Asker{Tenant: "a"})
	if _, err := first.Resolve(t.Context(), "private", "1"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, first, "private", d); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("got %q, %v", got, err)
	}

	refused := &counting{refuse: true}
	if _, err := read(t, cache.Store(refused, "r", Asker{Tenant: "b"}), "private", d); !errors.Is(err, errRefused) {
		t.Errorf("another tenant whose credentials were not accepted got the content: %v", err)
	}
	// The tenant is accepted, but in a repository of its own that merely names the
	// digest.
	own, ownContent := newStore("own", "1", []byte("mine"))
	stranger := cache.Store(own, "r", Asker{Tenant: "b"})
	if _, err := read(t, stranger, "own", ownContent); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, stranger, "own", d); !errors.Is(err, errRefused) {
		t.Errorf("knowing a digest must not be enough: %v", err)
	}
	// The same digest in another registry is another place.
	if _, err := read(t, cache.Store(refused, "s", Asker{Tenant: "a"}), "private", d); !errors.Is(err, errRefused) {
		t.Errorf("content came from another registry: %v", err)
	}

	accepted := &counting{content: behind.content, tags: behind.tags}
	second := cache.Store(accepted, "r", Asker{Tenant: "c"})
	if _, err := second.Resolve(t.Context(), "private", "1"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, second, "private", d); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %q, %v", got, err)
	}
	if got := accepted.requests.Load(); got != 1 {
		t.Errorf("an accepted tenant made %d requests, want only the check", got)
	}
	now.at = now.at.Add(2 * time.Minute)
	behind.refuse = true
	if _, err := read(t, first, "private", d); !errors.Is(err, errRefused) {
		t.Errorf("after the period the registry must be asked again: %v", err)
	}
}

// TestClaimsAreNoDelivery: a registry that claims to have a content without delivering it gives no
// tenant the content of another one.
func TestClaimsAreNoDelivery(t *testing.T) {
	data := []byte("secret blueprint")
	behind, d := newStore("private", "1", data)
	cache := New(1<<20, time.Minute, time.Now)
	if _, err := read(t, cache.Store(behind, "good", Asker{Tenant: "victim"}), "private", d); err != nil {
		t.Fatal(err)
	}
	liar := &counting{content: map[string][]byte{}, tags: map[string]digest.Digest{"own:1": d.Digest}}
	attacker := cache.Store(liar, "evil", Asker{Tenant: "attacker"})
	if claimed, err := attacker.Resolve(t.Context(), "own", "1"); err != nil || claimed.Digest != d.Digest {
		t.Fatalf("%v, %v", claimed, err)
	}
	if got, err := read(t, attacker, "own", d); !errors.Is(err, errRefused) {
		t.Errorf("got %q, %v", got, err)
	}
	if got := liar.requests.Load(); got != 2 {
		t.Errorf("%d requests: the registry itself must be asked for the content", got)
	}
}

// TestPlacesAreBounded: a content can be in any number of repositories.
func TestPlacesAreBounded(t *testing.T) {
	data := []byte("content")
	cache := New(1<<20, time.Minute, time.Now)
	d := digest.FromBytes(data)
	for i := range 3 * maxPlaces {
		cache.put(place{"t", fmt.Sprint(i)}, d, data)
	}
	if in := cache.content[d].Value.(*content).in; len(in) > maxPlaces {
		t.Errorf("%d repositories are remembered", len(in))
	}
}

func TestMovedTagIsSeenAfterThePeriod(t *testing.T) {
	behind, old := newStore("repo", "1", []byte("old"))
	now := &clock{time.Unix(1000, 0)}
	store := New(1<<20, time.Minute, now.now).Store(behind, "r", Asker{Tenant: "a"})
	resolve := func() digest.Digest {
		manifest, err := store.Resolve(t.Context(), "repo", "1")
		if err != nil {
			t.Fatal(err)
		}
		return manifest.Digest
	}
	if got := resolve(); got != old.Digest {
		t.Fatalf("got %s", got)
	}
	moved := digest.FromString("new")
	behind.tags["repo:1"] = moved
	if got := resolve(); got != old.Digest {
		t.Errorf("within the period the tag is not asked again, got %s", got)
	}
	now.at = now.at.Add(time.Minute)
	if got := resolve(); got != moved {
		t.Errorf("after the period the tag was not asked again, got %s", got)
	}
}

// TestTagOfAJob: a tag may have been moved before a job, so that each job asks, once. What a
// digest stands for stays.
func TestTagOfAJob(t *testing.T) {
	behind, old := newStore("repo", "1", []byte("old"))
	behind.tags["repo:"+string(old.Digest)] = old.Digest
	cache := New(1<<20, time.Minute, (&clock{time.Unix(1000, 0)}).now)
	resolve := func(job, reference string, want digest.Digest, requests int64) {
		t.Helper()
		got, err := cache.Store(behind, "r", Asker{Tenant: "a", Job: job}).Resolve(t.Context(), "repo", reference)
		if err != nil || got.Digest != want || behind.requests.Load() != requests {
			t.Errorf("%s of %s is %s, %v after %d requests, want %s after %d", reference, job, got.Digest, err, behind.requests.Load(), want, requests)
		}
	}
	resolve("job-1", "1", old.Digest, 1)
	resolve("job-1", "1", old.Digest, 1)
	moved := digest.FromString("new")
	behind.tags["repo:1"] = moved
	resolve("job-1", "1", old.Digest, 1)
	resolve("job-2", "1", moved, 2)
	resolve("job-2", "1", moved, 2)
	resolve("job-1", "1", moved, 2)
	resolve("job-2", string(old.Digest), old.Digest, 3)
	resolve("job-3", string(old.Digest), old.Digest, 3)
	for i := range 3 * maxJobs {
		cache.began(Asker{Tenant: "a", Job: fmt.Sprint(i)})
	}
	if len(cache.jobs) > maxJobs {
		t.Errorf("%d jobs are remembered", len(cache.jobs))
	}
}

func TestBytesAreBounded(t *testing.T) {
	const max = 64 << 10
	cache := New(max, time.Minute, time.Now)
	for i := range 100 {
		behind, d := newStore("repo", "1", bytes.Repeat([]byte{byte(i)}, 4<<10))
		if _, err := read(t, cache.Store(behind, "r", Asker{Tenant: "a"}), "repo", d); err != nil {
			t.Fatal(err)
		}
		if used := cache.Used(); used > max {
			t.Fatalf("after %d contents the cache holds %d bytes, at most %d are allowed", i+1, used, max)
		}
	}
	before := cache.Used()
	for _, size := range []int64{max / 2, -1} {
		behind, d := newStore("repo", "1", bytes.Repeat([]byte("x"), max/2))
		d.Size = size
		if got, err := read(t, cache.Store(behind, "r", Asker{Tenant: "a"}), "repo", d); err != nil || len(got) != max/2 {
			t.Errorf("a large content (announced as %d) is passed: %d bytes, %v", size, len(got), err)
		}
	}
	if used := cache.Used(); used != before {
		t.Errorf("a large content was kept: %d bytes, before %d", used, before)
	}
}

func TestWrongContentIsNotKept(t *testing.T) {
	behind, d := newStore("repo", "1", []byte("right"))
	behind.content["repo/"+string(d.Digest)] = []byte("wrong")
	cache := New(1<<20, time.Minute, time.Now)
	store := cache.Store(behind, "r", Asker{Tenant: "a"})
	for range 2 {
		if _, err := read(t, store, "repo", d); !errors.Is(err, oci.ErrDigest) {
			t.Errorf("got %v", err)
		}
	}
	if cache.Used() != 0 {
		t.Error("a content with a wrong digest was kept")
	}
}

func TestManyAskAtOnce(t *testing.T) {
	behind, d := newStore("repo", "1", []byte("content"))
	store := New(1<<20, time.Minute, time.Now).Store(behind, "r", Asker{Tenant: "a"})
	var group sync.WaitGroup
	errs := make(chan error, 200)
	for range 100 {
		group.Go(func() {
			_, err := store.Resolve(context.Background(), "repo", "1")
			errs <- err
			_, err = oci.Read(context.Background(), store, "repo", d, 100)
			errs <- err
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := behind.requests.Load(); got != 2 {
		t.Errorf("a hundred at once made %d requests, want 2", got)
	}
}

func BenchmarkResolveAndRead(b *testing.B) {
	behind, d := newStore("repo", "1", []byte("content"))
	store := New(1<<20, time.Hour, time.Now).Store(behind, "r", Asker{Tenant: "a"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Resolve(b.Context(), "repo", "1"); err != nil {
			b.Fatal(err)
		}
		if _, err := oci.Read(b.Context(), store, "repo", d, 100); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(behind.requests.Load()), "requests")
	if behind.requests.Load() > 2 {
		b.Error(fmt.Errorf("%d requests", behind.requests.Load()))
	}
}

// TestLongKeys: users write the names of repositories and tags, and registries what they answer; as many
// as are remembered must not be as long as they like.
func TestLongKeys(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	c := New(1<<20, time.Minute, time.Now)
	behind := &counting{tags: map[string]digest.Digest{}, content: map[string][]byte{}}
	for i := range 20 {
		repository, tag := fmt.Sprintf("%s%d", long, i), fmt.Sprintf("%s-%d", long, i)
		data := fmt.Appendf(nil, "content %d", i)
		d := digest.FromBytes(data)
		behind.tags[repository+":"+tag], behind.content[repository+"/"+string(d)] = d, data
		s := c.Store(behind, "registry", Asker{Tenant: "a"})
		for range 2 {
			found, err := s.Resolve(t.Context(), repository, tag)
			if err != nil || found.Digest != d {
				t.Fatal(found.Digest, err)
			}
		}
		_, err := c.Document(t.Context(), Asker{Tenant: "a"}, Wanted{Address: repository}, func(context.Context, string) (Document, error) {
			return Document{Data: data, Validator: long}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := behind.requests.Load(); got != 20 {
		t.Errorf("%d requests, want one for each tag", got)
	}
	kept := 0
	for key, said := range c.tags {
		kept += len(key.tenant) + len(key.repository) + len(key.reference) + len(said.validator)
	}
	for key := range c.last {
		kept += len(key.repository) + len(key.reference)
	}
	for at := range c.accepted {
		kept += len(at.repository)
	}
	if kept > 100_000 {
		t.Errorf("the keys have %d bytes", kept)
	}
}
