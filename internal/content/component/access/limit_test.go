package access

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
)

// TestLimitAndProgress: every kind of content keeps the limit, and says how much of it has come.
func TestLimitAndProgress(t *testing.T) {
	m := newMemory()
	m.image(t, "img/x:1", strings.Repeat("layer", 100))
	blob := m.put("text/plain", bytes.Repeat([]byte("b"), 1000))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/unknown" {
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(bytes.Repeat([]byte("w"), 1000))
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	version := inline(t, fstest.MapFS{"f": {Data: make([]byte, 1000)}, "d/f": {Data: make([]byte, 1000)}})
	for _, test := range []struct {
		reason, access string
		total          int64
	}{
		{"a download", `{"type":"wget","url":"` + server.URL + `/file"}`, 1000},
		{"a download of unknown size", `{"type":"wget","url":"` + server.URL + `/unknown"}`, 0},
		{"sources", `{"type":"gitHub","repoUrl":"http://` + host + `/owner/name","apiHostname":"` + host + `","commit":"abc"}`, 1000},
		{"an object", `{"type":"s3","bucket":"b","key":"k"}`, 1000},
		{"a blob", `{"type":"ociBlob","ref":"r.example.org/img/x","digest":"` + blob.Digest.String() + `","size":1000}`, 1000},
		{"a blob of unknown size", `{"type":"ociBlob","ref":"r.example.org/img/x","digest":"` + blob.Digest.String() + `"}`, 0},
		{"a file", `{"type":"localBlob","localReference":"f"}`, 1000},
		{"a directory", `{"type":"localBlob","localReference":"d"}`, 2560},
		{"an image", `{"type":"ociArtifact","imageReference":"r.example.org/img/x:1"}`, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			reader := &Reader{Registry: func(_, _ string) oci.Store { return m }, HTTP: newClient(true), S3Endpoint: server.URL}
			var done, total int64
			calls := 0
			reader.Progress = func(name string, now, all int64) {
				if name != "res" || now < done {
					t.Errorf("%s %d after %d", name, now, done)
				}
				calls++
				done, total = now, all
			}
			data, _, err := reader.Read(t.Context(), version, resource(test.access), 1<<20)
			if err != nil || done != int64(len(data)) || total != test.total || calls == 0 {
				t.Errorf("%d of %d bytes in %d calls, %d came (%v)", done, total, calls, len(data), err)
			}
			reader.Progress, reader.MaxBytes = nil, int64(len(data))
			if _, _, err := reader.Read(t.Context(), version, resource(test.access), 1<<20); err != nil {
				t.Errorf("as large as allowed: %v", err)
			}
			reader.MaxBytes = 100
			var large *archive.TooLargeError
			if _, _, err := reader.Read(t.Context(), version, resource(test.access), 1<<20); !errors.As(err, &large) {
				t.Errorf("larger than allowed: %v", err)
			}
			if _, err := reader.Digest(t.Context(), version, resource(test.access), "SHA-256", ""); err != nil {
				t.Errorf("a digest needs no space: %v", err)
			}
		})
	}
}

// TestImageArchives: the digest of an image in an archive is taken while it is
// read, whatever its size.
func TestImageArchives(t *testing.T) {
	m := newMemory()
	// More than is ever unpacked into memory.
	image := m.image(t, "img/x:1", strings.Repeat("0123456789abcdef", int(archive.DefaultLimits().Bytes/16)+1))
	var set bytes.Buffer
	if err := oci.WriteSet(t.Context(), &set, m, "img/x", image, ""); err != nil {
		t.Fatal(err)
	}
	cut := set.Bytes()[:set.Len()-100]
	version := inline(t, fstest.MapFS{"set": {Data: set.Bytes()}, "cut": {Data: cut}, "text": {Data: []byte("no archive")}})
	right := &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationArtifact, Value: image.Digest.Encoded()}
	const archived = ocispec.MediaTypeImageManifest + "+tar+gzip"
	reader := &Reader{}
	for _, test := range []struct{ reason, blob, want string }{
		{"all of it", "set", ""},
		{"cut off", "cut", "EOF"},
		{"no archive at all", "text", "artifact set"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			wanted := resource(`{"type":"localBlob","localReference":"` + test.blob + `","mediaType":"` + archived + `"}`)
			taken, err := reader.Digest(t.Context(), version, wanted, "SHA-256", "")
			if (err != nil) != (test.want != "") || (err == nil && *taken != *right) {
				t.Errorf("digest %+v, %v", taken, err)
			}
			wanted.Digest = right
			blob, err := reader.Resource(t.Context(), version, wanted)
			if err == nil {
				_, err = io.Copy(io.Discard, blob)
				err = errors.Join(err, blob.Close())
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	// A reader that has enough may stop.
	wanted := resource(`{"type":"localBlob","localReference":"set","mediaType":"` + archived + `"}`)
	wanted.Digest = right
	blob, err := reader.Resource(t.Context(), version, wanted)
	if err == nil {
		_, err = io.CopyN(io.Discard, blob, 10)
		err = errors.Join(err, blob.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// TestHostileDownloads: servers that hang, cut off or redirect for ever.
func TestHostileDownloads(t *testing.T) {
	for _, test := range []struct {
		reason string
		// limits are short where nothing comes, and long where something does.
		limits registry.Timeouts
		answer http.HandlerFunc
		want   func(error) bool
	}{
		{"never answers", registry.Timeouts{Connect: time.Minute, Answer: 50 * time.Millisecond, Stall: time.Minute}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "timeout")
		}},
		{"answers and stands still", registry.Timeouts{Connect: time.Minute, Answer: time.Minute, Stall: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("con"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, func(err error) bool { return errors.Is(err, registry.ErrStalled) }},
		{"a cut connection", ample, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("con"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"redirects for ever", ample, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again"+r.URL.Path, http.StatusFound)
		}, func(err error) bool { return err != nil && strings.Contains(err.Error(), "more than 5 times") }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			server := httptest.NewServer(test.answer)
			for _, access := range []string{`{"type":"wget","url":"` + server.URL + `"}`, `{"type":"s3","bucket":"b","key":"k"}`, `{"type":"helm","helmRepository":"` + server.URL + `","helmChart":"a:1"}`, `{"type":"git","repository":"` + server.URL + `/a"}`} {
				reader := &Reader{HTTP: limitedClient(true, test.limits), S3Endpoint: server.URL}
				_, _, err := reader.Read(t.Context(), inline(t, nil), resource(access), 1<<20)
				if err == nil || (!strings.Contains(access, `"git"`) && !test.want(err)) {
					t.Errorf("%s: got %v", access, err)
				}
			}
			server.Close()
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, access := range []string{`{"type":"wget","url":"https://example.org"}`, `{"type":"git","repository":"https://example.org/a"}`} {
		if _, _, err := (&Reader{HTTP: newClient(false)}).Read(ctx, inline(t, nil), resource(access), 100); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller may give up: %v", err)
		}
	}
}

func TestAuthoritiesOfDownloads(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			fmt.Fprint(w, "entries: {app: [{version: 1.0.0, urls: [app.tgz]}]}")
			return
		}
		fmt.Fprint(w, "content")
	}))
	defer server.Close()
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	chart := `{"type":"helm","helmRepository":"` + server.URL + `","helmChart":"app:1.0.0"`
	credentials := &credential.Store{}
	credentials.AddConsumer(map[string]string{"hostname": strings.TrimPrefix(server.URL, "https://")}, credential.Properties{credential.Authority: authority})
	for _, test := range []struct {
		reason, access string
		credentials    *credential.Store
		wantErr        string
	}{
		{"an unknown authority", chart + "}", nil, "certificate"},
		{"the one of the access", chart + fmt.Sprintf(`,"caCert":%q}`, authority), nil, ""},
		{"the one of the credentials", chart + "}", credentials, ""},
		{"for any download", `{"type":"wget","url":"` + server.URL + `"}`, credentials, ""},
		{"an invalid authority", chart + `,"caCert":"x"}`, nil, "no PEM certificate"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			reader := &Reader{HTTP: newClient(true), Credentials: test.credentials}
			data, _, err := reader.Read(t.Context(), inline(t, nil), resource(test.access), 1<<20)
			if test.wantErr == "" && (err != nil || string(data) != "content") || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("got %q, %v", data, err)
			}
		})
	}
}
