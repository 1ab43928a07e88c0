package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/registry"
)

// other is a release that the mirror has: the one of the program under another version.
const other = "v2.8.1"

// packed are its manifests, as Flux publishes them.
func packed(t *testing.T) []byte {
	t.Helper()
	folder := path.Join("flux", DefaultVersion())
	names, err := bundled.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var files []archive.File
	for _, name := range names {
		content, err := bundled.ReadFile(path.Join(folder, name.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, archive.File{Path: name.Name(), Data: content})
	}
	var made bytes.Buffer
	if err := archive.Gzip(&made, func(to io.Writer) error { return archive.Pack(to, files...) }); err != nil {
		t.Fatal(err)
	}
	return made.Bytes()
}

// counting serves and counts what it was asked for.
type counting struct {
	*httptest.Server
	asked atomic.Int32
}

func serve(t *testing.T, handler http.HandlerFunc) *counting {
	t.Helper()
	c := &counting{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		handler(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

func mirrored(t *testing.T, address, checksum string) *Library {
	t.Helper()
	l, err := NewLibrary(&Mirror{
		Address: address, Checksums: map[string]string{other: checksum}, Shared: component.NewSharedWith(egress.Policy{AllowLoopback: true}),
		Access: component.Options{Registry: registry.Options{AllowPlainHTTP: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func wanted() Options {
	options := Defaults()
	options.Version = other
	return options
}

// TestMirror gets a release once, however many ask for it at the same time.
func TestMirror(t *testing.T) {
	data := packed(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/flux/"+other+"/manifests.tar.gz" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(data)
	})
	l := mirrored(t, server.URL+"/flux/{version}/manifests.tar.gz", digest.FromBytes(data).String())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			objects, err := l.Manifests(t.Context(), wanted())
			if err != nil || objects[0].GetLabels()[labelVersion] != other {
				t.Errorf("got %d objects (%v)", len(objects), err)
			}
		})
	}
	all.Wait()
	if asked := server.asked.Load(); asked != 1 {
		t.Errorf("the mirror was asked %d times", asked)
	}
	if versions := l.Versions(); len(versions) != 2 || versions[0] != DefaultVersion() || versions[1] != other {
		t.Errorf("versions %v", versions)
	}
}

// TestMirrorInARegistry gets a release that is one file in a registry.
func TestMirrorInARegistry(t *testing.T) {
	content, err := os.ReadFile("testdata/usual.yaml")
	if err != nil {
		t.Fatal(err)
	}
	everything := bytes.NewBuffer(content)
	for _, component := range DefaultComponents() {
		kinds, err := bundled.ReadFile(path.Join("flux", DefaultVersion(), component+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(kinds), "---\n") {
			if strings.Contains(document, "kind: CustomResourceDefinition") {
				fmt.Fprintf(everything, "---\n%s", document)
			}
		}
	}
	var layer bytes.Buffer
	if err := archive.Gzip(&layer, func(to io.Writer) error {
		return archive.Pack(to, archive.File{Path: "flux-system/gotk-components.yaml", Data: everything.Bytes()})
	}); err != nil {
		t.Fatal(err)
	}
	blob := digest.FromBytes(layer.Bytes())
	manifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":"application/vnd.cncf.flux.config.v1+json","digest":%q,"size":2},"layers":[{"mediaType":"application/vnd.cncf.flux.content.v1.tar+gzip","digest":%q,"size":%d}]}`,
		ocispec.MediaTypeImageManifest, digest.FromString("{}"), blob, layer.Len())
	pin := digest.FromString(manifest)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{"/v2/fluxcd/flux-manifests/manifests/" + pin.String(): manifest, "/v2/fluxcd/flux-manifests/blobs/" + blob.String(): layer.String()}[r.URL.Path]
		if answer == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromString(answer).String())
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(answer))
		}
	})
	l := mirrored(t, "oci://"+strings.TrimPrefix(server.URL, "http://")+"/fluxcd/flux-manifests", pin.String())
	options := wanted()
	options.Namespace = "gitops"
	objects, err := l.Manifests(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Version = ""
	same, err := l.Manifests(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	got, want := byName(objects), byName(same)
	if len(got) != len(want) {
		t.Errorf("%d objects instead of %d", len(got), len(want))
	}
	for name := range want {
		if _, there := got[name]; !there {
			t.Errorf("%s is missing", name)
		}
	}
	options.Version, options.Components = other, append(DefaultComponents(), sourceWatcher)
	if _, err := l.Manifests(t.Context(), options); err == nil || !strings.Contains(err.Error(), "source-watcher: choose components that this release has") {
		t.Errorf("a controller that the release does not have: %v", err)
	}
}

// TestMirrorFails shows what people read when a release cannot be had, and that a mirror
// that fails is not asked by every shoot.
func TestMirrorFails(t *testing.T) {
	data := packed(t)
	tests := []struct {
		reason      string
		handler     http.HandlerFunc
		checksum    string
		unreachable bool
		want        string
	}{
		{"a mirror without the file", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, digest.FromBytes(data).String(), true, "404"},
		{"a page instead of manifests", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in</html>")) }, digest.FromBytes(data).String(), true, "the file has changed, or the checksum is wrong"},
		{"too large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxPacked+1)) }, digest.FromBytes(data).String(), true, "number of bytes"},
		{"no manifests, but the checksum is right", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a: b\n")) }, digest.FromString("a: b\n").String(), false, "apiVersion, kind or metadata.name is missing"},
		{"not those of a release", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
		}, digest.FromString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").String(), false, "of source-controller"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			server := serve(t, test.handler)
			l := mirrored(t, server.URL+"/{version}", test.checksum)
			clock := time.Now()
			l.mirror.now = func() time.Time { return clock }
			for range 3 {
				_, err := l.Manifests(t.Context(), wanted())
				if err == nil || errors.Is(err, ErrUnreachable) != test.unreachable || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "Flux "+other) {
					t.Fatalf("error %v", err)
				}
			}
			once := server.asked.Load()
			clock = clock.Add(pause)
			if _, err := l.Manifests(t.Context(), wanted()); err == nil {
				t.Error("it cannot be had now, either")
			}
			if asked := server.asked.Load(); asked != 2*once {
				t.Errorf("asked %d times at first, and %d times in all after a pause", once, asked)
			}
			if _, err := l.Manifests(t.Context(), Defaults()); err != nil {
				t.Errorf("the default version needs no mirror: %v", err)
			}
		})
	}
}

// TestMirrorKeepsToTheRules shows that a mirror is reached by the rules for everything that
// the process reaches.
func TestMirrorKeepsToTheRules(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	l, err := NewLibrary(&Mirror{Address: server.URL + "/{version}", Checksums: map[string]string{other: digest.FromString("").String()}, Shared: component.NewShared()})
	if err != nil {
		t.Fatal(err)
	}
	var refused *egress.Refused
	if _, err := l.Manifests(t.Context(), wanted()); !errors.As(err, &refused) || server.asked.Load() > 0 {
		t.Errorf("asked %d times: %v", server.asked.Load(), err)
	}
}

// TestWhoWaitsMayGo: a release is fetched for the others when the first caller gives up.
func TestWhoWaitsMayGo(t *testing.T) {
	data, arrived, answer := packed(t), make(chan struct{}), make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-answer
		_, _ = w.Write(data)
	})
	l := mirrored(t, server.URL+"/{version}", digest.FromBytes(data).String())
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := l.Manifests(ctx, wanted())
		gone <- err
	}()
	<-arrived
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gives up gets %v", err)
	}
	close(answer)
	if _, err := l.Manifests(t.Context(), wanted()); err != nil || server.asked.Load() != 1 {
		t.Errorf("who stays gets %v after %d requests", err, server.asked.Load())
	}
}

func TestMirrorConfiguration(t *testing.T) {
	good := digest.FromString("x").String()
	tests := []struct {
		reason, address string
		checksums       map[string]string
		want            string
	}{
		{"a file on a server", "https://mirror.example.org/{version}/manifests.tar.gz", map[string]string{other: good}, ""},
		{"an artifact in a registry", "oci://registry.example.org/fluxcd/flux-manifests", map[string]string{other: good}, ""},
		{"every version would be the same file", "https://mirror.example.org/manifests.tar.gz", nil, "write {version}"},
		{"another scheme", "ftp://mirror.example.org/{version}", nil, "use https, http or oci"},
		{"no address", "mirror", nil, "write https://"},
		{"credentials do not belong there", "https://me:hunter2@mirror.example.org/{version}", nil, "without credentials"},
		{"no repository", "oci://registry.example.org", nil, "oci://host/repository"},
		{"a version without its letter", "https://mirror.example.org/{version}", map[string]string{"2.8.1": good}, "write the version as in v"},
		{"a checksum that is too short", "https://mirror.example.org/{version}", map[string]string{other: "sha256:12"}, "checksum of version " + other},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := NewLibrary(&Mirror{Address: test.address, Checksums: test.checksums})
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a password is told: %v", err)
			}
		})
	}
}
