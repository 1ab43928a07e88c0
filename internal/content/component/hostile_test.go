package component

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

// hostile is a registry whose content is an archive, and that lies.
type hostile struct {
	*httptest.Server
	content *ctf.Writer
	mu      sync.Mutex
	// change is asked before a blob or manifest is sent.
	change   func(d digest.Digest, data []byte) []byte
	requests int
}

func newHostile(t testing.TB) *hostile {
	t.Helper()
	content, err := ctf.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{content: content}
	h.Server = httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		_ = content.Close()
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests++
	name, reference, isManifest := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
	at := ocispec.Descriptor{Size: -1}
	if isManifest {
		found, err := h.content.Resolve(r.Context(), name, reference)
		if err != nil && strings.HasPrefix(reference, "sha256:") {
			found, err = ocispec.Descriptor{Digest: digest.Digest(reference), MediaType: ocispec.MediaTypeImageManifest, Size: -1}, nil
		}
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		at = found
	} else {
		_, reference, _ = strings.Cut(r.URL.Path, "/blobs/")
		at.Digest, at.MediaType = digest.Digest(reference), "application/octet-stream"
	}
	data, err := oci.Read(r.Context(), h.content, name, at, 1<<20)
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if h.change != nil {
		data = h.change(at.Digest, data)
	}
	w.Header().Set("Content-Type", at.MediaType)
	w.Header().Set("Docker-Content-Digest", at.Digest.String())
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
}

func (h *hostile) context() descriptor.Typed {
	return descriptor.Typed(`{"type":"OCIRegistry","baseUrl":"` + h.URL + `"}`)
}

// publish puts a component into the registry.
func (h *hostile) publish(t testing.TB, text string) {
	t.Helper()
	parsed, err := publish.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := publish.Publish(t.Context(), parsed, publish.Options{Target: h.content, Context: h.context(), Overwrite: true}); err != nil {
		t.Fatal(err)
	}
}

// image gives a tag to an image with one layer.
func (h *hostile) image(t testing.TB, tag, layer string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	push := func(mediaType, text string) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromString(text), Size: int64(len(text))}
		if err := h.content.Push(t.Context(), "img", d, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	config, content := push("application/vnd.oci.image.config.v1+json", "{}"), push("application/octet-stream", layer)
	manifest := push(ocispec.MediaTypeImageManifest, fmt.Sprintf(
		`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":2},"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`,
		ocispec.MediaTypeImageManifest, config.MediaType, config.Digest, content.MediaType, content.Digest, content.Size))
	if err := h.content.Tag(t.Context(), "img", manifest, tag); err != nil {
		t.Fatal(err)
	}
}

func (h *hostile) session(shared *Shared) *Session {
	return NewSession(shared, Options{Tenant: "shop", Registry: registry.Options{}, Default: h.context()})
}

const hostileText = `{name: example.org/shop/web, version: 1.0.0, provider: {name: p}, resources: [{name: text, type: t, input: {type: utf8, text: hello}}, {name: img, type: ociImage, version: 1.0.0, access: {type: ociArtifact, imageReference: "URL/img:1"}}]}`

var web = Reference{Name: "example.org/shop/web", Version: "1.0.0"}

// TestWrongDigests: each part of a component version is replaced by something of
// the same size.
func TestWrongDigests(t *testing.T) {
	h := newHostile(t)
	h.image(t, "1", "layer")
	h.publish(t, strings.ReplaceAll(hostileText, "URL", h.URL))
	for _, part := range []struct{ reason, contains string }{
		{"the manifest", `"software.ocm.componentversion"`},
		{"the config", `{"componentDescriptorLayer":`},
		{"the descriptor", "schemaVersion: v2"},
		{"a content", "hello"},
		{"the manifest of an image", `"digest":"` + digest.FromString("layer").String()},
		{"the layer of an image", "layer"},
	} {
		t.Run(part.reason, func(t *testing.T) {
			touched := false
			h.change = func(_ digest.Digest, data []byte) []byte {
				whole := string(data) == part.contains || (len(part.contains) > 10 && bytes.Contains(data, []byte(part.contains)))
				if !whole {
					return data
				}
				touched = true
				return bytes.Replace(data, data[:1], []byte("#"), 1)
			}
			session := h.session(NewSharedWith(egress.Policy{AllowLoopback: true}))
			version, err := session.Resolve(t.Context(), web)
			for i := 0; err == nil && i < len(version.Resources); i++ {
				_, _, err = session.Reader().Read(t.Context(), version, &version.Resources[i], 1<<20)
			}
			if !touched || !errors.Is(err, oci.ErrDigest) && (err == nil || !strings.Contains(err.Error(), "digest")) || errors.Is(err, oci.ErrNotFound) {
				t.Errorf("%s was replaced (%t): got %v", part.reason, touched, err)
			}
		})
	}
}

// signed returns the digest of a component version as its signature.
func signed(t *testing.T, s *Session, version *repository.Version) (descriptor.Signature, signature.Trust) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	verifier := signature.Verifier{Digest: s.Reader().Digest, Referenced: func(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
		return s.resolve(ctx, Reference{Context: from.Context, Name: reference.ComponentName, Version: reference.Version})
	}}
	taken, err := verifier.DescriptorDigest(t.Context(), version, "SHA-256", signature.JSONv3)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := access.Hash(taken.HashAlgorithm)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := hex.DecodeString(taken.Value)
	if err != nil {
		t.Fatal(err)
	}
	value, err := rsa.SignPKCS1v15(rand.Reader, key, hash, sum)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return descriptor.Signature{Name: "release", Digest: *taken, Signature: descriptor.SignatureValue{
		Algorithm: signature.AlgorithmPKCS1, MediaType: "application/vnd.ocm.signature.rsa", Value: hex.EncodeToString(value),
	}}, signature.Trust{PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})}
}

// TestSwappedTags: after the verification the registry moves the tags of the
// component and of its image.
func TestSwappedTags(t *testing.T) {
	h := newHostile(t)
	h.image(t, "1", "verified layer")
	h.publish(t, strings.ReplaceAll(hostileText, "URL", h.URL))
	shared := NewSharedWith(egress.Policy{AllowLoopback: true})
	// The tags are asked again at once.
	shared.Cache = nil
	session := h.session(shared)
	version, err := session.Resolve(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	release, trust := signed(t, session, version)
	version.Signatures = []descriptor.Signature{release}
	if err := session.Verify(t.Context(), version, "release", trust); err != nil {
		t.Fatal(err)
	}
	h.image(t, "1", "another layer")
	h.publish(t, strings.NewReplacer("URL", h.URL, "hello", "other").Replace(hostileText))

	again, err := session.Resolve(t.Context(), web)
	if err != nil || again != version {
		t.Errorf("what was verified is not what is used: %+v, %v", again, err)
	}
	data, _, err := session.Reader().Read(t.Context(), again, &again.Resources[0], 100)
	if err != nil || string(data) != "hello" {
		t.Errorf("the content is %q, %v", data, err)
	}
	if _, _, err := session.Reader().Read(t.Context(), again, &again.Resources[1], 1<<20); !errors.Is(err, oci.ErrDigest) {
		t.Errorf("an image whose tag was moved: %v", err)
	}
	moved, err := h.session(shared).Resolve(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	moved.Signatures = []descriptor.Signature{release}
	if err := session.Verify(t.Context(), moved, "release", trust); err == nil || !strings.Contains(err.Error(), "does not match found digest") {
		t.Errorf("the signature of the other version: %v", err)
	}
}

// TestLimitOfAProcess: a process that serves many has a limit for contents; a
// command line has none.
func TestLimitOfAProcess(t *testing.T) {
	h := newHostile(t)
	h.image(t, "1", "layer")
	h.publish(t, strings.ReplaceAll(hostileText, "URL", h.URL))
	read := func(limit int64) error {
		shared := NewSharedWith(egress.Policy{AllowLoopback: true})
		shared.MaxContent = limit
		session := h.session(shared)
		version, err := session.Resolve(t.Context(), web)
		if err != nil {
			return err
		}
		_, _, err = session.Reader().Read(t.Context(), version, &version.Resources[0], 1<<20)
		return err
	}
	var large *archive.TooLargeError
	if err := read(4); !errors.As(err, &large) {
		t.Errorf("more than the limit: %v", err)
	}
	if err := errors.Join(read(5), read(0)); err != nil {
		t.Errorf("not more than the limit: %v", err)
	}
	if NewShared().MaxContent != DefaultMaxContent {
		t.Error("a process that serves many has no limit")
	}
}

// BenchmarkResolve resolves one component version as jobs do, each with a session
// of its own, and counts the requests that reach the registry.
func BenchmarkResolve(b *testing.B) {
	h := newHostile(b)
	h.image(b, "1", "layer")
	h.publish(b, strings.ReplaceAll(hostileText, "URL", h.URL))
	shared := NewSharedWith(egress.Policy{AllowLoopback: true})
	resolve := func() {
		session := h.session(shared)
		if _, err := session.Resolve(context.Background(), web); err != nil {
			b.Fatal(err)
		}
		if err := session.Close(); err != nil {
			b.Fatal(err)
		}
	}
	resolve()
	h.requests = 0
	b.ReportAllocs()
	rounds := 0
	for b.Loop() {
		for range 1000 {
			resolve()
		}
		rounds++
	}
	b.ReportMetric(float64(h.requests)/float64(rounds), "requests/op")
	// One check for each period that has begun since the first resolve.
	periods := int(b.Elapsed()/cache.DefaultValidity) + 1
	if h.requests > periods {
		b.Errorf("%d requests in %d periods: resolving again must cost no more than one check for each", h.requests, periods)
	}
}
