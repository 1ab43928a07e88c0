package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
)

// delivery has a component shop with schemas, which refers to base, which refers
// back.
const delivery = `
components:
- name: example.org/shop
  version: 1.0.0
  provider: {name: shop}
  resources:
  - {name: own, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type": "string"}'}}
  - {name: one, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"const": 1}'}}
  - {name: ping, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"items": {"$ref": "cd://componentReferences/base/resources/pong"}}'}}
  - {name: endless, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"$ref": "cd://componentReferences/base/resources/endless"}'}}
  componentReferences:
  - {name: base, componentName: example.org/base, version: 1.0.0}
  - {name: gone, componentName: example.org/gone, version: 1.0.0}
- name: example.org/base
  version: 1.0.0
  provider: {name: shop}
  resources:
  - {name: vendor-schema, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type": "object", "properties": {"name": {"$ref": "#/definitions/name"}, "peer": {"$ref": "cd://resources/compressed"}, "beside": {"$ref": "compressed#/definitions/num"}}, "definitions": {"name": {"type": "string"}}}'}}
  - {name: compressed, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, compress: true, text: "type: integer\ndefinitions: {num: {type: 'null'}}"}}
  - {name: artifact, type: landscaper.gardener.cloud/jsonschema, input: {type: file, path: one.tar, mediaType: application/vnd.oci.image.manifest.v1+tar}}
  - {name: layers, type: landscaper.gardener.cloud/jsonschema, input: {type: file, path: two.tar, mediaType: application/vnd.oci.image.manifest.v1+json+tar}}
  - {name: bomb, type: landscaper.gardener.cloud/jsonschema, input: {type: file, path: bomb, compress: true}}
  - {name: pong, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type": "object", "properties": {"ping": {"$ref": "cd://componentReferences/shop/resources/ping"}}}'}}
  - {name: endless, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"$ref": "cd://componentReferences/shop/resources/endless"}'}}
  - {name: local, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"properties": {"a": {"$ref": "local://a"}}}'}}
  - {name: file, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"$id": "blueprint://", "properties": {"a": {"$ref": "a.json"}}}'}}
  - {name: chart, type: helmChart, input: {type: utf8, text: '{}'}}
  - {name: none, type: landscaper.gardener.cloud/jsonschema, access: {type: none}}
  componentReferences:
  - {name: shop, componentName: example.org/shop, version: 1.0.0}
- name: example.org/base
  version: 1.0.1
  provider: {name: shop}
  resources:
  - {name: vendor-schema, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type": "boolean"}'}}
`

// artifactSet returns an artifact with the given layers as an archive.
func artifactSet(t testing.TB, layers ...string) []byte {
	t.Helper()
	files := []archive.File{}
	blob := func(mediaType string, data []byte) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		files = append(files, archive.File{Path: oci.BlobPath(d.Digest), Data: data})
		return d
	}
	encode := func(object any) []byte {
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: blob("application/json", []byte("{}"))}
	for _, layer := range layers {
		manifest.Layers = append(manifest.Layers, blob("application/vnd.gardener.landscaper.jsonschema.layer.v1.json", []byte(layer)))
	}
	head := blob(ocispec.MediaTypeImageManifest, encode(manifest))
	files = append(files, archive.File{Path: "artifact-descriptor.json", Data: encode(ocispec.Index{Manifests: []ocispec.Descriptor{head}})})
	var out bytes.Buffer
	if err := archive.Pack(&out, files...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// published returns a compiler without a blueprint for a component version, which
// it publishes with others into an archive.
func published(t testing.TB, constructor, base, name string, overwrites ...component.Overwrite) *Compiler {
	t.Helper()
	target := t.TempDir()
	parsed, err := publish.Parse([]byte(constructor))
	if err != nil {
		t.Fatal(err)
	}
	store, err := ctf.Create(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), parsed, publish.Options{Target: store, Directory: base, Spec: repository.Spec{Kind: repository.KindCTF, FilePath: target}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	context, err := descriptor.NewTyped(map[string]any{"type": "CommonTransportFormat", "filePath": target})
	if err != nil {
		t.Fatal(err)
	}
	session := component.NewSession(component.NewShared(), component.Options{Default: context, Files: true, Overwrites: overwrites})
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	version, err := session.Resolve(t.Context(), component.Reference{Name: name, Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return &Compiler{Version: version, Context: context, Finder: session, Reader: session.Reader()}
}

// shop returns a compiler for a blueprint of the component shop.
func shop(t testing.TB, overwrites ...component.Overwrite) *Compiler {
	t.Helper()
	base := t.TempDir()
	for name, content := range map[string][]byte{
		"one.tar": artifactSet(t, `{"type": "string"}`), "two.tar": artifactSet(t, `{}`, `{}`), "bomb": make([]byte, link.MaxDocumentBytes+1),
	} {
		if err := os.WriteFile(filepath.Join(base, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := published(t, delivery, base, "example.org/shop", overwrites...)
	with := blueprint(map[string]string{"a": `{"type": "string"}`, "vendor": `{"$ref": "cd://componentReferences/base/resources/vendor-schema"}`}, map[string]string{
		"a.json": `{}`, "vendor.json": `{"$ref": "cd://componentReferences/base/resources/vendor-schema"}`,
	})
	c.Local, c.Files = with.Local, with.Files
	return c
}

func TestComponentReferences(t *testing.T) {
	c := shop(t)
	for _, test := range []struct{ reason, schema, value, want string }{
		{"a schema of the component itself", `{$ref: "cd://resources/own"}`, "1", "Expected: string"},
		{"a schema of a component that the component refers to, as in section 5.4", `{properties: {vendor: {$ref: "cd://componentReferences/base/resources/vendor-schema"}}}`, "{vendor: {name: 1}}", "vendor.name: Invalid type. Expected: string"},
		{"nested references start at the component that has the schema", `{$ref: "cd://componentReferences/base/resources/vendor-schema"}`, "{peer: a}", "peer: Invalid type. Expected: integer"},
		{"a relative reference leads to another resource of that component", `{$ref: "cd://componentReferences/base/resources/vendor-schema"}`, "{beside: a}", "beside: Invalid type. Expected: null"},
		{"a part of it", `{$ref: "cd://componentReferences/base/resources/vendor-schema#/properties/name"}`, "1", "Expected: string"},
		{"compressed, and YAML", `{$ref: "cd://componentReferences/base/resources/compressed"}`, "a", "Expected: integer"},
		{"an artifact with one layer", `{$ref: "cd://componentReferences/base/resources/artifact"}`, "1", "Expected: string"},
		{"from a local type", `{$ref: "local://vendor"}`, "{name: 1}", "name: Invalid type"},
		{"from a file", `{$ref: "blueprint://vendor.json"}`, "{name: 1}", "name: Invalid type"},
		{"components that refer to each other", `{$ref: "cd://resources/ping"}`, "[{ping: [1]}]", "0.ping.0: Invalid type. Expected: object"},
		{"round and back", `{$ref: "cd://componentReferences/base/componentReferences/shop/resources/own"}`, "1", "Expected: string"},

		{"components that refer to each other without end", `{$ref: "cd://resources/endless"}`, "1", "cyclic references detected: resource endless of component version example.org/shop:1.0.0: (root) -> resource endless of component version example.org/base:1.0.0: (root) -> resource endless of component version example.org/shop:1.0.0"},
		{"local:// in a schema of a component", `{$ref: "cd://componentReferences/base/resources/local"}`, "1", `error resolving reference at resource local of component version example.org/base:1.0.0: properties.a.$ref: "local://a": local://a can be used only in the blueprint, not in a schema of a component`},
		{"blueprint:// there, by an id", `{$ref: "cd://componentReferences/base/resources/file"}`, "1", "a.json can be used only in the blueprint"},
		{"another type of resource", `{$ref: "cd://componentReferences/base/resources/chart"}`, "1", "unable to fetch jsonschema for 'cd://componentReferences/base/resources/chart': resource chart of component version example.org/base:1.0.0 has the type helmChart, but schemas have the type landscaper.gardener.cloud/jsonschema"},
		{"an artifact with two layers", `{$ref: "cd://componentReferences/base/resources/layers"}`, "1", "the artifact has 2 layers"},
		{"a content that is small only when it is packed", `{$ref: "cd://componentReferences/base/resources/bomb"}`, "1", "is more than the limit of"},
		{"a resource without content", `{$ref: "cd://componentReferences/base/resources/none"}`, "1", "has no content"},
		{"a resource that is not there", `{$ref: "cd://resources/x"}`, "1", "unable to fetch jsonschema for 'cd://resources/x': unable to find resource \"cd://resources/x\": local resource x cannot be found"},
		{"a component that is not there", `{$ref: "cd://componentReferences/gone/resources/x"}`, "1", `component gone cannot be found: unable to resolve component reference gone`},
		{"a component instead of a resource", `{$ref: "cd://componentReferences/base"}`, "1", "seems to target a component base but a resource is requested"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expect(t, test.reason, check(t, c, test.schema, test.value), test.want)
		})
	}
	without := *c
	without.Reader = nil
	expect(t, "nothing reads resources", check(t, &without, `{$ref: "cd://resources/own"}`, "1"), "no component reference resolver defined to resolve the ref")
}

// TestOverwrites has a component reference that an administrator leads elsewhere.
func TestOverwrites(t *testing.T) {
	c := shop(t, component.Overwrite{Source: component.Reference{Name: "example.org/base"}, Substitution: component.Reference{Version: "1.0.1"}})
	err := check(t, c, `{$ref: "cd://componentReferences/base/resources/vendor-schema"}`, "{}")
	expect(t, "the substitution counts", err, "Expected: boolean, given: object")
}

// TestDefaultDialectIsTheBlueprints has a schema of a component, which the dialect
// of the blueprint does not concern.
func TestDefaultDialectIsTheBlueprints(t *testing.T) {
	c := shop(t)
	c.Default = "http://json-schema.org/draft-04/schema#"
	expect(t, "draft 4 does not know const", check(t, c, `{const: 1}`, "2"), "")
	expect(t, "the component does not say draft 4", check(t, c, `{$ref: "cd://resources/one"}`, "2"), "Must be 1")
}
