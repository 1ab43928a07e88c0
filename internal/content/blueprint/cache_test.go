package blueprint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
)

// counted returns a cache that counts how often it unpacks.
func counted(max int64) (*Cache, *atomic.Int64) {
	count := &atomic.Int64{}
	c := NewCache(max)
	load := c.load
	c.load = func(ctx context.Context, p *packed) (*Blueprint, error) {
		count.Add(1)
		return load(ctx, p)
	}
	return c, count
}

func packedTree(t testing.TB, size int64, name string) *packed {
	t.Helper()
	data := tarOf(t, description(), sized(name, size))
	return &packed{data: data, mediaType: "application/x-tar", digest: digest.FromBytes(data)}
}

// TestCacheGivesNothingWithoutCredentials reads a blueprint from a registry that
// asks for a login.
func TestCacheGivesNothingWithoutCredentials(t *testing.T) {
	content := packedTree(t, 1, "a")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case !strings.HasPrefix(user, "shop-") || password != "p":
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v2/blueprints/web/blobs/"+content.digest.String():
			_, _ = w.Write(content.data)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	shared := component.NewSharedWith(egress.Policy{AllowLoopback: true})
	cache, count := counted(1 << 20)
	load := func(user string) error {
		credentials := &credential.Store{}
		if user != "" {
			credentials.AddConsumer(map[string]string{"hostname": host}, credential.Properties{"username": user, "password": "p"})
		}
		session := component.NewSession(shared, component.Options{Tenant: user, Registry: registry.Options{Credentials: credentials, AllowPlainHTTP: true}})
		top, err := descriptor.Decode(fmt.Appendf(nil, `{meta: {schemaVersion: v2}, component: {name: %s, version: 1.0.0, provider: shop, resources: [
		  {name: blueprint, type: blueprint, version: 1.0.0, access: {type: ociBlob, ref: "http://%s/blueprints/web", digest: %q, mediaType: application/x-tar, size: %d}}]}}`, componentOf, host, content.digest, len(content.data)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.SetInline(top, nil); err != nil {
			t.Fatal(err)
		}
		version, resource := resolve(t, session)
		_, err = cache.FromResource(t.Context(), session.Reader(), version, resource)
		return err
	}
	for _, test := range []struct {
		reason, user string
		unpacked     int64
		denied       bool
	}{
		{"no credentials, before the blueprint is in the cache", "", 0, true},
		{"the first with credentials", "shop-a", 1, false},
		{"the first namespace asks again", "shop-a", 1, false},
		{"another namespace with credentials of its own", "shop-b", 1, false},
		{"no credentials, although the blueprint is in the cache", "", 1, true},
		{"wrong credentials, although the blueprint is in the cache", "thief", 1, true},
	} {
		err := load(test.user)
		if errors.Is(err, registry.ErrDenied) != test.denied || (err != nil) != test.denied || count.Load() != test.unpacked {
			t.Errorf("%s: unpacked %d times, want %d (%v)", test.reason, count.Load(), test.unpacked, err)
		}
	}
}

func TestCacheLoadsOnceForAll(t *testing.T) {
	const callers = 50
	content := packedTree(t, 1, "a")
	c, count := counted(1 << 20)
	var come, done sync.WaitGroup
	come.Add(callers)
	load := c.load
	c.load = func(ctx context.Context, p *packed) (*Blueprint, error) {
		// Nothing is in the cache before all have come.
		come.Wait()
		return load(ctx, p)
	}
	for range callers {
		done.Go(func() {
			come.Done()
			if _, err := c.get(t.Context(), content); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if count.Load() != 1 {
		t.Errorf("unpacked %d times", count.Load())
	}
}

func TestCacheIsBounded(t *testing.T) {
	const max = 100_000
	c, count := counted(max)
	get := func(name string, size int64) {
		t.Helper()
		if _, err := c.get(t.Context(), packedTree(t, size, name)); err != nil {
			t.Fatal(err)
		}
		if c.Used() > max || c.Used() < 0 {
			t.Fatalf("the cache holds %d bytes", c.Used())
		}
	}
	for _, step := range []struct {
		reason, name string
		size, count  int64
	}{
		{"first", "a", 20_000, 1}, {"second", "b", 20_000, 2}, {"third", "c", 20_000, 3}, {"fourth", "d", 20_000, 4},
		{"used again, so it is kept longer", "a", 20_000, 4},
		{"drives out the oldest", "e", 20_000, 5},
		{"a is still there", "a", 20_000, 5},
		{"no longer there", "b", 20_000, 6},
		{"too large to be kept", "large", 90_000, 7},
		{"the large one was not kept", "large", 90_000, 8},
		{"the large one has not displaced a", "a", 20_000, 8},
	} {
		get(step.name, step.size)
		if count.Load() != step.count {
			t.Errorf("%s: unpacked %d times, want %d", step.reason, count.Load(), step.count)
		}
	}
}

func TestCacheKeepsNoErrors(t *testing.T) {
	c, count := counted(1 << 20)
	broken := &packed{data: []byte("x"), mediaType: "text/plain", digest: digest.FromString("x")}
	for range 2 {
		if _, err := c.get(t.Context(), broken); !errors.Is(err, ErrNoBlueprint) {
			t.Errorf("got %v", err)
		}
	}
	if count.Load() != 2 || c.Used() != 0 {
		t.Errorf("unpacked %d times, holds %d bytes", count.Load(), c.Used())
	}
}

func TestCallersCannotChangeWhatIsKept(t *testing.T) {
	c, _ := counted(1 << 20)
	content := packedTree(t, 1, "a")
	first, err := c.get(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	first.Info.JSONSchemaVersion = "changed"
	first.Warnings = append(first.Warnings, "changed")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	second, err := c.get(cancelled, content)
	if err != nil || second.Info.JSONSchemaVersion == "changed" || len(second.Warnings) > 0 || second.Digest != content.digest.String() {
		t.Errorf("got %+v, %v", second, err)
	}
}

// TestManyLargeBlueprints: what all jobs have unpacked at the same time is bounded, until no job uses it
// any more; small blueprints never wait.
func TestManyLargeBlueprints(t *testing.T) {
	cache := NewCache(4 << 20)
	cache.budget = &budget{limit: 40 << 20, wait: 300 * time.Millisecond}
	var inUse []*Blueprint
	var refused error
	for i := range 8 {
		loaded, err := cache.get(t.Context(), packedTree(t, 12<<20, fmt.Sprintf("large-%d", i)))
		if refused = err; err != nil {
			break
		}
		inUse = append(inUse, loaded)
	}
	if !component.IsTemporary(refused) || len(inUse) != 3 {
		t.Errorf("%d blueprints of 12 MiB are in use, %v", len(inUse), refused)
	}
	if _, err := cache.get(t.Context(), packedTree(t, 500_000, "small")); err != nil {
		t.Errorf("a small one beside them: %v", err)
	}
	// From here on, no job uses them.
	runtime.KeepAlive(inUse)
	cache.budget.wait = longestWait
	if _, err := cache.get(t.Context(), packedTree(t, 12<<20, "later")); err != nil {
		t.Errorf("when the jobs have ended: %v", err)
	}
	if _, err := cache.get(t.Context(), packedTree(t, maxUnpacked+1, "too large")); err == nil || errors.Is(err, archive.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// TestCacheBytes: a cache is a small part of the heap, and one large blueprint always fits beside it.
func TestCacheBytes(t *testing.T) {
	for heap, want := range map[int64]int64{0: 96 << 20, 4 << 30: 96 << 20, 256 << 20: 32 << 20, 64 << 20: 20 << 20} {
		got := CacheBytes(heap)
		if got != want || 2*got < maxUnpacked {
			t.Errorf("a heap of %d MiB: %d MiB, want %d MiB", heap>>20, got>>20, want>>20)
		}
	}
}
