package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Registries are ways in which an OCI registry may misbehave.
func Registries() []Way {
	return append(append(anyRequest(), components()...),
		Way{Name: "lying-head", Reason: "a digest that belongs to another content", Serve: lyingHead},
		Way{Name: "other-content", Reason: "content that has not the digest that was asked for", Serve: otherContent},
		Way{Name: "token-elsewhere", Reason: "a token service at another host", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="a",scope="repository:a:pull"`, s.Witness()))
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"`+Canary+`"}]}`, http.StatusUnauthorized)
		}},
		Way{Name: "token-never", Reason: "a token service that never answers", Serve: tokenNever},
		Way{Name: "token-endless", Reason: "a token without end", Serve: tokenEndless},
		Way{Name: "endless-tags", Reason: "a list of tags that always has a next page", Serve: endlessTags},
		Way{Name: "large-layer", Reason: "a manifest that claims layers of any size", Serve: largeLayer},
		Way{Name: "blob-elsewhere", Reason: "blobs at another host", Serve: blobElsewhere},
	)
}

// KnownDigest is a digest that everybody knows: that of the empty JSON object.
const KnownDigest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

const manifestType = "application/vnd.oci.image.manifest.v1+json"

// manifest has a configuration and a layer of the given size and digest.
func manifest(digest string, size int64) string {
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":"application/vnd.ocm.software.component.config.v1+json","digest":%q,"size":2},"layers":[{"mediaType":"application/vnd.ocm.software.component-descriptor.v2+yaml+tar","digest":%q,"size":%d}]}`,
		manifestType, KnownDigest, digest, size)
}

// ping answers whether there is a registry, and says that it did.
func ping(w http.ResponseWriter, r *http.Request) bool {
	if strings.TrimSuffix(r.URL.Path, "/") != "/v2" {
		return false
	}
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	_, _ = io.WriteString(w, "{}")
	return true
}

func lyingHead(_ *Server, w http.ResponseWriter, r *http.Request) {
	if ping(w, r) {
		return
	}
	w.Header().Set("Content-Type", manifestType)
	w.Header().Set("Docker-Content-Digest", KnownDigest)
	w.Header().Set("Content-Length", "2")
	if r.Method == http.MethodHead {
		return
	}
	_, _ = io.WriteString(w, "[]")
}

func otherContent(_ *Server, w http.ResponseWriter, r *http.Request) {
	if ping(w, r) {
		return
	}
	if strings.Contains(r.URL.Path, "/blobs/") {
		_, _ = io.WriteString(w, "!!")
		return
	}
	w.Header().Set("Content-Type", manifestType)
	_, _ = io.WriteString(w, manifest("sha256:"+strings.Repeat("0", 64), 2))
}

func tokenNever(s *Server, w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/token") {
		<-s.ended(r)
		return
	}
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="a"`, s.URL()))
	w.WriteHeader(http.StatusUnauthorized)
}

func tokenEndless(s *Server, w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/token") {
		_, _ = io.WriteString(w, `{"token":"`)
		s.pour(w, []byte(strings.Repeat("t", 64<<10)))
		return
	}
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="a"`, s.URL()))
	w.WriteHeader(http.StatusUnauthorized)
}

func endlessTags(s *Server, w http.ResponseWriter, r *http.Request) {
	if ping(w, r) {
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/tags/list") {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`)
		return
	}
	w.Header().Set("Link", fmt.Sprintf(`<%s?last=%d>; rel="next"`, r.URL.Path, s.Requests()))
	_, _ = fmt.Fprintf(w, `{"name":"a","tags":["v%d"]}`, s.Requests())
}

func largeLayer(s *Server, w http.ResponseWriter, r *http.Request) {
	if ping(w, r) {
		return
	}
	if strings.Contains(r.URL.Path, "/blobs/") {
		w.Header().Set("Content-Length", "1099511627776")
		s.pour(w, []byte(strings.Repeat("\x00", 64<<10)))
		return
	}
	w.Header().Set("Content-Type", manifestType)
	_, _ = io.WriteString(w, manifest("sha256:"+strings.Repeat("1", 64), 1<<40))
}

func blobElsewhere(s *Server, w http.ResponseWriter, r *http.Request) {
	if ping(w, r) {
		return
	}
	if strings.Contains(r.URL.Path, "/blobs/") {
		http.Redirect(w, r, s.Witness(), http.StatusTemporaryRedirect)
		return
	}
	w.Header().Set("Content-Type", manifestType)
	_, _ = io.WriteString(w, manifest(KnownDigest, 2))
}
