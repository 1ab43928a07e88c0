package publish

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/component/access"
	"go.landscaper.dev/internal/component/ctf"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
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
	return o.Writer.Push(ctx, name, content, data)
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
