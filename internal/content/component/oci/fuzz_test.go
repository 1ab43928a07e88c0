package oci

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

// one is a store with one content.
type one []byte

func (o one) Resolve(context.Context, string, string) (ocispec.Descriptor, error) {
	return ocispec.Descriptor{}, ErrNotFound
}

func (o one) Open(_ context.Context, _ string, content ocispec.Descriptor) (io.ReadCloser, error) {
	return Verified(io.NopCloser(bytes.NewReader(o)), content)
}

// FuzzManifest reads manifests and indexes. What was read names nothing that could
// lead out of a store.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"mediaType":"a","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"layers":[]}`), false)
	f.Add([]byte(`{"manifests":[{"digest":"sha256:../../etc/passwd","size":-1}]}`), true)
	f.Fuzz(func(t *testing.T, data []byte, index bool) {
		at := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if index {
			at.MediaType = ocispec.MediaTypeImageIndex
		}
		manifest, err := ReadManifest(t.Context(), one(data), "r", at)
		if err != nil {
			return
		}
		for _, d := range append(manifest.Manifests, manifest.Layers...) {
			if d.Digest.Validate() != nil || d.Size < 0 {
				t.Errorf("%+v", d)
			}
		}
	})
}

// FuzzSet reads artifact sets in both ways. What both accept is the same artifact.
func FuzzSet(f *testing.F) {
	manifest := []byte(`{"schemaVersion":2}`)
	d := digest.FromBytes(manifest)
	var packed bytes.Buffer
	if err := archive.Pack(&packed,
		archive.File{Path: artifactSetDescriptor, Data: []byte(`{"manifests":[{"mediaType":"` + ocispec.MediaTypeImageManifest + `","digest":"` + d.String() + `","size":19}]}`)},
		archive.File{Path: BlobPath(d), Data: manifest}); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := archive.Limits{Bytes: 1 << 20, Files: 100, Ratio: 100, Depth: 4}
		set, err := ReadSet(bytes.NewReader(data), limits)
		found, digestErr := SetDigest(bytes.NewReader(data))
		if err == nil && digestErr == nil && set.Main.Digest != found {
			t.Errorf("%s and %s", set.Main.Digest, found)
		}
	})
}
