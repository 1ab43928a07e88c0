package files

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/internal/content/component/oci"
)

// registry is a store in memory. What it hands out is what was put into it, whatever was
// asked for: the digests are checked by the reader.
type registry struct {
	contents map[digest.Digest][]byte
	fails    error
	opened   []string
}

func (r *registry) Resolve(context.Context, string, string) (ocispec.Descriptor, error) {
	return ocispec.Descriptor{}, errors.New("nothing is resolved here")
}

func (r *registry) Open(_ context.Context, _ string, content ocispec.Descriptor) (io.ReadCloser, error) {
	r.opened = append(r.opened, content.MediaType)
	if r.fails != nil {
		return nil, r.fails
	}
	data, found := r.contents[content.Digest]
	if !found {
		return nil, errors.New("there is no such content")
	}
	return oci.Verified(io.NopCloser(bytes.NewReader(data)), content)
}

func (r *registry) put(mediaType string, data []byte) ocispec.Descriptor {
	put := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	r.contents[put.Digest] = data
	return put
}

// manifest puts an artifact with layers.
func (r *registry) manifest(t *testing.T, layers ...ocispec.Descriptor) ocispec.Descriptor {
	t.Helper()
	text, err := json.Marshal(ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	return r.put(ocispec.MediaTypeImageManifest, text)
}

// packed is an archive with one file.
func packed(t *testing.T, name, content string) []byte {
	t.Helper()
	var all bytes.Buffer
	zipped := gzip.NewWriter(&all)
	writer := tar.NewWriter(zipped)
	err := errors.Join(
		writer.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644}),
		func() error { _, err := writer.Write([]byte(content)); return err }(),
		writer.Close(), zipped.Close())
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// TestArtifacts: a registry belongs to another party, and so do its answers.
func TestArtifacts(t *testing.T) {
	const word = "Tr0ubador"
	tests := []struct {
		reason string
		make   func(t *testing.T, r *registry) ocispec.Descriptor
		want   string
		// opened is how often the registry may be asked for a content.
		opened int
	}{
		{"an artifact as Flux makes it", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, r.put(fluxLayer, packed(t, "a.yaml", "a: b")))
		}, "", 2},
		{"a layer that is not an archive is not even read", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, r.put("text/plain", []byte(word)), r.put(fluxLayer, packed(t, "a.yaml", "a: b")))
		}, "", 2},
		{"a single layer of any type", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, r.put("application/x-tar", packed(t, "a.yaml", "a: b")))
		}, "", 2},
		{"several layers of other types", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, r.put("a", []byte("1")), r.put("b", []byte("2")))
		}, "the artifact has 2 layers", 1},
		{"no layer", func(t *testing.T, r *registry) ocispec.Descriptor { return r.manifest(t) }, "the artifact has 0 layers", 1},
		{"an index of several", func(_ *testing.T, r *registry) ocispec.Descriptor {
			return r.put(ocispec.MediaTypeImageIndex, []byte(`{"manifests":[]}`))
		}, "name one of them by its digest", 1},
		{"a manifest that is not valid", func(_ *testing.T, r *registry) ocispec.Descriptor {
			return r.put(ocispec.MediaTypeImageManifest, []byte(word))
		}, "decode manifest", 1},
		{"a manifest that is larger than manifests are", func(_ *testing.T, r *registry) ocispec.Descriptor {
			at := r.put(ocispec.MediaTypeImageManifest, []byte("{}"))
			at.Size = oci.MaxManifest + 1
			return at
		}, "more than the limit", 0},
		{"a layer that says it is larger than may be", func(t *testing.T, r *registry) ocispec.Descriptor {
			layer := r.put(fluxLayer, packed(t, "a.yaml", "a: b"))
			layer.Size = maxPacked + 1
			return r.manifest(t, layer)
		}, "more than the limit", 1},
		{"a layer of another size than it says", func(t *testing.T, r *registry) ocispec.Descriptor {
			layer := r.put(fluxLayer, packed(t, "a.yaml", "a: b"))
			layer.Size++
			return r.manifest(t, layer)
		}, "read sha256:", 2},
		{"a layer of less than nothing", func(t *testing.T, r *registry) ocispec.Descriptor {
			layer := r.put(fluxLayer, packed(t, "a.yaml", "a: b"))
			layer.Size = -1
			return r.manifest(t, layer)
		}, "has the size -1", 1},
		{"a layer that is another one than it was", func(t *testing.T, r *registry) ocispec.Descriptor {
			layer := r.put(fluxLayer, packed(t, "a.yaml", "a: b"))
			r.contents[layer.Digest] = packed(t, "a.yaml", "a: c")
			return r.manifest(t, layer)
		}, "read sha256:", 2},
		{"a digest that leads elsewhere", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, ocispec.Descriptor{MediaType: fluxLayer, Digest: "sha256:../../" + word})
		}, "digest", 1},
		{"a layer that is no archive", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, r.put(fluxLayer, []byte(word)))
		}, "unpack the files", 2},
		{"a layer that leads out", func(t *testing.T, r *registry) ocispec.Descriptor {
			return r.manifest(t, r.put(fluxLayer, packed(t, "../a.yaml", word)))
		}, "leads out of it", 2},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			store := &registry{contents: map[digest.Digest][]byte{}}
			at := test.make(t, store)
			found, err := artifact(t.Context(), store, "acme/web", at)
			if len(store.opened) != test.opened {
				t.Errorf("asked for %q", store.opened)
			}
			if test.want == "" {
				if err != nil || found.Entries() != 1 {
					t.Errorf("%v, %v", found, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), word) && test.reason != "a digest that leads elsewhere" {
				t.Errorf("the content is repeated: %v", err)
			}
		})
	}
}

// TestSilentRegistry: a registry that does not answer is named, and its error can still be
// recognised.
func TestSilentRegistry(t *testing.T) {
	silent := errors.New("the registry does not answer")
	store := &registry{contents: map[digest.Digest][]byte{}, fails: silent}
	if _, err := artifact(t.Context(), store, "acme/web", store.put(ocispec.MediaTypeImageManifest, []byte("{}"))); !errors.Is(err, silent) {
		t.Errorf("%v", err)
	}
}

// TestUnset: the media type decides what is unpacked, not what the content looks like.
func TestUnset(t *testing.T) {
	for _, test := range []struct {
		reason, mediaType string
		data              []byte
		want              string
	}{
		{"an archive", "application/x-tgz", packed(t, "a.yaml", "a: b"), ""},
		{"an archive of no type", "", packed(t, "a.yaml", "a: b"), ""},
		{"an archive that is called an artifact", ocispec.MediaTypeImageManifest + "+tar", packed(t, "a.yaml", "a: b"), "!"},
		{"a text", "text/plain", []byte("Tr0ubador"), "unpack the files"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, err := unset(t.Context(), test.data, test.mediaType)
			if test.want == "" {
				if err != nil || found.Entries() != 1 {
					t.Errorf("%v, %v", found, err)
				}
				return
			}
			if err == nil || test.want != "!" && !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "Tr0ubador") {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestInlineFiles: the names of files are keys of a map that any user may write.
func TestInlineFiles(t *testing.T) {
	many := map[string]string{}
	for i := range limits().Files + 1 {
		many[fmt.Sprintf("f%d.yaml", i)] = ""
	}
	for _, test := range []struct {
		reason string
		files  map[string]string
		want   string
	}{
		{"a file", map[string]string{"base/web.yaml": "a: b"}, ""},
		{"a file without content", map[string]string{"a.yaml": ""}, ""},
		{"separators of another system", map[string]string{`..\..\a.yaml`: ""}, ""},
		{"no name", map[string]string{"": ""}, "a path must lead to a file"},
		{"the source itself", map[string]string{".": ""}, "a path must lead to a file"},
		{"a path above the source", map[string]string{"a/../../b": ""}, "a path must lead to a file"},
		{"a path that is not UTF-8", map[string]string{"\xff": ""}, "a path must lead to a file"},
		{"deep, where directories count as well", map[string]string{strings.Repeat("d/", 100_000) + "a": ""}, "number of files"},
		{"too many", many, "number of files"},
		{"too much", map[string]string{"a": strings.Repeat("x", int(limits().Bytes)+1)}, "number of bytes"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			source := &api.Source{Files: test.files}
			found, err := (&Loader{}).inline(t.Context(), nil, source)
			if test.want == "" {
				if err != nil || found.Entries() == 0 {
					t.Errorf("%v, %v", found, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%.300v, want %q", err, test.want)
			}
		})
	}
}
