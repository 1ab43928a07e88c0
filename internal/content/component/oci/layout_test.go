package oci

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

// packed is an archive of files in their order.
func packed(t *testing.T, files ...archive.File) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := archive.Pack(&out, files...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// blob is a file of an artifact set, under its digest.
func blob(text string) archive.File {
	return archive.File{Path: BlobPath(digest.FromString(text)), Data: []byte(text)}
}

// indexOf is an index that names manifests; the first one is the main one.
func indexOf(name, tags string, manifests ...string) archive.File {
	index := ocispec.Index{Annotations: map[string]string{mainAnnotation: string(digest.FromString(manifests[0]))}}
	for _, text := range manifests {
		d := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromString(text), Size: int64(len(text))}
		if tags != "" {
			d.Annotations = map[string]string{tagsAnnotation: tags}
		}
		index.Manifests = append(index.Manifests, d)
	}
	raw, _ := json.Marshal(index)
	return archive.File{Path: name, Data: raw}
}

// layout reads the files of a layout, each of which may be there once.
func layout(t *testing.T, content []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if _, twice := files[header.Name]; err != nil || twice {
			t.Fatalf("%s: twice %t, %v", header.Name, twice, err)
		}
		files[header.Name] = string(text)
	}
}

// TestOneArtifact reads sets in all ways, which must agree on what the set is about: what
// was verified is what is unpacked.
func TestOneArtifact(t *testing.T) {
	const good, evil = `{"layers":[]}`, `{"layers":[],"annotations":{"evil":"yes"}}`
	for _, test := range []struct {
		reason string
		files  []archive.File
	}{
		{"the index of its own", []archive.File{indexOf(artifactSetDescriptor, "", good), blob(good)}},
		{"the index of a layout", []archive.File{indexOf(artifactSetIndex, "", good), blob(good)}},
		{"the index at the end", []archive.File{blob(good), indexOf(artifactSetDescriptor, "", good)}},
		{"several manifests", []archive.File{indexOf(artifactSetDescriptor, "", good, evil), blob(evil), blob(good)}},
		{"both indexes, its own one first", []archive.File{indexOf(artifactSetDescriptor, "", good), indexOf(artifactSetIndex, "", evil), blob(good), blob(evil)}},
		{"hostile: both indexes, another artifact first", []archive.File{indexOf(artifactSetIndex, "", evil), indexOf(artifactSetDescriptor, "", good), blob(good), blob(evil)}},
		{"hostile: the other index between the contents", []archive.File{blob(evil), indexOf(artifactSetIndex, "", evil), blob(good), indexOf(artifactSetDescriptor, "", good)}},
		{"hostile: blobs whose names are not digests", []archive.File{indexOf(artifactSetDescriptor, "", good), blob(good), {Path: "blobs/x", Data: []byte("x")}, {Path: "blobs/sha256.ff", Data: []byte("x")}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			content, want := packed(t, test.files...), digest.FromString(good)
			if got, err := SetDigest(bytes.NewReader(content)); err != nil || got != want {
				t.Errorf("its digest is %s, %v", got, err)
			}
			set, err := ReadSet(bytes.NewReader(content), archive.DefaultLimits())
			if err != nil || set.Main.Digest != want {
				t.Errorf("in memory it is %+v, %v", set, err)
			}
			var out bytes.Buffer
			if err := WriteLayout(&out, bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
			files := layout(t, out.Bytes())
			var index ocispec.Index
			if err := json.Unmarshal([]byte(files[artifactSetIndex]), &index); err != nil || len(index.Manifests) != 1 || index.Manifests[0].Digest != want {
				t.Errorf("as a layout it is %s, %v", files[artifactSetIndex], err)
			}
			if files["blobs/sha256/"+want.Encoded()] != good || files[ocispec.ImageLayoutFile] == "" {
				t.Errorf("the layout has %v", files)
			}
			if _, there := files["blobs/x"]; there {
				t.Error("a layout has files that are no blobs")
			}
		})
	}
}

func TestLayoutNames(t *testing.T) {
	const manifest = `{"layers":[]}`
	for _, test := range []struct{ reason, tags, want string }{
		{"its tag", "1.0.0", "1.0.0"},
		{"the first of several", "1.0.0,latest", "1.0.0"},
		{"none", "", ""},
		{"an empty first tag is ignored", ",latest", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var first bytes.Buffer
			for i := range 3 { // the same set makes the same layout
				var out bytes.Buffer
				if err := WriteLayout(&out, bytes.NewReader(packed(t, indexOf(artifactSetDescriptor, test.tags, manifest), blob(manifest)))); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = out
				} else if !bytes.Equal(first.Bytes(), out.Bytes()) {
					t.Error("it is another one")
				}
			}
			var index ocispec.Index
			if err := json.Unmarshal([]byte(layout(t, first.Bytes())[artifactSetIndex]), &index); err != nil {
				t.Fatal(err)
			}
			if got := index.Manifests[0].Annotations[ocispec.AnnotationRefName]; got != test.want {
				t.Errorf("it is called %q", got)
			}
		})
	}
}

// TestInvalidSets are refused by all that read one.
func TestInvalidSets(t *testing.T) {
	const manifest = `{"layers":[]}`
	raw := func(text string) archive.File {
		return archive.File{Path: artifactSetDescriptor, Data: []byte(text)}
	}
	entry := func(d string, size int) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, ocispec.MediaTypeImageManifest, d, size)
	}
	good := string(digest.FromString(manifest))
	for _, test := range []struct {
		reason  string
		content []byte
		want    string
	}{
		{"no index", packed(t, blob(manifest)), "has neither artifact-descriptor.json nor index.json"},
		{"nothing", packed(t), "has neither"},
		{"an index that is no JSON", packed(t, raw("{")), "decode the index"},
		{"an index of nothing", packed(t, raw(`{"manifests":[]}`)), "has 0 manifests and says of none"},
		{"null", packed(t, raw(`null`)), "has 0 manifests"},
		{"two manifests without a choice", packed(t, raw(`{"manifests":[`+entry(good, 13)+","+entry(good, 13)+`]}`)), "has 2 manifests and says of none"},
		{"a main one that is not there", packed(t, raw(`{"annotations":{"software.ocm/main":"sha256:00"},"manifests":[`+entry(good, 13)+`]}`)), "says of none"},
		{"a digest that is a path", packed(t, raw(`{"manifests":[`+entry("../../x", 13)+`]}`)), "digest"},
		{"a digest without an algorithm", packed(t, raw(`{"manifests":[`+entry("abc", 13)+`]}`)), "digest"},
		{"a size below zero", packed(t, raw(`{"manifests":[`+entry(good, -1)+`]}`)), "has the size -1"},
		{"a size that is a text", packed(t, raw(`{"manifests":[{"size":"s"}]}`)), "decode the index"},
		{"a link in the archive", func() []byte {
			var out bytes.Buffer
			writer := tar.NewWriter(&out)
			if err := errors.Join(writer.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: artifactSetDescriptor, Linkname: "/etc/passwd"}), writer.Close()); err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		}(), "is a link"},
		{"no archive", []byte(strings.Repeat("hello", 200)), "read the archive"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, digestErr := SetDigest(bytes.NewReader(test.content))
			_, setErr := ReadSet(bytes.NewReader(test.content), archive.DefaultLimits())
			for reader, err := range map[string]error{"its digest": digestErr, "in memory": setErr, "as a layout": WriteLayout(io.Discard, bytes.NewReader(test.content))} {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: got %v, want %q", reader, err, test.want)
				}
			}
		})
	}
}

// TestContentsOfSets looks for blobs that are missing or not what their names say.
func TestContentsOfSets(t *testing.T) {
	const manifest = `{"layers":[]}`
	wrong := blob(manifest)
	wrong.Data = []byte(`{"layers":{}}`)
	for _, test := range []struct {
		reason string
		files  []archive.File
		is     error
	}{
		{"a manifest that is missing", []archive.File{indexOf(artifactSetDescriptor, "", manifest)}, ErrNotFound},
		{"a manifest of the same length that is another one", []archive.File{indexOf(artifactSetDescriptor, "", manifest), wrong}, ErrDigest},
		{"the right one behind a wrong one", []archive.File{indexOf(artifactSetDescriptor, "", manifest), blob(manifest), wrong}, ErrDigest},
	} {
		t.Run(test.reason, func(t *testing.T) {
			content := packed(t, test.files...)
			if _, err := SetDigest(bytes.NewReader(content)); !errors.Is(err, test.is) {
				t.Errorf("its digest: %v", err)
			}
			set, err := ReadSet(bytes.NewReader(content), archive.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ReadManifest(t.Context(), set, "", set.Main); !errors.Is(err, test.is) {
				t.Errorf("its manifest: %v", err)
			}
		})
	}
	set, err := ReadSet(bytes.NewReader(packed(t, indexOf(artifactSetDescriptor, "", manifest), blob(manifest))), archive.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for reference, found := range map[string]bool{"": true, string(set.Main.Digest): true, "latest": false, string(digest.FromString("x")): false} {
		got, err := set.Resolve(t.Context(), "", reference)
		if found != (err == nil) || found && got.Digest != set.Main.Digest || !found && !errors.Is(err, ErrNotFound) {
			t.Errorf("%q is %v, %v", reference, got, err)
		}
	}
}
