package component

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/ocmconfig"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

// constructor has a component with two others behind it; they refer to each
// other.
const constructor = `
components:
- name: example.org/shop/web
  version: 1.4.2+rc7
  provider: {name: shop-team}
  labels: [{name: area, value: {x: 1}, signing: true}]
  resources:
  - {name: blueprint, type: landscaper.gardener.cloud/blueprint, input: {type: dir, path: blueprint, compress: true, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar+gzip}}
  - {name: schema, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type":"string"}'}}
  - {name: none, type: thing, access: {type: none}}
  - {name: future, type: thing, access: {type: fromTheFuture}}
  references:
  - {name: db, componentName: example.org/shop/db, version: 3.1.0}
- name: example.org/shop/db
  version: 3.1.0
  provider: shop-team
  componentReferences:
  - {name: base, componentName: example.org/shop/base, version: 1.0.0}
- name: example.org/shop/base
  version: 1.0.0
  provider: {name: shop-team}
  componentReferences:
  - {name: web, componentName: example.org/shop/web, version: 1.4.2+rc7}
`

// transport publishes components into an archive and returns its directory.
func transport(t testing.TB, text string) string {
	t.Helper()
	directory := t.TempDir()
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "blueprint", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"blueprint.yaml": "kind: Blueprint\n", "sub/a.txt": "a"} {
		if err := os.WriteFile(filepath.Join(base, "blueprint", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := publish.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	target, err := ctf.Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close() //nolint:errcheck // a directory
	if _, err := publish.Publish(t.Context(), parsed, publish.Options{Target: target, Directory: base, Spec: repository.Spec{Kind: repository.KindCTF, FilePath: directory}}); err != nil {
		t.Fatal(err)
	}
	return directory
}

func typed(t testing.TB, value map[string]any) descriptor.Typed {
	t.Helper()
	object, err := descriptor.NewTyped(value)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func archiveContext(t testing.TB, path string) descriptor.Typed {
	return typed(t, map[string]any{"type": "CommonTransportFormat", "filePath": path})
}

func session(t testing.TB, options Options) *Session {
	t.Helper()
	shared := &Shared{Cache: cache.New(1<<24, time.Minute, time.Now), Pool: registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts())}
	options.Files = true
	s := NewSession(shared, options)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestArchivesOfAllForms(t *testing.T) {
	directory := transport(t, constructor)
	packed := t.TempDir()
	forms := map[string]string{"directory": directory}
	for name, zip := range map[string]bool{"archive.tar": false, "archive.tgz": true} {
		var out bytes.Buffer
		if err := ctf.PackFile(&out, directory, zip); err != nil {
			t.Fatal(err)
		}
		forms[name] = filepath.Join(packed, name)
		if err := os.WriteFile(forms[name], out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for reason, path := range forms {
		s := session(t, Options{Default: archiveContext(t, path)})
		version, err := s.Resolve(t.Context(), Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"})
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		resource, err := version.Resource(descriptor.Named("blueprint"))
		if err != nil {
			t.Fatal(err)
		}
		data, mediaType, err := s.Reader().Read(t.Context(), version, resource, 1<<20)
		if err != nil || mediaType != "application/vnd.gardener.landscaper.blueprint.v1+tar+gzip" {
			t.Errorf("%s: %s, %v", reason, mediaType, err)
			continue
		}
		files, err := archive.Unpack(bytes.NewReader(data), archive.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if text, err := fs.ReadFile(files, "sub/a.txt"); err != nil || string(text) != "a" {
			t.Errorf("%s: sub/a.txt holds %q (%v)", reason, text, err)
		}
		for name, want := range map[string]string{"none": "has no content", "future": `access method "fromTheFuture" is unknown`} {
			resource, err := version.Resource(descriptor.Named(name))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Reader().Read(t.Context(), version, resource, 10); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: resource %s: got %v, want %q", reason, name, err, want)
			}
		}
	}
}

func TestClosureEndsInCycles(t *testing.T) {
	s := session(t, Options{Default: archiveContext(t, transport(t, constructor))})
	root, err := s.Resolve(t.Context(), Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Closure(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, version := range all {
		names = append(names, version.Name+":"+version.Version)
	}
	want := []string{"example.org/shop/web:1.4.2+rc7", "example.org/shop/db:3.1.0", "example.org/shop/base:1.0.0"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestResolveErrors(t *testing.T) {
	path := transport(t, constructor)
	for _, test := range []struct {
		reason    string
		options   Options
		reference Reference
		want      string
		notFound  bool
	}{
		{"nothing says where", Options{}, Reference{Name: "example.org/a", Version: "1.0.0"}, "no repository or ocm resolvers found", false},
		{"a version that is not there", Options{Default: archiveContext(t, path)}, Reference{Name: "example.org/shop/web", Version: "9.9.9"}, `component version "example.org/shop/web:9.9.9" not found in CommonTransportFormat`, true},
		{"an invalid version", Options{Default: archiveContext(t, path)}, Reference{Name: "example.org/shop/web", Version: "v.1.7.2"}, `component version "v.1.7.2"`, false},
		{"a name that leads out", Options{Default: archiveContext(t, path)}, Reference{Name: "../x", Version: "1.0.0"}, `component name "../x"`, false},
		{"an empty reference", Options{}, Reference{}, "cannot be nil", false},
		{"an unknown repository", Options{Default: typed(t, map[string]any{"type": "S3"})}, Reference{Name: "example.org/a", Version: "1.0.0"}, `unknown repository type "S3"`, false},
		{"an unknown mapping", Options{Default: typed(t, map[string]any{"type": "oci", "baseUrl": "h", "componentNameMapping": "x"})}, Reference{Name: "example.org/a", Version: "1.0.0"}, "unknown component name mapping method", false},
		{"an archive that is not there", Options{Default: archiveContext(t, "/does/not/exist")}, Reference{Name: "example.org/a", Version: "1.0.0"}, "/does/not/exist", true},
		{"local without a root", Options{Default: typed(t, map[string]any{"type": "local"})}, Reference{Name: "example.org/a", Version: "1.0.0"}, "not found", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := session(t, test.options).Resolve(t.Context(), test.reference)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, oci.ErrNotFound) != test.notFound {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	s := NewSession(NewShared(), Options{Default: archiveContext(t, path)})
	if _, err := s.Resolve(t.Context(), Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"}); !errors.Is(err, errFiles) {
		t.Errorf("a server must not open files of its host: %v", err)
	}
}

func TestResolversOfAConfiguration(t *testing.T) {
	first := transport(t, "{name: example.org/a/x, version: 1.0.0, provider: {name: first}}")
	second := transport(t, "components: [{name: example.org/a/x, version: 1.0.0, provider: {name: second}}, {name: example.org/a/y, version: 1.0.0, provider: {name: second}}]")
	config, err := ocmconfig.Parse(fmt.Appendf(nil, `{type: ocm.config.ocm.software, resolvers: [
	  {repository: {type: CommonTransportFormat, filePath: %q}, prefix: example.org/a},
	  {repository: {type: CommonTransportFormat, filePath: %q}}]}`, first, second))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, name string
		context      descriptor.Typed
		want         string
	}{
		{"the longer prefix first", "example.org/a/x", nil, "first"},
		{"what the first does not have comes from the second", "example.org/a/y", nil, "second"},
		{"an explicit repository comes before all", "example.org/a/x", archiveContext(t, second), "second"},
		{"what the explicit one does not have comes from the configuration", "example.org/a/y", archiveContext(t, first), "second"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			version, err := session(t, Options{Config: config}).Resolve(t.Context(), Reference{Context: test.context, Name: test.name, Version: "1.0.0"})
			if err != nil || version.Provider.Name != test.want {
				t.Errorf("got %+v, %v", version, err)
			}
		})
	}
}

func TestInlineTakesPrecedence(t *testing.T) {
	path := transport(t, constructor)
	inline := fmt.Sprintf(`
meta: {schemaVersion: v2}
component:
  name: example.org/shop/web
  version: 1.4.2+rc7
  provider: inline
  repositoryContexts: [{type: CommonTransportFormat, filePath: %q}]
  resources: [{name: data, type: t, version: "1", relation: local, access: {type: localBlob, localReference: file}}]
  componentReferences:
  - {name: remote, componentName: example.org/shop/db, version: 3.1.0}
  - name: lib
    componentName: example.org/dev/lib
    version: 0.2.0
    labels: [{name: landscaper.gardener.cloud/component-descriptor, value: {meta: {schemaVersion: v2}, component: {name: example.org/dev/lib, version: 0.2.0, provider: nested}}}]
`, path)
	top, err := descriptor.Decode([]byte(inline))
	if err != nil {
		t.Fatal(err)
	}
	overwrites := []Overwrite{{Substitution: Reference{Version: "9.9.9"}, Source: Reference{Name: "example.org/dev/lib"}}}
	s := session(t, Options{Overwrites: overwrites})
	reference, err := s.SetInline(top, fstest.MapFS{"file": {Data: []byte("content")}})
	if err != nil {
		t.Fatal(err)
	}
	root, err := s.Resolve(t.Context(), reference)
	if err != nil || root.Provider.Name != "inline" {
		t.Fatalf("the inline descriptor must win: %+v, %v", root, err)
	}
	if data, _, err := s.Reader().Read(t.Context(), root, &root.Resources[0], 100); err != nil || string(data) != "content" {
		t.Errorf("got %q, %v", data, err)
	}
	all, err := s.Closure(t.Context(), root, reference.Context)
	if err != nil || len(all) != 4 {
		t.Fatalf("the closure has %d versions, want 4 (%v)", len(all), err)
	}
	// The label alone is enough, also without the top descriptor being inline.
	version := &repository.Version{Descriptor: top}
	found, err := session(t, Options{}).Referenced(t.Context(), version, &top.References[1], nil)
	if err != nil || found.Provider.Name != "nested" {
		t.Errorf("got %+v, %v", found, err)
	}
	if _, err := session(t, Options{}).Resolve(t.Context(), Reference{Name: "example.org/dev/lib", Version: "0.2.0"}); !errors.Is(err, ErrNoRepository) {
		t.Errorf("nothing is left over for others: %v", err)
	}
}

func TestApplyOverwrites(t *testing.T) {
	a := typed(t, map[string]any{"type": "OCIRegistry", "baseUrl": "a.example.org/x"})
	sameA := descriptor.Typed(`{"subPath":"x", "baseUrl":"https://A.example.org", "type":"ociRegistry/v1"}`)
	b := typed(t, map[string]any{"type": "OCIRegistry", "baseUrl": "b.example.org"})
	given := Reference{Context: a, Name: "example.org/c", Version: "1.0.0"}
	for _, test := range []struct {
		reason     string
		overwrites []Overwrite
		want       Reference
		matched    bool
	}{
		{"no rule", nil, given, false},
		{"another name", []Overwrite{{Source: Reference{Name: "other"}, Substitution: Reference{Version: "2"}}}, given, false},
		{"an empty source matches all", []Overwrite{{Substitution: Reference{Version: "2"}}}, Reference{a, given.Name, "2"}, true},
		{"a match without effect is a match", []Overwrite{{}}, given, true},
		{"a rule that spells the repository in another way", []Overwrite{{Source: Reference{Context: sameA}, Substitution: Reference{Context: b}}}, Reference{b, given.Name, "1.0.0"}, true},
		{"the first wins", []Overwrite{{Substitution: Reference{Version: "2"}}, {Substitution: Reference{Version: "3"}}}, Reference{a, given.Name, "2"}, true},
		{"a substitution counts as a whole", []Overwrite{{Substitution: Reference{Version: "2"}}, {Substitution: Reference{Version: "3", Name: "n"}}}, Reference{a, given.Name, "2"}, true},
		{"several add up", []Overwrite{{Substitution: Reference{Version: "2"}}, {Substitution: Reference{Context: b}}}, Reference{b, given.Name, "2"}, true},
		{"sources see the reference as it was given", []Overwrite{
			{Source: Reference{Version: "1.0.0"}, Substitution: Reference{Version: "2"}}, {Source: Reference{Version: "2"}, Substitution: Reference{Name: "n"}},
		}, Reference{a, given.Name, "2"}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, matched := Apply(test.overwrites, given)
			if diff := cmp.Diff(test.want, got); diff != "" || matched != test.matched {
				t.Errorf("matched %v, %s", matched, diff)
			}
		})
	}
	diff := Diff(given, Reference{b, given.Name, "2"})
	for _, want := range []string{"Component reference has been overwritten:", "component name has not been overwritten", "version: 1.0.0 -> 2"} {
		if !strings.Contains(diff, want) {
			t.Errorf("the difference lacks %q:\n%s", want, diff)
		}
	}
}

func TestComponentArchiveAndLocal(t *testing.T) {
	const text = `{meta: {schemaVersion: v2}, component: {name: example.org/a, version: 1.0.0, resources: [
	  {name: tree, version: "1", type: t, access: {type: localFilesystemBlob, filename: tree}},
	  {name: out, version: "1", type: t, access: {type: localBlob, localReference: ../../secret}}]}}`
	root := t.TempDir()
	component := filepath.Join(root, "component")
	if err := os.MkdirAll(filepath.Join(component, "blobs", "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"component-descriptor.yaml": text, "blobs/tree/a": "x", "../secret": "s"} {
		if err := os.WriteFile(filepath.Join(component, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for reason, s := range map[string]*Session{
		"component archive": session(t, Options{Default: typed(t, map[string]any{"type": "ComponentArchive", "filePath": component})}),
		"local repository":  session(t, Options{Local: os.DirFS(root), Default: typed(t, map[string]any{"type": "local", "filePath": "../component"})}),
	} {
		version, err := s.Resolve(t.Context(), Reference{Name: "example.org/a", Version: "1.0.0"})
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		data, mediaType, err := s.Reader().Read(t.Context(), version, &version.Resources[0], 1<<20)
		if err != nil || mediaType != "application/x-tar" || !bytes.Contains(data, []byte("x")) {
			t.Errorf("%s: a directory is delivered as a tar: %s, %v", reason, mediaType, err)
		}
		if _, _, err := s.Reader().Read(t.Context(), version, &version.Resources[1], 1<<20); err == nil || !strings.Contains(err.Error(), "leads out") {
			t.Errorf("%s: a reference that leads out: %v", reason, err)
		}
	}
}

func TestCutArchiveIsRefused(t *testing.T) {
	path := transport(t, constructor)
	blobs, err := filepath.Glob(filepath.Join(path, "blobs", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatal(blobs, err)
	}
	for _, blob := range blobs {
		if err := os.WriteFile(blob, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = session(t, Options{Default: archiveContext(t, path)}).Resolve(context.Background(), Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"})
	if !errors.Is(err, oci.ErrDigest) {
		t.Errorf("changed blobs must be noticed: %v", err)
	}
}
