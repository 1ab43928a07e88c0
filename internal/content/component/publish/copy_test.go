package publish

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// reads counts what is read from a store.
type reads struct {
	oci.Store
	count atomic.Int32
}

func (r *reads) Open(ctx context.Context, name string, content ocispec.Descriptor) (io.ReadCloser, error) {
	r.count.Add(1)
	return r.Store.Open(ctx, name, content)
}

// once is a target that knows what it has, as registries do.
type once struct {
	*ctf.Writer
	has map[digest.Digest]bool
	mu  chan struct{}
}

func (o *once) Push(ctx context.Context, name string, content ocispec.Descriptor, data io.Reader) error {
	o.mu <- struct{}{}
	defer func() { <-o.mu }()
	if o.has[content.Digest] {
		return nil
	}
	o.has[content.Digest] = true
	err := o.Writer.Push(ctx, name, content, data)
	if closer, can := data.(io.Closer); can {
		// As clients for HTTP do.
		err = errors.Join(err, closer.Close())
	}
	return err
}

func newOnce(t *testing.T) *once {
	t.Helper()
	writer, err := ctf.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = writer.Close() })
	return &once{Writer: writer, has: map[digest.Digest]bool{}, mu: make(chan struct{}, 1)}
}

// TestCopy: a component version with a content, an image elsewhere and an image of
// its own repository.
func TestCopy(t *testing.T) {
	images, manifest := image(t)
	_, source, _ := published(t, `{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [
	  {name: text, type: t, input: {type: utf8, text: hello}},
	  {name: image, type: ociImage, access: {type: ociArtifact, imageReference: "r.example.org/img/x:1"}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: ociArtifactDigest/v1, value: `+manifest.Digest.Encoded()+`}},
	  {name: none, type: t, access: {type: none}}]}`, "", nil)
	from := &reads{Store: source}
	spec := repository.Spec{Kind: repository.KindCTF}
	find := func(store oci.Store) *repository.Version {
		version, err := repository.OCI(store, spec, nil).Lookup(t.Context(), "example.org/shop/web", "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	reader := &access.Reader{Registry: func(_, _ string) oci.Store { return renamed{images, manifest} }}
	for _, test := range []struct {
		reason  string
		byValue bool
		access  string
	}{
		{"images stay where they are", false, `"ociArtifact"`},
		{"images by value", true, `"referenceName":"img/x:1"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			target := newOnce(t)
			how := Copying{Options: Options{Target: target, Spec: spec, Context: descriptor.Typed(`{"type":"OCIRegistry","baseUrl":"mirror.example.org"}`)}, Reader: reader, ByValue: test.byValue, Parallel: 4}
			if _, err := Copy(t.Context(), find(from), how); err != nil {
				t.Fatal(err)
			}
			got := find(target)
			if !strings.Contains(got.Resources[1].Access.String(), test.access) || !strings.Contains(got.EffectiveContext().String(), "mirror.example.org") {
				t.Errorf("the image is at %s, the version at %s", got.Resources[1].Access, got.EffectiveContext())
			}
			for i, want := range []string{"hello", ""} {
				data, _, err := reader.Read(t.Context(), got, &got.Resources[i], 1<<20)
				if err != nil || want != "" && string(data) != want {
					t.Errorf("%s: %q, %v", got.Resources[i].Name, data, err)
				}
			}
			version := find(from)
			before := from.count.Load()
			again, err := Copy(t.Context(), version, how)
			if err != nil || !again.Unchanged || from.count.Load() != before {
				t.Errorf("once more: %+v, %v, %d contents were read", again, err, from.count.Load()-before)
			}
			version.Labels = []descriptor.Label{{Name: "new", Value: []byte("1")}}
			if _, err := Copy(t.Context(), version, how); !errors.Is(err, ErrExists) {
				t.Errorf("another version of the same name: %v", err)
			}
		})
	}
}

// renamed has one image under any name.
type renamed struct {
	oci.Store
	image ocispec.Descriptor
}

func (r renamed) Resolve(context.Context, string, string) (ocispec.Descriptor, error) {
	return r.image, nil
}

// TestRewrite puts a signature into a descriptor; contents stay as they are.
func TestRewrite(t *testing.T) {
	version, target, _ := published(t, oneText, "", nil)
	version.Signatures = []descriptor.Signature{{Name: "s"}}
	if _, err := Rewrite(t.Context(), version, Options{Target: target, Spec: repository.Spec{Kind: repository.KindCTF}}); err != nil {
		t.Fatal(err)
	}
	again, err := repository.OCI(target, repository.Spec{Kind: repository.KindCTF}, nil).Lookup(t.Context(), version.Name, version.Version)
	if err != nil || len(again.Signatures) != 1 {
		t.Fatalf("%+v, %v", again, err)
	}
	if data, _, err := (&access.Reader{}).Read(t.Context(), again, &again.Resources[0], 100); err != nil || string(data) != "aaaabbbbaaaacc" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Rewrite(t.Context(), &repository.Version{Descriptor: version.Descriptor}, Options{Target: target}); err == nil || !strings.Contains(err.Error(), "copy it into") {
		t.Errorf("a version that is in no store: %v", err)
	}
}

// slow is a target that several write to at once: it takes blobs in another order
// than they come.
type slow struct {
	*once
	first chan struct{}
	begun atomic.Int32
}

func (s *slow) Push(ctx context.Context, name string, content ocispec.Descriptor, data io.Reader) error {
	if strings.HasSuffix(content.MediaType, "+tar+gzip") && s.begun.Add(1) == 1 {
		// The first value waits for the second one.
		<-s.first
	} else if strings.HasSuffix(content.MediaType, "+tar+gzip") {
		defer close(s.first)
	}
	return s.once.Push(ctx, name, content, data)
}

// TestCopyInParallel: the manifest does not depend on which content is there first,
// so that a second copy finds nothing to do, and reads nothing.
func TestCopyInParallel(t *testing.T) {
	images, manifest := image(t)
	taken := `digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: ociArtifactDigest/v1, value: ` + manifest.Digest.Encoded() + `}`
	version, _, _ := published(t, `{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [
	  {name: one, type: ociImage, access: {type: ociArtifact, imageReference: "r.example.org/img/x:1"}, `+taken+`},
	  {name: two, type: ociImage, access: {type: ociArtifact, imageReference: "r.example.org/img/y:2"}, `+taken+`},
	  {name: other, type: t, access: {type: nobodyKnowsThis}}]}`, "", nil)
	counted := &reads{Store: images}
	opened := &access.Reader{Registry: func(_, _ string) oci.Store { return renamed{counted, manifest} }}
	spec := repository.Spec{Kind: repository.KindCTF}
	var digests []string
	for parallel, target := range map[int]oci.Target{1: newOnce(t), 2: &slow{once: newOnce(t), first: make(chan struct{})}} {
		how := Copying{Options: Options{Target: target, Spec: spec}, Reader: opened, ByValue: true, Parallel: parallel}
		done, err := Copy(t.Context(), version, how)
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Elsewhere) != 1 || !strings.Contains(done.Elsewhere[0], `resource "other"`) || !strings.Contains(done.Elsewhere[0], `"nobodyKnowsThis" is unknown`) {
			t.Errorf("what could not be copied is %q", done.Elsewhere)
		}
		digests = append(digests, done.Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("a copy depends on what is there first: %s", digests)
	}
	known := version.Descriptor.Resources[:2]
	version.Descriptor.Resources = known
	target := newOnce(t)
	how := Copying{Options: Options{Target: target, Spec: spec}, Reader: opened, ByValue: true, Parallel: 2}
	if _, err := Copy(t.Context(), version, how); err != nil {
		t.Fatal(err)
	}
	before := counted.count.Load()
	again, err := Copy(t.Context(), version, how)
	if err != nil || !again.Unchanged || counted.count.Load() != before {
		t.Errorf("once more: %+v, %v, %d contents were read", again, err, counted.count.Load()-before)
	}
}

// TestCopyOfManifests: an image of the component's own repository is copied with all
// that its index names.
func TestCopyOfManifests(t *testing.T) {
	version, source, _ := published(t, oneText, "", nil)
	name := version.Stored().Repository
	put := func(mediaType, text string) ocispec.Descriptor {
		d := describe(mediaType, []byte(text))
		if err := source.Push(t.Context(), name, d, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	var children []ocispec.Descriptor
	for _, platform := range []string{"amd64", "arm64"} {
		manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: put("application/vnd.oci.image.config.v1+json", `{"architecture":"`+platform+`"}`), Layers: []ocispec.Descriptor{put("application/octet-stream", "layer of "+platform)}}
		manifest.SchemaVersion = 2
		raw, err := json.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, put(ocispec.MediaTypeImageManifest, string(raw)))
	}
	raw, err := json.Marshal(ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: children})
	if err != nil {
		t.Fatal(err)
	}
	index := put(ocispec.MediaTypeImageIndex, string(raw))
	if err := source.Tag(t.Context(), name, index, "image"); err != nil {
		t.Fatal(err)
	}
	version.Resources = append(version.Resources, descriptor.Resource{
		Element: descriptor.Element{Name: "image", Version: "1.0.0"}, Type: "ociImage", Relation: "local",
		Access: descriptor.Typed(`{"type":"localBlob","localReference":"` + index.Digest.String() + `","mediaType":"application/vnd.oci.image.index.v1+tar+gzip"}`),
	})
	target := newOnce(t)
	how := Copying{Options: Options{Target: target, Spec: repository.Spec{Kind: repository.KindCTF}}, Reader: &access.Reader{}, Parallel: 4}
	if _, err := Copy(t.Context(), version, how); err != nil {
		t.Fatal(err)
	}
	for _, manifest := range append([]ocispec.Descriptor{index}, children...) {
		read, err := oci.ReadManifest(t.Context(), target, name, manifest)
		if err != nil {
			t.Fatal(err)
		}
		for _, layer := range read.Layers {
			if _, err := oci.Read(t.Context(), target, name, layer, 100); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCopyRefusesBeforeItWrites: nothing is written for a version that exists with
// other content.
func TestCopyRefusesBeforeItWrites(t *testing.T) {
	version, _, _ := published(t, oneText, "", nil)
	target := newOnce(t)
	how := Copying{Options: Options{Target: target, Spec: repository.Spec{Kind: repository.KindCTF}}, Reader: &access.Reader{}, Parallel: 4}
	if _, err := Copy(t.Context(), version, how); err != nil {
		t.Fatal(err)
	}
	other, _, _ := published(t, strings.ReplaceAll(oneText, "aaaa", "zzzz"), "", nil)
	before := len(target.has)
	if _, err := Copy(t.Context(), other, how); !errors.Is(err, ErrExists) || len(target.has) != before {
		t.Errorf("%v, %d contents were written", err, len(target.has)-before)
	}
}

// TestCopyInPieces: what a repository wants in pieces is written so, and found again.
func TestCopyInPieces(t *testing.T) {
	images, manifest := image(t)
	version, _, _ := published(t, `{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [
	  {name: image, type: ociImage, access: {type: ociArtifact, imageReference: "r.example.org/img/x:1"}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: ociArtifactDigest/v1, value: `+manifest.Digest.Encoded()+`}}]}`, "", nil)
	counted := &reads{Store: images}
	opened := &access.Reader{Registry: func(_, _ string) oci.Store { return renamed{counted, manifest} }}
	target := newOnce(t)
	spec := repository.Spec{Kind: repository.KindCTF}
	how := Copying{Options: Options{Target: target, Spec: spec, Context: descriptor.Typed(`{"type":"OCIRegistry","baseUrl":"mirror.example.org","blobLimit":100}`)}, Reader: opened, ByValue: true}
	if _, err := Copy(t.Context(), version, how); err != nil {
		t.Fatal(err)
	}
	got, err := repository.OCI(target, spec, nil).Lookup(t.Context(), version.Name, version.Version)
	if err != nil || !strings.Contains(got.Resources[0].Access.String(), ",sha256:") {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, layer := range got.Stored().Manifest.Layers[1:] {
		if layer.Size > 100 {
			t.Errorf("a piece has %d bytes", layer.Size)
		}
	}
	if _, _, err := opened.Read(t.Context(), got, &got.Resources[0], 1<<20); err != nil {
		t.Error(err)
	}
	before := counted.count.Load()
	if again, err := Copy(t.Context(), version, how); err != nil || !again.Unchanged || counted.count.Load() != before {
		t.Errorf("once more: %+v, %v", again, err)
	}
}
