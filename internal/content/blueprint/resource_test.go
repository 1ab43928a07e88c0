package blueprint

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/ulikunitz/xz"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
)

const (
	minimal = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"
	// bzipped is a tar with a blueprint.yaml that says "kind: Blueprint".
	bzipped = "QlpoOTFBWSZTWZsQ5Q8AAHD/gMqQEABAAXcQEAAQAHYvXiAICCAAdQ0p6gDTQMgB6npqCSiaBoaAAAH2rxqEErkIRDmuYleyRAhgdtLmwdaxEbBCJkNJ8oXzV0VcWmJOikgkAy9oikoOQucGUM0CJB+LuSKcKEhNiHKHgA=="
	// gzippedLayer is what current tools write.
	gzippedLayer = "application/vnd.gardener.landscaper.blueprint.v1+tar+gzip"
	componentOf  = "example.org/shop/web"
)

// tarOf packs headers; files are filled up to their size.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, header := range headers {
		content := strings.Repeat("#", int(header.Size))
		if header.Name == v1alpha1.BlueprintFileName && header.Typeflag == tar.TypeReg {
			content = minimal
			header.Size = int64(len(content))
		}
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name string) tar.Header { return sized(name, 1) }

func sized(name string, size int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
}

// description is the header of a blueprint.yaml.
func description() tar.Header { return file(v1alpha1.BlueprintFileName) }

func compress(t testing.TB, content []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	writer, err := open(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdTo(to io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(to) }

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := archive.Gzip(&out, func(to io.Writer) error { _, err := to.Write(content); return err }); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// resolve finds the resource "blueprint" of a component version.
func resolve(t testing.TB, session *component.Session) (*repository.Version, *descriptor.Resource) {
	t.Helper()
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	version, err := session.Resolve(t.Context(), component.Reference{Name: componentOf, Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	resource, err := version.Resource(descriptor.Named("blueprint"))
	if err != nil {
		t.Fatal(err)
	}
	return version, resource
}

func typed(t testing.TB, value map[string]any) descriptor.Typed {
	t.Helper()
	object, err := descriptor.NewTyped(value)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// local loads the blueprint of a repository of files, whose resource has an
// access and further fields.
func local(t testing.TB, blobs fstest.MapFS, resource string) (*Blueprint, error) {
	t.Helper()
	files := fstest.MapFS{"component.yaml": {Data: fmt.Appendf(nil,
		"meta: {schemaVersion: v2}\ncomponent: {name: %s, version: 1.0.0, provider: shop, resources: [{name: blueprint, version: 1.0.0, relation: local, %s}]}\n", componentOf, resource)}}
	for name, file := range blobs {
		files["blobs/"+name] = file
	}
	session := component.NewSession(component.NewShared(), component.Options{Local: files, Default: typed(t, map[string]any{"type": "local"})})
	version, found := resolve(t, session)
	return (*Cache)(nil).FromResource(t.Context(), session.Reader(), version, found)
}

// blob loads a blueprint from a blob with a media type.
func blob(t testing.TB, content []byte, mediaType string) (*Blueprint, error) {
	t.Helper()
	return local(t, fstest.MapFS{"content": {Data: content}},
		fmt.Sprintf("type: blueprint, access: {type: localBlob, localReference: content, mediaType: %q}", mediaType))
}

func TestMediaTypes(t *testing.T) {
	plain := tarOf(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"}, file("./blueprint.yaml.bak"), description(), file("./templates/items.yaml"))
	bzip, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string][]byte{
		"plain": plain, "gzip": gzipped(t, plain), "bzip2": bzip,
		"xz":   compress(t, plain, func(to io.Writer) (io.WriteCloser, error) { return xz.NewWriter(to) }),
		"zstd": compress(t, plain, zstdTo),
	}
	for _, mediaType := range []string{
		"application/x-tar", "application/x-tgz", "application/x-tar+gzip",
		"application/vnd.gardener.landscaper.blueprint.v1+tar", gzippedLayer,
		"application/vnd.gardener.landscaper.blueprint.layer.v1.tar", "application/vnd.gardener.landscaper.blueprint.layer.v1.tar+gzip",
		// By their content.
		"application/tar+gzip", "application/gzip", "application/octet-stream", "",
	} {
		for _, form := range slices.Sorted(maps.Keys(contents)) {
			loaded, err := blob(t, contents[form], mediaType)
			if err != nil {
				t.Errorf("%s of media type %q: %v", form, mediaType, err)
				continue
			}
			if want := digest.FromBytes(contents[form]).String(); loaded.Digest != want {
				t.Errorf("%s of media type %q: digest %s, want %s", form, mediaType, loaded.Digest, want)
			}
		}
	}
}

func TestResourceTypes(t *testing.T) {
	tree := fstest.MapFS{"tree/blueprint.yaml": {Data: []byte(minimal)}, "tree/a/b": {Data: []byte("x")}}
	for _, kind := range []string{"blueprint", "landscaper.gardener.cloud/blueprint"} {
		loaded, err := local(t, tree, "type: "+kind+", access: {type: localFilesystemBlob, fileName: tree}")
		if err != nil {
			t.Errorf("a directory of files, type %s: %v", kind, err)
		} else if content, err := fs.ReadFile(loaded.Files, "a/b"); err != nil || string(content) != "x" {
			t.Errorf("type %s: a/b holds %q, %v", kind, content, err)
		}
	}
	for _, test := range []struct{ reason, resource, want string }{
		{"another type", "type: helmChart, access: {type: localBlob, localReference: tree}",
			`resource "blueprint" of component version example.org/shop/web:1.0.0: no handler found for resource type helmChart: a blueprint has the type landscaper.gardener.cloud/blueprint`},
		{"nothing to be read", "type: blueprint, access: {type: none}", "has no content"},
		{"a blob that is not there", "type: blueprint, access: {type: localBlob, localReference: other}", `read resource "blueprint" of component version`},
		{"a wrong digest", "type: blueprint, access: {type: localFilesystemBlob, fileName: tree}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: abc}", "mismatches existing digest"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := local(t, tree, test.resource); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestHostileContents(t *testing.T) {
	link := func(kind byte, name, to string) tar.Header {
		return tar.Header{Typeflag: kind, Name: name, Linkname: to}
	}
	many := []tar.Header{description()}
	for i := range archive.DefaultLimits().Files {
		many = append(many, sized(fmt.Sprint("file", i), 0))
	}
	var promise bytes.Buffer
	promised := sized("a", archive.DefaultLimits().Bytes+1)
	if err := tar.NewWriter(&promise).WriteHeader(&promised); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason  string
		content []byte
		want    string
	}{
		{"a path that leads out", tarOf(t, description(), file("../evil")), "leads out of it"},
		{"a path that leads out on its way", tarOf(t, description(), file("a/../../evil")), "leads out of it"},
		{"a link to the host", tarOf(t, description(), link(tar.TypeSymlink, "a", "/etc/passwd")), "leads out of the tree"},
		{"a link that leads out", tarOf(t, description(), link(tar.TypeSymlink, "a/b", "../../evil")), "leads out of the tree"},
		{"a hard link to the host", tarOf(t, description(), link(tar.TypeLink, "a", "/etc/passwd")), "not a file that was added before"},
		{"the description is a link to the host", tarOf(t, link(tar.TypeSymlink, v1alpha1.BlueprintFileName, "../../etc/passwd")), "leads out of the tree"},
		{"the description is part of a cycle of links", tarOf(t, link(tar.TypeSymlink, v1alpha1.BlueprintFileName, "a"), link(tar.TypeSymlink, "a", v1alpha1.BlueprintFileName)), "a cycle of links"},
		{"a device", tarOf(t, description(), tar.Header{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}), "device"},
		{"a pipe", tarOf(t, description(), tar.Header{Typeflag: tar.TypeFifo, Name: "pipe"}), "device"},
		{"too many files", tarOf(t, many...), "the number of files"},
		{"too deep", tarOf(t, description(), file(strings.Repeat("d/", archive.DefaultLimits().Depth+1)+"x")), "the depth of entry"},
		{"a bomb by its ratio", compress(t, tarOf(t, description(), sized("a", 16<<20)), zstdTo), "the ratio of unpacked to packed bytes"},
		{"a bomb by the size that it says", promise.Bytes(), "unpacked number of bytes"},
		{"a description that is too large", tarOf(t, sized("./blueprint.yaml", maxDescription+1)), "read blueprint.yaml: the number of bytes is more than"},
		{"a cut archive", tarOf(t, description(), sized("a", 5000))[:2500], "unexpected EOF"},
		{"no archive", bytes.Repeat([]byte("hello "), 200), "unpack the content of media type"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			loaded, err := blob(t, test.content, "application/x-tar")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `resource "blueprint" of component version example.org/shop/web:1.0.0`) {
				t.Errorf("got %v, %.200v, want %q", loaded, err, test.want)
			}
			if isRefused(err) && errors.Is(err, ErrNoBlueprint) {
				t.Errorf("what is hostile is not just something else: %v", err)
			}
		})
	}
}

func TestContentsThatAreSomethingElse(t *testing.T) {
	for _, test := range []struct {
		reason    string
		content   []byte
		mediaType string
		want      string
		noMatch   bool
	}{
		{"a directory too much", tarOf(t, file("web/blueprint.yaml"), file("README.md")), gzippedLayer, `found: "README.md", directory "web" (which has one`, false},
		{"a text", []byte("hello"), "text/plain", `the content of media type "text/plain" is not a tar`, true},
		{"a tar of another kind", tarOf(t, file("Chart.yaml")), "application/vnd.cncf.helm.chart.content.v1.tar+gzip", `found: "Chart.yaml"`, false},
		{"a tar of no kind", tarOf(t, file("Chart.yaml")), "application/octet-stream", `the content has media type "application/octet-stream": there is no blueprint.yaml`, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := blob(t, test.content, test.mediaType)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrNoBlueprint) != test.noMatch {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// layer is a part of an artifact.
type layer struct {
	mediaType string
	data      []byte
}

// artifact writes an artifact into an archive, beside a component version that
// refers to it, and loads the blueprint in it.
func artifact(t testing.TB, config string, index int, layers ...layer) (*Blueprint, error) {
	t.Helper()
	directory := t.TempDir()
	target, err := ctf.Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close() //nolint:errcheck // a directory
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		at := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := target.Push(t.Context(), "artifacts/web", at, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	manifest := ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: push(config, []byte("{}"))}
	for _, layer := range layers {
		manifest.Layers = append(manifest.Layers, push(layer.mediaType, layer.data))
	}
	encode := func(value any) []byte {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	at := push(ocispec.MediaTypeImageManifest, encode(manifest))
	if index > 0 {
		all := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: slices.Repeat([]ocispec.Descriptor{at}, index)}
		at = push(ocispec.MediaTypeImageIndex, encode(all))
	}
	if err := target.Tag(t.Context(), "artifacts/web", at, "1.0.0"); err != nil {
		t.Fatal(err)
	}
	constructor, err := publish.Parse([]byte(`{name: ` + componentOf + `, version: 1.0.0, provider: {name: shop}, resources: [
	  {name: blueprint, type: landscaper.gardener.cloud/blueprint, version: 1.0.0, access: {type: relativeOciReference, reference: "artifacts/web:1.0.0"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), constructor, publish.Options{Target: target, Spec: repository.Spec{Kind: repository.KindCTF, FilePath: directory}}); err != nil {
		t.Fatal(err)
	}
	session := component.NewSession(component.NewShared(), component.Options{Files: true, Default: typed(t, map[string]any{"type": "CommonTransportFormat", "filePath": directory})})
	version, found := resolve(t, session)
	return (*Cache)(nil).FromResource(t.Context(), session.Reader(), version, found)
}

func TestArtifacts(t *testing.T) {
	tree := gzipped(t, tarOf(t, description(), sized("templates/a", 1), sized("templates/b", 1)))
	over := tarOf(t, sized("templates/a", 2), sized("templates/c", 3))
	const image = "application/vnd.oci.image.config.v1+json"
	for _, test := range []struct {
		reason, config string
		index          int
		layers         []layer
		want           map[string]int
	}{
		{"as it should be", mediaTypeConfig, 0, []layer{{mediaTypeLayer + "+gzip", tree}}, map[string]int{"templates/a": 1}},
		{"the config alone tells", mediaTypeConfig, 0, []layer{{"application/whatever", tree}}, nil},
		{"the layer alone tells", image, 0, []layer{{mediaTypeLayer, tree}}, nil},
		{"old types", mediaTypeOld + "+gzip", 0, []layer{{mediaTypeOld + "+gzip", tree}}, nil},
		{"only the content tells", image, 0, []layer{{"application/vnd.oci.image.layer.v1.tar+gzip", tree}}, nil},
		{"layers over each other", mediaTypeConfig, 0, []layer{{mediaTypeLayer + "+gzip", tree}, {mediaTypeLayer, over}}, map[string]int{"templates/a": 2, "templates/b": 1, "templates/c": 3}},
		{"a layer that is about the blueprint", mediaTypeConfig, 0, []layer{{mediaTypeLayer, tree}, {"text/markdown", []byte("# Read me")}}, nil},
		{"an index of one", mediaTypeConfig, 1, []layer{{mediaTypeLayer, tree}}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			loaded, err := artifact(t, test.config, test.index, test.layers...)
			if err != nil {
				t.Error(err)
				return
			}
			for name, size := range test.want {
				if content, err := fs.ReadFile(loaded.Files, name); err != nil || len(content) != size {
					t.Errorf("%s has %d bytes (%v), want %d", name, len(content), err, size)
				}
			}
		})
	}
}

func TestArtifactsThatAreRefused(t *testing.T) {
	tree := gzipped(t, tarOf(t, description()))
	const image = "application/vnd.oci.image.config.v1+json"
	for _, test := range []struct {
		reason, config string
		index          int
		layers         []layer
		want           string
		noMatch        bool
	}{
		{"an image", image, 0, []layer{{"application/vnd.oci.image.layer.v1.tar+gzip", tree}, {"application/vnd.oci.image.layer.v1.tar", tree}},
			`it has config type "application/vnd.oci.image.config.v1+json" and 2 layers of types "application/vnd.oci.image.layer.v1.tar+gzip", "application/vnd.oci.image.layer.v1.tar"; blueprints have config type ` + mediaTypeConfig, true},
		{"a chart", "application/vnd.cncf.helm.config.v1+json", 0, []layer{{"application/vnd.cncf.helm.chart.content.v1.tar+gzip", gzipped(t, tarOf(t, file("web/Chart.yaml")))}},
			`1 layers of types "application/vnd.cncf.helm.chart.content.v1.tar+gzip"; blueprints have config type ` + mediaTypeConfig + `: there is no blueprint.yaml at the root of the blueprint's files, found: directory "web"`, true},
		{"no layers", mediaTypeConfig, 0, nil, "0 layers", true},
		{"a layer that is not a tar", image, 0, []layer{{"text/plain", []byte("hello")}}, "unpack layer 0", true},
		{"several to choose from", mediaTypeConfig, 2, []layer{{mediaTypeLayer, tree}}, "it is an index of 2 manifests", true},
		{"a blueprint without a description", mediaTypeConfig, 0, []layer{{mediaTypeLayer, tarOf(t, file("a"))}}, `there is no blueprint.yaml at the root of the blueprint's files, found: "a"`, false},
		{"a path that leads out", image, 0, []layer{{mediaTypeLayer, tarOf(t, description(), file("../a"))}}, "leads out of it", false},
		{"a path that leads out in a single layer of another type", image, 0, []layer{{"a/b", tarOf(t, description(), file("../a"))}}, "leads out of it", false},
		{"a link over which a later layer writes", mediaTypeConfig, 0, []layer{{mediaTypeLayer, tarOf(t, description(), file("d/x"), tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "d"})}, {mediaTypeLayer, tarOf(t, file("l/x"))}}, `"l" is a link and is not a directory`, false},
		{"too many layers", mediaTypeConfig, 0, slices.Repeat([]layer{{mediaTypeLayer, tree}}, maxLayers+1), "the number of layers", false},
		{"too many bytes in all layers together", mediaTypeConfig, 0, slices.Repeat([]layer{{mediaTypeLayer, tarOf(t, description(), sized("a", 9<<20))}}, 8), "the number of bytes is more than", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := artifact(t, test.config, test.index, test.layers...)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrNoBlueprint) != test.noMatch {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if test.noMatch && !strings.Contains(err.Error(), "artifact does not match blueprint downloader (check config media type)") {
				t.Errorf("the message that users know is missing: %v", err)
			}
		})
	}
}

func TestArchiveOfAnArtifactIsFoundByItsContent(t *testing.T) {
	data := tarOf(t, description())
	config := []byte("{}")
	at := func(mediaType string, data []byte) ocispec.Descriptor {
		return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	}
	manifest, err := json.Marshal(ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, Config: at(mediaTypeConfig, config), Layers: []ocispec.Descriptor{at(mediaTypeLayer, data)}})
	if err != nil {
		t.Fatal(err)
	}
	index, err := json.Marshal(ocispec.Index{Manifests: []ocispec.Descriptor{at(ocispec.MediaTypeImageManifest, manifest)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]func(digest.Digest) string{
		"artifact-descriptor.json": oci.BlobPath,
		"index.json":               func(d digest.Digest) string { return "blobs/sha256/" + d.Encoded() },
	} {
		t.Run(name, func(t *testing.T) {
			var set bytes.Buffer
			err := archive.Pack(&set, archive.File{Path: name, Data: index}, archive.File{Path: path(digest.FromBytes(manifest)), Data: manifest},
				archive.File{Path: path(digest.FromBytes(config)), Data: config}, archive.File{Path: path(digest.FromBytes(data)), Data: data})
			if err != nil {
				t.Fatal(err)
			}
			for _, mediaType := range []string{"application/vnd.oci.image.manifest.v1+json+tar+gzip", "application/vnd.oci.image.manifest.v1+json", "application/octet-stream"} {
				if _, err := blob(t, gzipped(t, set.Bytes()), mediaType); err != nil {
					t.Errorf("%s of media type %s: %v", name, mediaType, err)
				}
			}
		})
	}
}
