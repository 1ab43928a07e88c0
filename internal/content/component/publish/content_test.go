package publish

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// published writes a component into an archive, reads it again and returns both.
func published(t *testing.T, text, context string, image func(context.Context, string) (*repository.Blob, error)) (*repository.Version, *ctf.Writer, string) {
	t.Helper()
	constructor, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	target, err := ctf.Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	options := Options{Target: target, Spec: repository.Spec{Kind: repository.KindCTF}, Context: descriptor.Typed(context), Image: image}
	if _, err := Publish(t.Context(), constructor, options); err != nil {
		t.Fatal(err)
	}
	version, err := repository.OCI(target, options.Spec, options.Context).Lookup(t.Context(), constructor.Components[0].Name, constructor.Components[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	return version, target, directory
}

const oneText = `{name: example.org/shop/web, version: 1.0.0, provider: {name: p}, resources: [{name: one, type: t, input: {type: utf8, text: "aaaabbbbaaaacc"}}], sources: [{name: one, type: t, input: {type: utf8, text: "aaaaaaaa"}}]}`

func TestPieces(t *testing.T) {
	version, target, _ := published(t, oneText, `{"type":"OCIRegistry","baseUrl":"r.example.org","blobLimit":4}`, nil)
	piece := func(text string) string { return digest.FromString(text).String() }
	var local struct {
		LocalReference string `json:"localReference"`
	}
	if err := version.Resources[0].Access.Decode(&local); err != nil || local.LocalReference != strings.Join([]string{piece("aaaa"), piece("bbbb"), piece("aaaa"), piece("cc")}, ",") {
		t.Errorf("the access is %s (%v)", version.Resources[0].Access, err)
	}
	data, mediaType, err := (&access.Reader{}).Read(t.Context(), version, &version.Resources[0], 100)
	if err != nil || string(data) != "aaaabbbbaaaacc" || mediaType != "text/plain" {
		t.Errorf("got %s %q, %v", mediaType, data, err)
	}
	blob, err := version.Blobs.Open(t.Context(), local.LocalReference, "text/plain")
	if err != nil || blob.Size != 14 {
		t.Errorf("the size is %+v, %v", blob, err)
	}
	const name = "component-descriptors/example.org/shop/web"
	at, err := target.Resolve(t.Context(), name, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := oci.ReadManifest(t.Context(), target, name, at)
	if err != nil || len(manifest.Layers) != 4 {
		t.Fatalf("equal pieces share a layer: %d layers, %v", len(manifest.Layers), err)
	}
	if got, want := manifest.Layers[1].Annotations["software.ocm.artifact"], `[{"kind":"resource","identity":{"name":"one"}},{"kind":"source","identity":{"name":"one"}}]`; got != want {
		t.Errorf("a piece is used by %s, want %s", got, want)
	}
	for _, layer := range manifest.Layers[1:] {
		if layer.Size > 4 {
			t.Errorf("a layer has %d bytes", layer.Size)
		}
	}
}

func TestWrongLimits(t *testing.T) {
	constructor, err := Parse([]byte(oneText))
	if err != nil {
		t.Fatal(err)
	}
	constructor.Components[0].Resources[0].Input.Text = strings.Repeat("x", repository.MaxPieces+1)
	for context, want := range map[string]string{
		`{"type":"OCIRegistry","blobLimit":-1}`:     "below zero",
		`{"type":"OCIRegistry","blobLimit":"much"}`: "blobLimit",
		`{"type":"OCIRegistry","blobLimit":1}`:      "set a higher blobLimit",
	} {
		t.Run(context, func(t *testing.T) {
			target, err := ctf.Create(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			_, err = Publish(t.Context(), constructor, Options{Target: target, Context: descriptor.Typed(context)})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", context, err, want)
			}
			if err := target.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// image is an artifact in a store of its own.
func image(t *testing.T) (*ctf.Writer, ocispec.Descriptor) {
	t.Helper()
	store, err := ctf.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	push := func(mediaType, text string) ocispec.Descriptor {
		d := describe(mediaType, []byte(text))
		if err := store.Push(t.Context(), "img", d, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	config, layer := push("application/vnd.oci.image.config.v1+json", "{}"), push("application/octet-stream", "layer")
	raw, err := json.Marshal(ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: config, Layers: []ocispec.Descriptor{layer}})
	if err != nil {
		t.Fatal(err)
	}
	return store, push(ocispec.MediaTypeImageManifest, string(raw))
}

// TestOwnDigestsAreChecked: what we publish has digests of the kind that suits the
// content, and reading a content that was changed fails.
func TestOwnDigestsAreChecked(t *testing.T) {
	images, manifest := image(t)
	open := func(ctx context.Context, reference string) (*repository.Blob, error) {
		if reference != "r.example.org/img:1" {
			return nil, errors.New("not asked for")
		}
		return repository.ArtifactSet(ctx, images, "img", manifest, "1"), nil
	}
	version, _, directory := published(t, `{name: example.org/shop/web, version: 1.0.0, provider: {name: p}, resources: [
	  {name: text, type: t, input: {type: utf8, text: hello}}, {name: image, type: ociImage, input: {type: ociImage, path: "r.example.org/img:1"}}]}`, "", open)
	reader := &access.Reader{}
	for i, want := range []descriptor.Digest{
		{HashAlgorithm: "SHA-256", NormalisationAlgorithm: "genericBlobDigest/v1", Value: digest.FromString("hello").Encoded()},
		{HashAlgorithm: "SHA-256", NormalisationAlgorithm: "ociArtifactDigest/v1", Value: manifest.Digest.Encoded()},
	} {
		resource := &version.Resources[i]
		if resource.Digest == nil || *resource.Digest != want {
			t.Errorf("the digest of %s is %+v, want %+v", resource.Name, resource.Digest, want)
		}
		data, _, err := reader.Read(t.Context(), version, resource, 1<<20)
		if err != nil {
			t.Errorf("read %s: %v", resource.Name, err)
		}
		if resource.Name == "image" {
			set, err := oci.ReadSet(bytes.NewReader(data), archive.DefaultLimits())
			if err != nil || set.Main.Digest != manifest.Digest {
				t.Errorf("the image is %+v, %v", set, err)
			}
		}
		// The descriptor is changed, as a content of a registry cannot be.
		resource.Digest.Value = strings.Repeat("0", 64)
		if _, _, err := reader.Read(t.Context(), version, resource, 1<<20); !errors.Is(err, oci.ErrDigest) {
			t.Errorf("read %s with another digest: %v", resource.Name, err)
		}
	}
	// A blob of the archive is changed.
	at := filepath.Join(directory, "blobs", "sha256."+digest.FromString("hello").Encoded())
	if err := os.WriteFile(at, []byte("HELLO"), 0o600); err != nil {
		t.Fatal(err)
	}
	version.Resources[0].Digest = nil
	if _, _, err := reader.Read(t.Context(), version, &version.Resources[0], 100); !errors.Is(err, oci.ErrDigest) {
		t.Errorf("a changed blob: %v", err)
	}
}

// TestBytes compares what is written with the published layout, byte by byte.
func TestBytes(t *testing.T) {
	_, _, directory := published(t, `{name: example.org/a, version: 1.0.0, provider: {name: p}}`, "", nil)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(directory, name)) // of this test
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	blob := func(d digest.Digest) []byte { return read("blobs/sha256." + d.Encoded()) }
	var index struct {
		Artifacts []struct{ Digest digest.Digest }
	}
	if err := json.Unmarshal(read("artifact-index.json"), &index); err != nil || len(index.Artifacts) != 1 {
		t.Fatalf("%+v, %v", index, err)
	}
	manifest := index.Artifacts[0].Digest
	if got, want := string(read("artifact-index.json")), `{"schemaVersion":1,"artifacts":[{"repository":"component-descriptors/example.org/a","tag":"1.0.0","digest":"`+manifest.String()+`","mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`; got != want {
		t.Errorf("the index is\n%s\nwant\n%s", got, want)
	}
	var parts ocispec.Manifest
	if err := json.Unmarshal(blob(manifest), &parts); err != nil {
		t.Fatal(err)
	}
	layer, config := parts.Layers[0], parts.Config
	about := func(d ocispec.Descriptor) string {
		return `{"mediaType":"` + d.MediaType + `","digest":"` + d.Digest.String() + `","size":` + itoa(d.Size) + `}`
	}
	want := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":` + about(config) + `,"layers":[` + about(layer) +
		`],"annotations":{"software.ocm.componentversion":"example.org/a:1.0.0","software.ocm.creator":"landscaper-cli"}}`
	if got := string(blob(manifest)); got != want {
		t.Errorf("the manifest is\n%s\nwant\n%s", got, want)
	}
	if got, want := string(blob(config.Digest)), `{"componentDescriptorLayer":`+about(layer)+`}`; got != want {
		t.Errorf("the config is\n%s\nwant\n%s", got, want)
	}
	reader := tar.NewReader(bytes.NewReader(blob(layer.Digest)))
	header, err := reader.Next()
	if err != nil || header.Name != "component-descriptor.yaml" || header.Typeflag != tar.TypeReg {
		t.Fatalf("the descriptor is in %+v, %v", header, err)
	}
	text, err := io.ReadAll(reader)
	if err != nil || !strings.Contains(string(text), "schemaVersion: v2") {
		t.Errorf("the descriptor is %s, %v", text, err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("something comes behind the descriptor: %v", err)
	}
}
