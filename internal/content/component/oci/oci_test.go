package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

type memory map[digest.Digest]string

func (m memory) Resolve(context.Context, string, string) (ocispec.Descriptor, error) {
	return ocispec.Descriptor{}, ErrNotFound
}

func (m memory) Open(_ context.Context, _ string, d ocispec.Descriptor) (io.ReadCloser, error) {
	data, exists := m[d.Digest]
	if !exists {
		return nil, ErrNotFound
	}
	return Verified(io.NopCloser(strings.NewReader(data)), d)
}

func (m memory) put(mediaType, data string) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromString(data), Size: int64(len(data))}
	m[d.Digest] = data
	return d
}

func TestIsSet(t *testing.T) {
	for _, test := range []struct {
		reason, mediaType, want string
	}{
		{"as this system writes it", SetMediaType(ocispec.MediaTypeImageManifest), ocispec.MediaTypeImageManifest},
		{"not compressed", ocispec.MediaTypeImageManifest + "+tar", ocispec.MediaTypeImageManifest},
		{"as tools write it that leave +json out", "application/vnd.oci.image.manifest.v1+tar+gzip", ocispec.MediaTypeImageManifest},
		{"an index without +json", "application/vnd.oci.image.index.v1+tar", ocispec.MediaTypeImageIndex},
		{"a manifest is not an archive", ocispec.MediaTypeImageManifest, ""},
		{"a manifest's media type without its end", "application/vnd.oci.image.manifest.v1", ""},
		{"any other archive", "application/x-tar+gzip", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, isSet := IsSet(test.mediaType); isSet != (test.want != "") || isSet && got != test.want {
				t.Errorf("got %q, %v, want %q", got, isSet, test.want)
			}
		})
	}
}

func TestVerified(t *testing.T) {
	right := ocispec.Descriptor{Digest: digest.FromString("content"), Size: 7}
	for _, test := range []struct {
		reason, data string
		size         int64
		fails        bool
	}{
		{"right", "content", 7, false}, {"right, size not known", "content", -1, false},
		{"wrong", "CONTENT", 7, true}, {"wrong, size not known", "CONTENT", -1, true},
		{"too long", "content!", 7, true}, {"too short", "conten", 7, true}, {"nothing", "", 7, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			d := right
			d.Size = test.size
			reader, err := Verified(io.NopCloser(strings.NewReader(test.data)), d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(reader); errors.Is(err, ErrDigest) != test.fails {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, broken := range []digest.Digest{"", "sha256:short", "md5:d41d8cd98f00b204e9800998ecf8427e", "../../x"} {
		if _, err := Verified(io.NopCloser(strings.NewReader("")), ocispec.Descriptor{Digest: broken}); err == nil {
			t.Errorf("%q is a digest", broken)
		}
	}
}

func TestArtifactSet(t *testing.T) {
	m := memory{}
	config, layer := m.put("application/json", "{}"), m.put("text/plain", "layer")
	image := m.put(ocispec.MediaTypeImageManifest, fmt.Sprintf(`{"config":{"digest":%q,"size":2},"layers":[{"digest":%q,"size":5},{"digest":%q,"size":5}]}`, config.Digest, layer.Digest, layer.Digest))
	index := m.put(ocispec.MediaTypeImageIndex, fmt.Sprintf(`{"manifests":[{"mediaType":%q,"digest":%q,"size":%d}]}`, image.MediaType, image.Digest, image.Size))
	for reason, main := range map[string]ocispec.Descriptor{"an image": image, "an index": index} {
		t.Run(reason, func(t *testing.T) {
			var out bytes.Buffer
			if err := WriteSet(t.Context(), &out, m, "r", main, "1.0"); err != nil {
				t.Fatalf("%s: %v", reason, err)
			}
			set, err := ReadSet(&out, archive.DefaultLimits())
			if err != nil || set.Main.Digest != main.Digest || set.Main.Annotations[tagsAnnotation] != "1.0" {
				t.Errorf("%s: %+v, %v", reason, set, err)
				return
			}
			if data, err := Read(t.Context(), set, "", layer, 100); err != nil || string(data) != "layer" {
				t.Errorf("%s: the layer holds %q, %v", reason, data, err)
			}
		})
	}
	// An OCI layout names its blobs in another way and does not say which is main.
	var layout bytes.Buffer
	if err := archive.Pack(&layout,
		archive.File{Path: "index.json", Data: fmt.Appendf(nil, `{"manifests":[{"mediaType":%q,"digest":%q,"size":%d}]}`, image.MediaType, image.Digest, image.Size)},
		archive.File{Path: "blobs/sha256/" + image.Digest.Encoded(), Data: []byte(m[image.Digest])}); err != nil {
		t.Fatal(err)
	}
	set, err := ReadSet(&layout, archive.DefaultLimits())
	if err != nil || set.Main.Digest != image.Digest {
		t.Fatalf("an OCI layout: %+v, %v", set, err)
	}
	if _, err := ReadManifest(t.Context(), set, "", set.Main); err != nil {
		t.Error(err)
	}
}

func TestHostileArtifacts(t *testing.T) {
	m := memory{}
	// A digest cannot be part of its own content, but a chain can be long.
	chain := m.put(ocispec.MediaTypeImageIndex, `{"manifests":[]}`)
	for range maxIndexDepth + 2 {
		chain = m.put(ocispec.MediaTypeImageIndex, fmt.Sprintf(`{"manifests":[{"mediaType":%q,"digest":%q,"size":%d}]}`, chain.MediaType, chain.Digest, chain.Size))
	}
	strange := m.put(ocispec.MediaTypeImageIndex, fmt.Sprintf(`{"manifests":[{"mediaType":"text/plain","digest":%q,"size":1}]}`, chain.Digest))
	var many []string
	for i := range maxParts + 1 {
		leaf := m.put(ocispec.MediaTypeImageManifest, fmt.Sprintf(`{"annotations":{"n":"%d"}}`, i))
		many = append(many, fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, leaf.MediaType, leaf.Digest, leaf.Size))
	}
	wide := m.put(ocispec.MediaTypeImageIndex, `{"manifests":[`+strings.Join(many, ",")+`]}`)
	lost := m.put(ocispec.MediaTypeImageManifest, fmt.Sprintf(`{"layers":[{"digest":%q,"size":1}]}`, digest.FromString("lost")))
	for _, test := range []struct {
		reason string
		main   ocispec.Descriptor
		want   string
	}{
		{"a long chain of indexes", chain, "more than 8 times"},
		{"an index of very many manifests", wide, "limit of 10000"},
		{"an index of something else", strange, `an entry of type "text/plain"`},
		{"a layer that is not there", lost, "not found"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := WriteSet(t.Context(), io.Discard, m, "r", test.main, ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	if err := errors.Join(writer.WriteHeader(&tar.Header{Name: "index.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), writer.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSet(&out, archive.DefaultLimits()); !errors.Is(err, archive.ErrUnsafe) {
		t.Errorf("a link in an artifact set: %v", err)
	}
}

func FuzzReadSet(f *testing.F) {
	m := memory{}
	image := m.put(ocispec.MediaTypeImageManifest, `{"layers":[]}`)
	var out bytes.Buffer
	if err := WriteSet(f.Context(), &out, m, "r", image, ""); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := ReadSet(bytes.NewReader(data), archive.Limits{Bytes: 1 << 16, Files: 20, Ratio: 100, Depth: 5})
		if err == nil {
			_, _ = ReadManifest(t.Context(), set, "", set.Main)
		}
	})
}
