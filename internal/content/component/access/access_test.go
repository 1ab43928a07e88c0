package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

// memory is a registry in memory.
type memory struct {
	blobs map[digest.Digest][]byte
	tags  map[string]ocispec.Descriptor
}

func newMemory() *memory {
	return &memory{blobs: map[digest.Digest][]byte{}, tags: map[string]ocispec.Descriptor{}}
}

func (m *memory) Resolve(_ context.Context, name, reference string) (ocispec.Descriptor, error) {
	for _, key := range []string{name + ":" + reference, reference} {
		if found, exists := m.tags[key]; exists {
			return found, nil
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("%s:%s: %w", name, reference, oci.ErrNotFound)
}

func (m *memory) Open(_ context.Context, _ string, d ocispec.Descriptor) (io.ReadCloser, error) {
	data, exists := m.blobs[d.Digest]
	if !exists {
		return nil, oci.ErrNotFound
	}
	return oci.Verified(io.NopCloser(bytes.NewReader(data)), d)
}

func (m *memory) put(mediaType string, data []byte) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	m.blobs[d.Digest] = data
	m.tags[d.Digest.String()] = d
	return d
}

func (m *memory) image(t *testing.T, tag string, layers ...string) ocispec.Descriptor {
	t.Helper()
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: m.put("application/vnd.oci.image.config.v1+json", []byte("{}"))}
	manifest.SchemaVersion = 2
	for _, layer := range layers {
		manifest.Layers = append(manifest.Layers, m.put("application/octet-stream", []byte(layer)))
	}
	raw, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	d := m.put(ocispec.MediaTypeImageManifest, raw)
	m.tags[tag] = d
	return d
}

func inline(t *testing.T, files fstest.MapFS) *repository.Version {
	t.Helper()
	d := &descriptor.Descriptor{Name: "example.org/a", Version: "1.0.0"}
	repositoryOf := repository.Inline([]*descriptor.Descriptor{d}, nil)
	if files != nil {
		repositoryOf = repository.Inline([]*descriptor.Descriptor{d}, files)
	}
	version, err := repositoryOf.Lookup(t.Context(), d.Name, d.Version)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func resource(access string) *descriptor.Resource {
	return &descriptor.Resource{Element: descriptor.Element{Name: "res", Version: "1"}, Type: "t", Access: descriptor.Typed(access)}
}

func TestAccessTypes(t *testing.T) {
	m := newMemory()
	image := m.image(t, "img/x:1", "layer one", "layer two")
	m.tags["img/x:latest"] = image
	blob := m.put("text/plain", []byte("blob"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			w.Header().Set("Content-Type", "text/special")
			fmt.Fprintf(w, "%s %s", r.Method, r.Header.Get("X-Given"))
		case "/charts/index.yaml":
			fmt.Fprint(w, "entries: {app: [{version: 1.0.0, urls: [app-1.0.0.tgz]}, {version: 2.0.0, urls: [app-2.0.0.tgz]}]}")
		case "/charts/app-2.0.0.tgz":
			fmt.Fprint(w, "chart")
		case "/repos/owner/name/tarball/abc":
			fmt.Fprint(w, "source")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	version := inline(t, fstest.MapFS{"f": {Data: []byte("file")}})
	other := inline(t, fstest.MapFS{"o": {Data: []byte("other")}})
	other.Resources = []descriptor.Resource{*resource(`{"type":"localBlob","localReference":"o"}`)}
	reader := &Reader{
		Registry: func(_, _ string) oci.Store { return m }, HTTP: newClient(true), Wget: &Wget{rules: WgetRules{AnyRequest: true}, http: newClient(true)},
		Lookup: func(context.Context, descriptor.Typed, string, string) (*repository.Version, error) {
			return other, nil
		},
	}
	for _, test := range []struct{ reason, access, mediaType, want string }{
		{"an image", `{"type":"ociArtifact","imageReference":"r.example.org/img/x:1"}`, "application/vnd.oci.image.manifest.v1+tar+gzip", ""},
		{"an image of the older name", `{"type":"ociRegistry","imageReference":"r.example.org/img/x:1"}`, "application/vnd.oci.image.manifest.v1+tar+gzip", ""},
		{"another older name, a version, no tag", `{"type":"OCIImage/v1","imageReference":"r.example.org/img/x"}`, "application/vnd.oci.image.manifest.v1+tar+gzip", ""},
		{"an image by digest", `{"type":"ociImage","imageReference":"r.example.org/img/x:old@` + image.Digest.String() + `"}`, "application/vnd.oci.image.manifest.v1+tar+gzip", ""},
		{"a blob", `{"type":"ociBlob","ref":"r.example.org/img/x","mediaType":"text/plain","digest":"` + blob.Digest.String() + `","size":4}`, "text/plain", "blob"},
		{"a blob in the words of some documents", `{"type":"OCIImageLayer","imageReference":"r.example.org/img/x","digest":"` + blob.Digest.String() + `"}`, "", "blob"},
		{"a file of an archive", `{"type":"localFilesystemBlob","fileName":"f","mediaType":"text/x"}`, "text/x", "file"},
		{"a local blob", `{"type":"LocalBlob/v1","localReference":"f","mediaType":"text/y"}`, "text/y", "file"},
		{"a download", `{"type":"wget","URL":"` + server.URL + `/file","header":{"x-given":["yes"]},"verb":"POST"}`, "text/special", "POST yes"},
		{"a download of the older name", `{"type":"web","url":"` + server.URL + `/file","mediaType":"text/z"}`, "text/z", "GET "},
		{"a chart", `{"type":"helm","helmRepository":"` + server.URL + `/charts/","helmChart":"app:2.0.0"}`, chartMediaType, "chart"},
		{"sources", `{"type":"gitHub","repoUrl":"http://` + host + `/owner/name","apiHostname":"` + host + `","commit":"abc"}`, "application/x-tgz", "source"},
		{"a resource of another component", `{"type":"ocm","component":"example.org/b","version":"1.0.0","resourceRef":{"resource":{"name":"res"}}}`, "", "other"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			data, mediaType, err := reader.Read(t.Context(), version, resource(test.access), 1<<20)
			if err != nil || mediaType != test.mediaType || (test.want != "" && string(data) != test.want) {
				t.Errorf("got %s %q, %v", mediaType, data, err)
				return
			}
			if test.want == "" {
				set, err := oci.ReadSet(bytes.NewReader(data), archive.DefaultLimits())
				if err != nil || set.Main.Digest != image.Digest {
					t.Errorf("got %+v, %v", set, err)
				}
			}
		})
	}
}

func TestAccessErrors(t *testing.T) {
	self := inline(t, nil)
	self.Resources = []descriptor.Resource{*resource(`{"type":"ocm","resourceRef":{"resource":{"name":"res"}}}`)}
	reader := &Reader{
		Registry: func(_, _ string) oci.Store { return newMemory() },
		Lookup:   func(context.Context, descriptor.Typed, string, string) (*repository.Version, error) { return self, nil },
	}
	for _, test := range []struct{ reason, access, want string }{
		{"unknown", `{"type":"npm"}`, `access method "npm" is unknown`},
		{"no content", `{"type":"none"}`, "has no content"},
		{"a local blob of an inline descriptor", `{"type":"localBlob","localReference":"x"}`, "inline component descriptors can only use resources that are elsewhere"},
		{"a broken reference", `{"type":"ociArtifact","imageReference":"r.example.org/../x"}`, "is not a reference"},
		{"a broken digest", `{"type":"ociArtifact","imageReference":"r.example.org/x@sha256:zz"}`, "is not a reference"},
		{"not there", `{"type":"ociArtifact","imageReference":"r.example.org/x:1"}`, "not found"},
		{"downloads are switched off", `{"type":"wget","url":"https://x.example.org/a?token=s3cr3t"}`, "switched off"},
		{"no address", `{"type":"wget","url":"file:///etc/passwd"}`, "is not an address"},
		{"a resource that is itself", `{"type":"ocm","resourceRef":{"resource":{"name":"res"}}}`, "more than 16 times"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, _, err := reader.Read(t.Context(), self, resource(test.access), 100)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), `resource "res"`) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestDigestsAreChecked(t *testing.T) {
	m := newMemory()
	image := m.image(t, "img/x:1", "layer")
	var set bytes.Buffer
	if err := oci.WriteSet(t.Context(), &set, m, "img/x", image, ""); err != nil {
		t.Fatal(err)
	}
	version := inline(t, fstest.MapFS{"f": {Data: []byte("file")}, "set": {Data: set.Bytes()}})
	reader := &Reader{Registry: func(_, _ string) oci.Store { return m }}
	right := digest.FromString("file").Encoded()
	for _, test := range []struct {
		reason, access string
		digest         descriptor.Digest
		fails          bool
	}{
		{"a blob", `{"type":"localBlob","localReference":"f"}`, descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationBlob, Value: right}, false},
		{"the old spelling", `{"type":"localBlob","localReference":"f"}`, descriptor.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: NormalisationBlob, Value: right}, false},
		{"another blob", `{"type":"localBlob","localReference":"f"}`, descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationBlob, Value: "00"}, true},
		{"an image", `{"type":"ociArtifact","imageReference":"r.example.org/img/x:1"}`, descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationArtifact, Value: image.Digest.Encoded()}, false},
		{"a tag that was moved", `{"type":"ociArtifact","imageReference":"r.example.org/img/x:1"}`, descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: oldArtifact, Value: right}, true},
		{"an image as an archive", `{"type":"localBlob","localReference":"set"}`, descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationArtifact, Value: image.Digest.Encoded()}, false},
		{"another image as an archive", `{"type":"localBlob","localReference":"set"}`, descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationArtifact, Value: right}, true},
		{"a content that is not part of signatures", `{"type":"localBlob","localReference":"f"}`, descriptor.Digest{HashAlgorithm: "NO-DIGEST", NormalisationAlgorithm: "EXCLUDE-FROM-SIGNATURE", Value: "NO-DIGEST"}, false},
		{"an unknown hash", `{"type":"localBlob","localReference":"f"}`, descriptor.Digest{HashAlgorithm: "MD5", NormalisationAlgorithm: NormalisationBlob, Value: right}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			wanted := resource(test.access)
			wanted.Digest = &test.digest
			if _, _, err := reader.Read(t.Context(), version, wanted, 1<<20); (err != nil) != test.fails {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, _, err := reader.Read(t.Context(), version, resource(`{"type":"localBlob","localReference":"f"}`), 3); err == nil || !strings.Contains(err.Error(), "limit of 3") {
		t.Errorf("more than was asked for: %v", err)
	}
}

func TestDownloadsKeepCredentialsAtHome(t *testing.T) {
	var leaked []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "X-Api-Key"} {
			if r.Header.Get(name) != "" {
				leaked = append(leaked, name)
			}
		}
		fmt.Fprint(w, "content")
	}))
	defer other.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _, _ := r.BasicAuth(); user != "user" || r.Header.Get("X-Api-Key") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, other.URL+"/file", http.StatusFound)
	}))
	defer home.Close()
	credentials := &credential.Store{}
	credentials.AddConsumer(map[string]string{"hostname": strings.TrimPrefix(home.URL, "http://")}, credential.Properties{"username": "user", "password": "s3cr3t"})
	reader := &Reader{HTTP: newClient(true), Credentials: credentials}
	given := `{"type":"wget","url":"` + home.URL + `","header":{"X-Api-Key":["k"]}`
	data, _, err := reader.Read(t.Context(), inline(t, nil), resource(given+"}"), 100)
	if err != nil || string(data) != "content" || len(leaked) > 0 {
		t.Errorf("got %q, %v; the other host saw %v", data, err, leaked)
	}
	if _, _, err := reader.Read(t.Context(), inline(t, nil), resource(given+`,"noRedirect":true}`), 100); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect that is not wanted: %v", err)
	}
	guarded := &Reader{HTTP: newClient(false)}
	_, _, err = guarded.Read(t.Context(), inline(t, nil), resource(`{"type":"wget","url":"`+other.URL+`?token=s3cr3t"}`), 100)
	if !refused(err) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("this machine must not be reached: %v", err)
	}
}

func TestParseReference(t *testing.T) {
	for text, want := range map[string]Reference{
		"r.example.org/a/b:1":         {Host: "r.example.org", Repository: "a/b", Tag: "1"},
		"r.example.org:5000/a":        {Host: "r.example.org:5000", Repository: "a", Tag: "latest"},
		"http://localhost:5000/a:1":   {Scheme: "http", Host: "localhost:5000", Repository: "a", Tag: "1"},
		"oci://r.example.org/a:1":     {Host: "r.example.org", Repository: "a", Tag: "1"},
		"hashicorp/http-echo:0.2.3":   {Host: "docker.io", Repository: "hashicorp/http-echo", Tag: "0.2.3"},
		"alpine":                      {Host: "docker.io", Repository: "library/alpine", Tag: "latest"},
		"registry.example.com/b/my-a": {Host: "registry.example.com", Repository: "b/my-a", Tag: "latest"},
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := ParseReference(text); err != nil || got != want {
				t.Errorf("%s: got %+v, %v", text, got, err)
			}
		})
	}
	for _, text := range []string{"", "r.example.org/", "ftp://r/x", "r.example.org/A B", "r.example.org/a:" + strings.Repeat("x", 200)} {
		t.Run(text, func(t *testing.T) {
			if got, err := ParseReference(text); err == nil {
				t.Errorf("%q is a reference: %+v", text, got)
			}
		})
	}
}

// ample are time limits that a server that answers never reaches.
var ample = registry.Timeouts{Connect: time.Minute, Answer: time.Minute, Stall: time.Minute}

func newClient(internal bool) *http.Client { return limitedClient(internal, ample) }

func limitedClient(internal bool, limits registry.Timeouts) *http.Client {
	client, err := NewHTTPClient(HTTPOptions{Egress: egress.Policy{AllowLoopback: internal}, Timeouts: limits})
	if err != nil {
		panic(err)
	}
	return client
}

// refused reports whether the egress policy has refused a connection.
func refused(err error) bool {
	var by *egress.Refused
	return errors.As(err, &by)
}

// FuzzParseReference reads references. What was read is a host and a repository.
func FuzzParseReference(f *testing.F) {
	f.Add("r.example.org:5000/a/b:1@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	f.Add("http://localhost/a")
	f.Fuzz(func(t *testing.T, text string) {
		reference, err := ParseReference(text)
		if err == nil && (reference.Host == "" || strings.ContainsAny(reference.Host, "/@?# ") || strings.Contains(reference.Repository, "..")) {
			t.Errorf("%q is %+v", text, reference)
		}
	})
}

// TestDigestsOfArtifacts: some tools call the digest of a manifest that of a blob,
// since the bytes of an archive are whatever the archiver makes of them.
func TestDigestsOfArtifacts(t *testing.T) {
	m := newMemory()
	image := m.image(t, "img/x:1", "layer")
	var archived bytes.Buffer
	if err := oci.WriteSet(t.Context(), &archived, m, "img/x", image, "1"); err != nil {
		t.Fatal(err)
	}
	bytesOf := digest.FromBytes(archived.Bytes()).Encoded()
	version := inline(t, fstest.MapFS{"set": {Data: archived.Bytes()}, "text": {Data: []byte("text")}})
	reader := &Reader{Registry: func(_, _ string) oci.Store { return m }}
	const remote = `{"type":"ociArtifact","imageReference":"r.example.org/img/x:1"}`
	const local = `{"type":"localBlob","localReference":"set","mediaType":"application/vnd.oci.image.manifest.v1+tar+gzip"}`
	const layout = `{"type":"localBlob","localReference":"set","mediaType":"application/vnd.ocm.software.oci.layout.v1+tar+gzip"}`
	const broken = `{"type":"localBlob","localReference":"text","mediaType":"application/vnd.oci.image.manifest.v1+tar"}`
	for _, test := range []struct {
		reason, access, value string
		fits                  bool
	}{
		{"an image in a registry, the digest of its manifest", remote, image.Digest.Encoded(), true},
		{"an image in a registry, another digest", remote, bytesOf, false},
		{"an image by value, the digest of its manifest", local, image.Digest.Encoded(), true},
		{"an image by value, the digest of its bytes", local, bytesOf, true},
		{"an image by value, another digest", local, strings.Repeat("0", 64), false},
		{"an image by value, in the layout of OCI", layout, image.Digest.Encoded(), true},
		{"what is no image, whatever its media type says", broken, digest.FromString("text").Encoded(), true},
		{"what is no image, another digest", broken, strings.Repeat("0", 64), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := resource(test.access)
			r.Digest = &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationBlob, Value: test.value}
			_, _, err := reader.Read(t.Context(), version, r, 1<<20)
			if (err == nil) != test.fits || err != nil && !errors.Is(err, oci.ErrDigest) {
				t.Errorf("read: %v", err)
			}
			taken, err := reader.Digest(t.Context(), version, r, "SHA-256", NormalisationBlob)
			if err != nil || (taken.Value == test.value) != test.fits {
				t.Errorf("the digest is %+v, %v", taken, err)
			}
		})
	}
}
