package repository

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

func TestSpec(t *testing.T) {
	for _, test := range []struct{ reason, context, name, repository string }{
		{"the usual form", `{"type":"OCIRegistry","baseUrl":"registry.example.org","subPath":"delivery"}`, "registry.example.org/delivery", "delivery/component-descriptors/example.org/shop/web"},
		{"the path in the base URL", `{"type":"ociRegistry","baseUrl":"registry.example.org/delivery"}`, "registry.example.org/delivery", "delivery/component-descriptors/example.org/shop/web"},
		{"scheme and version", `{"type":"oci/v1","baseUrl":"https://Registry.example.org/"}`, "registry.example.org", "component-descriptors/example.org/shop/web"},
		{"plain HTTP", `{"type":"OCIRegistry/v1","baseUrl":"http://localhost:5000"}`, "http://localhost:5000", "component-descriptors/example.org/shop/web"},
		{"names as digests", `{"type":"OCIRegistry","baseUrl":"r.example.org","subPath":"d","componentNameMapping":"sha256-digest"}`, "r.example.org/d", "d/" + digest.FromString("example.org/shop/web").Encoded()},
	} {
		t.Run(test.reason, func(t *testing.T) {
			spec, err := ParseSpec(descriptor.Typed(test.context))
			if err != nil || spec.String() != test.name || spec.Repository("example.org/shop/web") != test.repository {
				t.Errorf("%s %s, %v", spec, spec.Repository("example.org/shop/web"), err)
			}
		})
	}
	for context, want := range map[string]string{
		``: "is missing", `{}`: "has no type", `{"type":"Vault"}`: `unknown repository type "Vault"`,
		`{"type":"OCIRegistry"}`: "names no host", `{"type":"OCIRegistry","baseUrl":"ftp://x"}`: `scheme "ftp"`,
		`{"type":"OCIRegistry","baseUrl":"https://user:s3cr3t@r.example.org"}`: "holds credentials",
		`{"type":"OCIRegistry","baseUrl":"user:s3cr3t@r.example.org"}`:         "holds credentials",
		`{"type":"OCIRegistry","baseUrl":"r.example.org/a?token=s3cr3t"}`:      "has a query or a fragment",
		`{"type":"OCIRegistry","baseUrl":"https://r.example.org#s3cr3t"}`:      "has a query or a fragment",
		`{"type":"OCIRegistry","baseUrl":"ftp://r.example.org/?token=s3cr3t"}`: `scheme "ftp"`,
		`{"type":"OCIRegistry","baseUrl":7}`:                                   "decode", `{"type":"CommonTransportFormat"}`: "no filePath",
	} {
		if _, err := ParseSpec(descriptor.Typed(context)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %v, want %q", context, err, want)
		}
	}
	if Equal(descriptor.Typed(`{"type":"oci","baseUrl":"a"}`), descriptor.Typed(`{"type":"oci","baseUrl":"b"}`)) {
		t.Error("two registries are one")
	}
}

// TestRedact: what is shown of an address has neither a user nor anything behind the
// path, which may be a signature.
func TestRedact(t *testing.T) {
	for address, want := range map[string]string{
		"https://r.example.org/a":                          "https://r.example.org/a",
		"r.example.org/a":                                  "r.example.org/a",
		"https://user:s3cr3t@r.example.org/a":              "https://hidden@r.example.org/a",
		"user:s3cr3t@r.example.org/a":                      "hidden@r.example.org/a",
		"https://r.example.org/a?sig=s3cr3t":               "https://r.example.org/a",
		"https://user:s3cr3t@r.example.org/?sig=s3cr3t#s3": "https://hidden@r.example.org/",
		"r.example.org#s3cr3t":                             "r.example.org",
		"https://[::1?s3cr3t":                              "https://[::1",
	} {
		t.Run(address, func(t *testing.T) {
			if got := Redact(address); got != want {
				t.Errorf("%s is shown as %s, want %s", address, got, want)
			}
		})
	}
}

func TestTags(t *testing.T) {
	for version, want := range map[string]string{"1.4.2": "1.4.2", "v1.4.2+rc7": "v1.4.2.build-rc7"} {
		t.Run(version, func(t *testing.T) {
			tag, err := Tag(version)
			if err != nil || tag != want || VersionOf(tag) != version {
				t.Errorf("%s: tag %s, back %s, %v", version, tag, VersionOf(tag), err)
			}
		})
	}
	if got := VersionOf("1.0.0.build-a.build-b"); got != "1.0.0.build-a+b" {
		t.Errorf("the last mark counts, got %s", got)
	}
	if _, err := Tag("v.1.7.2"); err == nil {
		t.Error("an invalid version has a tag")
	}
}

// store is a registry in memory.
type store struct {
	blobs map[digest.Digest][]byte
	tags  map[string]ocispec.Descriptor
}

func (s *store) Resolve(_ context.Context, repository, reference string) (ocispec.Descriptor, error) {
	if found, exists := s.tags[repository+":"+reference]; exists {
		return found, nil
	}
	return ocispec.Descriptor{}, oci.ErrNotFound
}

func (s *store) Open(_ context.Context, _ string, d ocispec.Descriptor) (io.ReadCloser, error) {
	data, exists := s.blobs[d.Digest]
	if !exists {
		return nil, oci.ErrNotFound
	}
	return oci.Verified(io.NopCloser(bytes.NewReader(data)), d)
}

func (s *store) put(mediaType string, data []byte) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	s.blobs[d.Digest] = data
	return d
}

func (s *store) json(t testing.TB, mediaType string, value any) ocispec.Descriptor {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return s.put(mediaType, raw)
}

const (
	name = "example.org/shop/web"
	text = `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/shop/web","version":"1.0.0+x","provider":"p"}}`
	yaml = "application/vnd.ocm.software.component-descriptor.v2+yaml"
)

// parts is a component version before it is put together.
type parts struct {
	configType, layerType string
	layer                 []byte
	config                any
	extra                 []string
}

func (s *store) version(t testing.TB, p parts) ocispec.Descriptor {
	t.Helper()
	layer := s.put(p.layerType, p.layer)
	if p.config == nil {
		p.config = ComponentConfig{DescriptorLayer: &layer}
	}
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: s.json(t, p.configType, p.config)}
	manifest.SchemaVersion = 2
	for _, extra := range p.extra {
		manifest.Layers = append(manifest.Layers, s.put("text/plain", []byte(extra)))
	}
	manifest.Layers = append(manifest.Layers, layer)
	return s.json(t, ocispec.MediaTypeImageManifest, manifest)
}

func newStore() *store {
	return &store{blobs: map[digest.Digest][]byte{}, tags: map[string]ocispec.Descriptor{}}
}

func (s *store) lookup(t testing.TB, at ocispec.Descriptor, version string) (*Version, error) {
	t.Helper()
	tag, err := Tag(version)
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Kind: KindOCI, Host: "r.example.org"}
	s.tags[spec.Repository(name)+":"+tag] = at
	return OCI(s, spec, descriptor.Typed(`{"type":"OCIRegistry","baseUrl":"r.example.org"}`)).Lookup(t.Context(), name, version)
}

func packed(t testing.TB, content string) []byte {
	t.Helper()
	layer, err := PackDescriptor([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func TestReadForms(t *testing.T) {
	for _, test := range []struct {
		reason string
		parts  parts
	}{
		{"what is written today", parts{configType: MediaTypeConfig, layerType: MediaTypeDescriptor, layer: packed(t, text)}},
		{"the descriptor is found by digest, not by position", parts{configType: MediaTypeConfig, layerType: MediaTypeDescriptor, layer: packed(t, text), extra: []string{"first"}}},
		{"older tools", parts{configType: "application/vnd.gardener.cloud.cnudie.component.config.v1+json", layerType: "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml+tar", layer: packed(t, text)}},
		{"the oldest tools", parts{configType: "application/vnd.oci.gardener.cloud.cnudie.component-descriptor-metadata.config.v2+json", layerType: "application/vnd.oci.gardener.cloud.cnudie.component-descriptor.config.v2+yaml+tar", layer: packed(t, text)}},
		{"plain YAML", parts{configType: MediaTypeConfig, layerType: yaml, layer: []byte(text)}},
		{"plain JSON", parts{configType: MediaTypeConfig, layerType: "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+json", layer: []byte(text)}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newStore()
			found, err := s.lookup(t, s.version(t, test.parts), "1.0.0+x")
			if err != nil || found.Name != name || found.Context.Kind() != KindOCI {
				t.Errorf("%+v, %v", found, err)
			}
			// The first manifest of an index counts.
			index := s.json(t, ocispec.MediaTypeImageIndex, ocispec.Index{Manifests: []ocispec.Descriptor{s.version(t, test.parts)}})
			if _, err := s.lookup(t, index, "1.0.0+x"); err != nil {
				t.Errorf("%s, behind an index: %v", test.reason, err)
			}
		})
	}
	s := newStore()
	at := s.version(t, parts{configType: MediaTypeConfig, layerType: yaml, layer: []byte(text)})
	found, err := s.lookup(t, at, "1.0.0.build-x")
	if err != nil || len(found.Warnings) != 1 || !strings.Contains(found.Warnings[0], "use the version") {
		t.Errorf("the tag instead of the version is tolerated with a warning: %+v, %v", found, err)
	}
}

func TestHostileVersions(t *testing.T) {
	good := parts{configType: MediaTypeConfig, layerType: MediaTypeDescriptor, layer: packed(t, text)}
	with := func(change func(*parts)) func(*store) ocispec.Descriptor {
		return func(s *store) ocispec.Descriptor {
			changed := good
			change(&changed)
			return s.version(t, changed)
		}
	}
	for _, test := range []struct {
		reason string
		make   func(*store) ocispec.Descriptor
		want   string
	}{
		{"an image", with(func(p *parts) { p.configType = "application/vnd.oci.image.config.v1+json" }), "artifact is not a component: application/vnd.oci.image.config.v1+json"},
		{"an empty config", with(func(p *parts) { p.config = map[string]any{} }), "invalid component descriptor config"},
		{"a config with a digest that is a path", with(func(p *parts) {
			p.config = map[string]any{"componentDescriptorLayer": map[string]any{"digest": "sha256:../../etc/passwd"}}
		}), "invalid component descriptor config"},
		{"an unknown form of the descriptor", with(func(p *parts) { p.layerType = "text/plain" }), `invalid config mediatype "text/plain"`},
		{"no descriptor in the tar", with(func(p *parts) { p.layer = make([]byte, 1024) }), "no component descriptor found in tar"},
		{"another component", with(func(p *parts) { p.layer = packed(t, strings.Replace(text, "shop/web", "shop/evil", 1)) }), "invalid component name"},
		{"another version", with(func(p *parts) { p.layer = packed(t, strings.Replace(text, "1.0.0+x", "2.0.0", 1)) }), "invalid component version"},
		{"a descriptor against its schema", with(func(p *parts) { p.layer = packed(t, `{"meta":{"schemaVersion":"v2"},"component":{}}`) }), "not valid"},
		{"a descriptor that announces to be huge", with(func(p *parts) {
			p.config = ComponentConfig{DescriptorLayer: &ocispec.Descriptor{MediaType: yaml, Digest: digest.FromString("x"), Size: descriptor.MaxSize + 1}}
		}), "limit"},
		{"an index without manifests", func(s *store) ocispec.Descriptor {
			return s.json(t, ocispec.MediaTypeImageIndex, ocispec.Index{})
		}, "index has no manifests"},
		{"an index of an index", func(s *store) ocispec.Descriptor {
			return s.json(t, ocispec.MediaTypeImageIndex, ocispec.Index{Manifests: []ocispec.Descriptor{s.json(t, ocispec.MediaTypeImageIndex, ocispec.Index{})}})
		}, "first manifest in index is not a manifest"},
		{"a manifest with a size below zero", func(s *store) ocispec.Descriptor {
			return s.json(t, ocispec.MediaTypeImageManifest, ocispec.Manifest{Layers: []ocispec.Descriptor{{Digest: digest.FromString("x"), Size: -5}}})
		}, "has the size -5"},
		{"a manifest that is a list", func(s *store) ocispec.Descriptor { return s.put(ocispec.MediaTypeImageManifest, []byte("[]")) }, "decode manifest"},
		{"a manifest of which a part is missing", func(s *store) ocispec.Descriptor {
			at := s.version(t, good)
			delete(s.blobs, digest.FromBytes(good.layer))
			return at
		}, "the version is not complete"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newStore()
			_, err := s.lookup(t, test.make(s), "1.0.0+x")
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, oci.ErrNotFound) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	s := newStore()
	_, err := OCI(s, Spec{Kind: KindOCI, Host: "r.example.org"}, nil).Lookup(t.Context(), name, "1.0.0")
	var missing *NotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, oci.ErrNotFound) {
		t.Errorf("a version that is not there: %v", err)
	}
}

func TestLocalBlobs(t *testing.T) {
	s := newStore()
	version, err := s.lookup(t, s.version(t, parts{configType: MediaTypeConfig, layerType: yaml, layer: []byte(text), extra: []string{"one ", "two"}}), "1.0.0+x")
	if err != nil {
		t.Fatal(err)
	}
	manifest := s.json(t, ocispec.MediaTypeImageManifest, ocispec.Manifest{Config: s.put("application/json", []byte("{}")), Layers: []ocispec.Descriptor{s.put("text/plain", []byte("inside"))}})
	s.tags[Spec{}.Repository(name)+":"+manifest.Digest.String()] = manifest
	one, two := digest.FromString("one ").String(), digest.FromString("two").String()
	for _, test := range []struct{ reason, reference, mediaType, want, wantType, wantErr string }{
		{"a layer", one, "", "one ", "text/plain", ""},
		{"the access knows the media type", one, "text/x", "one ", "text/x", ""},
		{"pieces in their order", one + ", " + two, "text/x", "one two", "text/x", ""},
		{"an artifact of the same repository", manifest.Digest.String(), ocispec.MediaTypeImageManifest + "+tar+gzip", "", "application/vnd.oci.image.manifest.v1+tar+gzip", ""},
		{"a path", "../../etc/passwd", "", "", "", "is not a digest"},
		{"not there", digest.FromString("nowhere").String(), "", "", "", "not complete"},
		{"too many pieces", strings.Repeat(one+",", MaxPieces+1), "", "", "", "pieces"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			blob, err := version.Blobs.Open(t.Context(), test.reference, test.mediaType)
			var data []byte
			if err == nil {
				data, err = io.ReadAll(blob)
				if closed := blob.Close(); closed != nil {
					t.Error(closed)
				}
			}
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("got %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil || blob.MediaType != test.wantType || (test.want != "" && string(data) != test.want) {
				t.Errorf("got %s %q, %v", blob.MediaType, data, err)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	s := newStore()
	at := s.version(b, parts{configType: MediaTypeConfig, layerType: MediaTypeDescriptor, layer: packed(b, text)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.lookup(b, at, "1.0.0+x"); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzUnpackDescriptor(f *testing.F) {
	f.Add(packed(f, text))
	f.Add([]byte(fmt.Sprint(text)))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if raw, err := unpackDescriptor(MediaTypeDescriptor, data); err == nil {
			_, _ = descriptor.Decode(raw)
		}
	})
}
