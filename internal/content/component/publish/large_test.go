package publish

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// noisy is an image with one large layer, which is not held anywhere.
type noisy struct {
	oci.Store
	layer ocispec.Descriptor
}

func (z noisy) Open(ctx context.Context, name string, content ocispec.Descriptor) (io.ReadCloser, error) {
	if content.Digest == z.layer.Digest {
		return oci.Verified(io.NopCloser(noise(z.layer.Size)), content)
	}
	return z.Store.Open(ctx, name, content)
}

// noise cannot be compressed.
func noise(size int64) io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{}), size) }

// noisyImage is an image with one layer of that size.
func noisyImage(t *testing.T, size int64) (noisy, ocispec.Descriptor) {
	t.Helper()
	sum, err := digest.SHA256.FromReader(noise(size))
	if err != nil {
		t.Fatal(err)
	}
	store, err := ctf.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	large := noisy{Store: store, layer: ocispec.Descriptor{MediaType: "application/octet-stream", Digest: sum, Size: size}}
	raw, err := json.Marshal(ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Layers: []ocispec.Descriptor{large.layer}})
	if err != nil {
		t.Fatal(err)
	}
	at := describe(ocispec.MediaTypeImageManifest, raw)
	if err := store.Push(t.Context(), "img/x", at, strings.NewReader(string(raw))); err != nil {
		t.Fatal(err)
	}
	return large, at
}

// TestLargeContentsStream: what is stored by value does not sit in memory, neither
// with a copy nor when it is published.
func TestLargeContentsStream(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const size, most = 32 << 20, 8 << 20
	large, at := noisyImage(t, size)
	opened := &access.Reader{Registry: func(_, _ string) oci.Store { return renamed{large, at} }}
	spec := repository.Spec{Kind: repository.KindCTF}
	elsewhere, _, _ := published(t, `{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: image, type: ociImage, access: {type: ociArtifact, imageReference: "r.example.org/img/x:1"}}]}`, "", nil)
	for reason, do := range map[string]func() error{
		"copied": func() error {
			_, err := Copy(t.Context(), elsewhere, Copying{Options: Options{Target: newOnce(t), Spec: spec}, Reader: opened, ByValue: true, Parallel: 4})
			return err
		},
		"published": func() error {
			constructor, err := Parse([]byte(`{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: image, type: ociImage, input: {type: ociImage, path: "r.example.org/img/x:1"}}]}`))
			if err != nil {
				return err
			}
			_, err = Publish(t.Context(), constructor, Options{Target: newOnce(t), Spec: spec, Image: func(ctx context.Context, reference string) (*repository.Blob, error) {
				return opened.Open(ctx, nil, descriptor.Typed(`{"type":"ociArtifact","imageReference":"`+reference+`"}`))
			}})
			return err
		},
		"published from a file": func() error {
			path := filepath.Join(t.TempDir(), "large")
			file, err := os.Create(path)
			if err != nil {
				return err
			}
			if _, err := io.Copy(file, noise(size)); err != nil {
				return err
			}
			constructor, err := Parse([]byte(`{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: file, type: t, input: {type: file, path: ` + path + `}}]}`))
			if err != nil {
				return err
			}
			_, err = Publish(t.Context(), constructor, Options{Target: newOnce(t), Spec: spec})
			return errors.Join(err, file.Close())
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > most {
				t.Errorf("%s: %d bytes of memory for a content of %d", reason, used, size)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "landscaper-content-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}
