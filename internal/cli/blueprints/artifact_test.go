package blueprints

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
)

// artifactServer is a registry with artifacts of the name x: of tag 1 a manifest whose layer is
// no blueprint, of tag 2 one whose layer is missing, of tag 3 an answer that it is busy.
func artifactServer(t *testing.T) (host string) {
	t.Helper()
	const layer = "this is no archive"
	manifestOf := func(layer digest.Digest, size int) string {
		return fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":%q,"digest":%q,"size":2},"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`,
			mediaTypeConfig, digest.FromString("{}"), mediaTypeLayer, layer, size)
	}
	contents := map[string]string{
		"/v2/x/manifests/1": manifestOf(digest.FromString(layer), len(layer)), "/v2/x/manifests/2": manifestOf(digest.FromString("none"), 4),
		"/v2/x/blobs/" + digest.FromString(layer).String(): layer, "/v2/x/blobs/" + digest.FromString("{}").String(): "{}",
	}
	for _, manifest := range []string{contents["/v2/x/manifests/1"], contents["/v2/x/manifests/2"]} {
		contents["/v2/x/manifests/"+digest.FromString(manifest).String()] = manifest
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, exists := contents[r.URL.Path]
		switch {
		case strings.HasSuffix(r.URL.Path, "/3"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case !exists:
			w.WriteHeader(http.StatusNotFound)
		default:
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			}
			w.Header().Set("Docker-Content-Digest", digest.FromString(content).String())
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			if r.Method == http.MethodGet {
				fmt.Fprint(w, content)
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestArtifactErrors: a blueprint that is an artifact belongs to no component, so that an error
// names none, and names the reference once.
func TestArtifactErrors(t *testing.T) {
	host := artifactServer(t)
	for _, test := range []struct{ reason, reference, want string }{
		{"no blueprint in the layer", "x:1", "blueprint REF: unpack layer 0 of media type"},
		{"no layer", "x:2", "blueprint REF: read the content: read sha256:"},
		{"no artifact", "x:9", "blueprint REF: find x:9 in registry HOST: not found"},
		{"a registry that is busy", "x:3", "blueprint REF: find x:3 in registry HOST: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			reference := "http://" + host + "/" + test.reference
			got := execute(t, "get", reference)
			want := strings.NewReplacer("REF", reference, "HOST", host).Replace(test.want)
			if got.code == 0 || !strings.Contains(got.err, want) || strings.Contains(got.err, "version :") || strings.Count(got.err, "blueprint http") != 1 {
				t.Errorf("got %d: %s\nwant %s", got.code, got.err, want)
			}
		})
	}
}
