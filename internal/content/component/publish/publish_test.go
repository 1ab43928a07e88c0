package publish

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestOneMistake: the version of a component is that of its elements, too, and said to
// be wrong once.
func TestOneMistake(t *testing.T) {
	_, err := Parse([]byte("name: example.org/a\nversion: foo\nprovider: p\nresources: [{name: rr, type: t, input: {type: utf8}}, {name: ss, version: <componentversion>, type: t, input: {type: utf8}}]\nsources: [{name: tt, type: t, input: {type: utf8}}]"))
	if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.HasPrefix(err.Error(), `the constructor file: line 2: version: the component version "foo"`) {
		t.Errorf("got %v", err)
	}
	_, err = Parse([]byte("name: example.org/a\nversion: foo\nprovider: p\nresources: [{name: rr, version: bar, type: t, input: {type: utf8}}]"))
	if err == nil || !strings.Contains(err.Error(), `resources[0].version: "bar"`) {
		t.Errorf("another one is one more: %v", err)
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"one component", "{name: example.org/a, version: 1.0.0, provider: {name: p}}", ""},
		{"a list, provider as a text", "components: [{name: example.org/a, version: 1.0.0, provider: p}]", ""},
		{"an empty list", "components: []", "has no components"},
		{"a field that does not exist", "{name: example.org/a, version: 1.0.0, provider: p, resource: []}", "resource"},
		{"a field that does not exist, by its name", "components: [{nam: a}]", `line 1: unknown field "nam": did you mean name?`},
		{"a number in the place of a text, by its name", "{name: example.org/a, version: 1.0, provider: p}", "field version must be a text, not number"},
		{"a field twice", "name: example.org/a\nname: example.org/b", "line 2, column 1: the key is there twice, first in line 1"},
		{"aliases that multiply", "labels: [&a [" + strings.Repeat("x,", 2000) + "]" + strings.Repeat(",*a", 2000) + "]", "more than 400000 values"},
		{"an invalid version", "{name: example.org/a, version: latest, provider: p}", `component version "latest"`},
		{"an invalid name", "{name: a, version: 1.0.0, provider: p}", `component name "a"`},
		{"no provider", "{name: example.org/a, version: 1.0.0}", "line 1: provider.name: it is missing"},
		{"neither access nor input", "{name: example.org/a, version: 1.0.0, provider: p, resources: [{name: rr, type: t}]}", `line 1: resources[0]: resource "rr" has neither an access nor an input`},
		{"both access and input", "{name: example.org/a, version: 1.0.0, provider: p, sources: [{name: rr, type: t, access: {type: none}, input: {type: utf8}}]}", `source "rr" has both an access and an input`},
		{"no YAML", "a: [", "constructor file"},
		{"two documents", "{name: example.org/a, version: 1.0.0, provider: p}\n---\n{name: example.org/b, version: 1.0.0, provider: p}", ""},
		{"something wrong in the second document", "{name: example.org/a, version: 1.0.0, provider: p}\n---\nname: example.org/b\nversion: 1.0.0\nprovider: p\nresources:\n- name: R_1 x\n  type: t\n  input: {type: utf8}", `line 7: resources[0].name: "R_1 x"`},
		{"an unknown field in the second document", "{name: example.org/a, version: 1.0.0, provider: p}\n---\nname: example.org/b\nresorces: []", `line 4: unknown field "resorces": did you mean resources?`},
		{"a key that others refuse", "{name: example.org/a, version: 1.0.0, provider: p, resources: [{name: rr, type: t, extraIdentity: {os/arch: x}, input: {type: utf8}}]}", `resources[0].extraIdentity.os/arch`},
		{"a name of a reference that others refuse", "components:\n- name: example.org/a\n  version: 1.0.0\n  provider: p\n  componentReferences:\n  - name: R_x\n    componentName: xy\n    version: foo", `line 6: components[0].componentReferences[0].name: "R_x"`},
		{"a placeholder", "{name: example.org/a, version: 1.0.0, provider: p, resources: [{name: rr, version: <componentversion>, type: t, input: {type: utf8}}]}", ""},
		{"options and the schema of other tools", "{name: example.org/a, version: 1.0.0, provider: p, meta: {configuredSchemaVersion: v3alpha1}, resources: [{name: rr, type: t, options: {skipDigestGeneration: true}, input: {type: utf8/v1}}]}", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Parse([]byte(test.text))
			if test.want == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func directory(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for name, content := range map[string]string{"dir/a.yaml": "a", "dir/sub/b.txt": "b", "dir/c.log": "c", "file": "f"} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

func TestInputs(t *testing.T) {
	base := directory(t)
	for _, test := range []struct {
		reason, mediaType string
		input             Input
		want              []string
		text              string
	}{
		{"a directory", "application/x-tar", Input{Type: "dir", Path: "dir"}, []string{"a.yaml", "c.log", "sub/b.txt"}, ""},
		{"a directory itself", "application/x-tar", Input{Type: "dir", Path: "dir", PreserveDir: true}, []string{"dir/a.yaml", "dir/c.log", "dir/sub/b.txt"}, ""},
		{"a directory without some files", "application/x-tgz", Input{Type: "dir", Path: "dir", Compress: true, ExcludeFiles: []string{"*.log", "sub"}}, []string{"a.yaml"}, ""},
		{"some files of a directory", "application/x-tar", Input{Type: "dir", Path: "dir", IncludeFiles: []string{"*/*.txt"}}, []string{"sub/b.txt"}, ""},
		{"a pattern is about the whole path", "application/x-tar", Input{Type: "dir/v1", Path: "dir", IncludeFiles: []string{"*.txt", "a.yaml"}}, []string{"a.yaml"}, ""},
		{"a media type of one's own", "application/vnd.gardener.landscaper.blueprint.v1+tar+gzip", Input{Type: "dir", Path: "dir", Compress: true, MediaType: "application/vnd.gardener.landscaper.blueprint.v1+tar+gzip"}, []string{"a.yaml", "c.log", "sub/b.txt"}, ""},
		{"a file", "application/octet-stream", Input{Type: "file", Path: "file"}, nil, "f"},
		{"a text", "text/plain", Input{Type: "utf8", Text: "t"}, nil, "t"},
		{"a value as JSON", "application/json", Input{Type: "utf8", JSON: json.RawMessage(`{"a":1}`)}, nil, `{"a":1}`},
		{"a value as YAML", "application/x-yaml", Input{Type: "utf8", YAML: json.RawMessage(`{"a":1}`)}, nil, "a: 1\n"},
		{"a value as YAML with all its digits", "application/x-yaml", Input{Type: "utf8", YAML: json.RawMessage(`{"a":123456789012345678901234567890,"b":1.10}`)}, nil, "a: 123456789012345678901234567890\nb: 1.10\n"},
		{"bytes", "application/octet-stream", Input{Type: "binary", Data: []byte{1}}, nil, "\x01"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.input.read(base)
			if err != nil || got.mediaType != test.mediaType {
				t.Errorf("%s, %v", got.mediaType, err)
				return
			}
			again, err := test.input.read(base)
			if err != nil || !bytes.Equal(dataOf(t, got), dataOf(t, again)) {
				t.Errorf("the same input gives other bytes (%v)", err)
			}
			if test.want == nil {
				if string(dataOf(t, got)) != test.text {
					t.Errorf("got %q", dataOf(t, got))
				}
				return
			}
			var names []string
			if err := archive.Walk(bytes.NewReader(dataOf(t, got)), archive.DefaultLimits(), func(entry archive.Entry) error {
				names = append(names, entry.Path)
				return nil
			}); err != nil || strings.Join(names, " ") != strings.Join(test.want, " ") {
				t.Errorf("the archive has %v (%v), want %v", names, err, test.want)
			}
		})
	}
	for _, test := range []struct {
		reason string
		input  Input
		want   string
	}{
		{"not there", Input{Type: "file", Path: "nowhere"}, "neither in the working directory nor beside"},
		{"no path", Input{Type: "dir"}, "path is missing"},
		{"unknown", Input{Type: "spiff"}, `input of type "spiff"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := test.input.read(base); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestLayout compares what is stored with the published layout.
func TestLayout(t *testing.T) {
	target, err := ctf.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close() //nolint:errcheck // a directory
	constructor, err := Parse([]byte(`
name: example.org/shop/web
version: 1.0.0+x
provider: {name: p}
resources:
- {name: one, type: t, extraIdentity: {arch: arm}, input: {type: utf8, text: same}}
- {name: two, type: t, version: "2", input: {type: utf8, text: same}}
sources: [{name: code, type: t, input: {type: utf8, text: source}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	context := descriptor.Typed(`{"type":"OCIRegistry","baseUrl":"r.example.org"}`)
	var progress []string
	options := Options{Target: target, Spec: repository.Spec{Kind: repository.KindOCI, Host: "r.example.org"}, Context: context, Progress: func(m string) { progress = append(progress, m) }}
	if _, err := Publish(t.Context(), constructor, options); err != nil {
		t.Fatal(err)
	}
	const name = "component-descriptors/example.org/shop/web"
	at, err := target.Resolve(t.Context(), name, "1.0.0.build-x")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := oci.ReadManifest(t.Context(), target, name, at)
	if err != nil {
		t.Fatal(err)
	}
	config, err := oci.Read(t.Context(), target, name, manifest.Config, 1000)
	if err != nil {
		t.Fatal(err)
	}
	layer := manifest.Layers[0]
	same := digest.FromString("same").String()
	for _, test := range []struct{ reason, got, want string }{
		{"media type of the manifest", manifest.MediaType, ocispec.MediaTypeImageManifest},
		{"media type of the config", manifest.Config.MediaType, "application/vnd.ocm.software.component.config.v1+json"},
		{"media type of the descriptor", layer.MediaType, "application/vnd.ocm.software.component-descriptor.v2+yaml+tar"},
		{"the config names the descriptor", string(config), `{"componentDescriptorLayer":{"mediaType":"` + layer.MediaType + `","digest":"` + layer.Digest.String() + `","size":` + itoa(layer.Size) + `}}`},
		{"annotation of the version", manifest.Annotations["software.ocm.componentversion"], "example.org/shop/web:1.0.0+x"},
		{"annotation of the layers: equal contents share one", manifest.Layers[1].Annotations["software.ocm.artifact"], `[{"kind":"resource","identity":{"arch":"arm","name":"one"}},{"kind":"resource","identity":{"name":"two"}}]`},
		{"annotation of a source", manifest.Layers[2].Annotations["software.ocm.artifact"], `[{"kind":"source","identity":{"name":"code"}}]`},
		{"nothing else", itoa(int64(len(manifest.Layers))), "3"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got\n%s\nwant\n%s", test.got, test.want)
			}
		})
	}
	version, err := repository.OCI(target, options.Spec, context).Lookup(t.Context(), "example.org/shop/web", "1.0.0+x")
	if err != nil {
		t.Fatal(err)
	}
	one := version.Resources[0]
	if string(one.Access) != `{"localReference":"`+same+`","mediaType":"text/plain","type":"localBlob"}` || one.Relation != descriptor.RelationLocal || one.Version != "1.0.0+x" ||
		*one.Digest != (descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: "genericBlobDigest/v1", Value: digest.FromString("same").Encoded()}) {
		t.Errorf("the resource is %+v, digest %+v", one, one.Digest)
	}
	if len(progress) == 0 {
		t.Error("no progress was told")
	}
	published, err := Publish(t.Context(), constructor, options)
	if err != nil || !published[0].Unchanged {
		t.Errorf("publishing the same again: %+v, %v", published, err)
	}
	constructor.Components[0].Labels = []descriptor.Label{{Name: "new", Value: json.RawMessage(`1`)}}
	if _, err := Publish(t.Context(), constructor, options); !errors.Is(err, ErrExists) {
		t.Errorf("a version must not change silently: %v", err)
	}
	options.Overwrite = true
	if _, err := Publish(t.Context(), constructor, options); err != nil {
		t.Errorf("unless that is allowed: %v", err)
	}
}

func itoa(number int64) string {
	text, _ := json.Marshal(number)
	return string(text)
}

// TestDirectories: what makes a program of a file, and a link of a name, is kept.
func TestDirectories(t *testing.T) {
	base := directory(t)
	if err := errors.Join(os.Chmod(filepath.Join(base, "dir/a.yaml"), 0o700), os.WriteFile(filepath.Join(base, "dir/.helmignore"), nil, 0o600), os.Symlink("a.yaml", filepath.Join(base, "dir/link"))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		follow bool
		want   string
	}{
		{"as they are", false, ".helmignore -rw-r--r--, a.yaml -rwxr-xr-x, c.log -rw-r--r--, link Lrwxrwxrwx a.yaml, sub/ drwxr-xr-x, sub/b.txt -rw-r--r--"},
		{"what links lead to", true, ".helmignore -rw-r--r--, a.yaml -rwxr-xr-x, c.log -rw-r--r--, link -rwxr-xr-x, sub/ drwxr-xr-x, sub/b.txt -rw-r--r--"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := (&Input{Type: "dir", Path: "dir", FollowSymlinks: test.follow}).read(base)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for reader := tar.NewReader(bytes.NewReader(dataOf(t, got))); ; {
				header, err := reader.Next()
				if err != nil {
					break
				}
				found = append(found, strings.TrimSpace(header.Name+" "+header.FileInfo().Mode().String()+" "+header.Linkname))
			}
			if text := strings.Join(found, ", "); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}

// TestLinksToDirectories: they are followed as links to files are, but not out of the directory and
// not in a cycle.
func TestLinksToDirectories(t *testing.T) {
	for _, test := range []struct {
		reason, link, to, want, err string
		input                       Input
	}{
		{"to a directory beside it", "link", "sub", "a.yaml c.log link/ link/b.txt sub/ sub/b.txt", "", Input{}},
		{"without some of its files", "link", "sub", "a.yaml c.log link/ sub/ sub/b.txt", "", Input{ExcludeFiles: []string{"link/b.txt"}}},
		{"left out", "link", "sub", "a.yaml c.log sub/ sub/b.txt", "", Input{ExcludeFiles: []string{"link"}}},
		{"into the directory itself", "sub/link", "..", "", "leads to the directory that it is in", Input{}},
		{"out of the directory", "link", "../file", "", "the link link cannot be followed", Input{}},
		{"out of the directory, left out", "link", "../file", "a.yaml c.log sub/ sub/b.txt", "", Input{ExcludeFiles: []string{"link"}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			base := directory(t)
			if err := os.Symlink(test.to, filepath.Join(base, "dir", test.link)); err != nil {
				t.Fatal(err)
			}
			test.input.Type, test.input.Path, test.input.FollowSymlinks = "dir", "dir", true
			got, err := test.input.read(base)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), "keep links") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for reader := tar.NewReader(bytes.NewReader(dataOf(t, got))); ; {
				header, err := reader.Next()
				if err != nil {
					break
				}
				names = append(names, header.Name)
			}
			if found := strings.Join(names, " "); found != test.want {
				t.Errorf("got  %s\nwant %s", found, test.want)
			}
		})
	}
}

// TestWords: a constructor file is YAML 1.2.
func TestWords(t *testing.T) {
	constructor, err := Parse([]byte("{name: example.org/a, version: 1.0.0, provider: p, labels: [{name: a, value: [yes, on, no, y, n, off, true]}]}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(constructor.Components[0].Labels[0].Value); got != `["yes","on","no","y","n","off",true]` {
		t.Errorf("got %s", got)
	}
}

// dataOf reads a content.
func dataOf(t *testing.T, c content) []byte {
	t.Helper()
	data, err := io.ReadAll(c.reader(0, c.size))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
