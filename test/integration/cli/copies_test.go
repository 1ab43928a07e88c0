package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// requests counts what a registry is asked.
type requests struct {
	mu   sync.Mutex
	seen []string
}

func (r *requests) add(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, request.Method+" "+request.URL.Path)
}

// take returns the requests until now, of those that have all the parts, and forgets
// them.
func (r *requests) take(parts ...string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, one := range r.seen {
		fits := true
		for _, part := range parts {
			fits = fits && strings.Contains(one, part)
		}
		if fits {
			count++
		}
	}
	return count
}

func (r *requests) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = nil
}

// copies moves a component version with what it refers to between registries and
// archives, by reference and by value. Its signature stays valid.
func copies(t *testing.T, w *workplace) {
	files := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte("from the net")) }))
	defer files.Close()
	pushIndex(t, w, "images/many")
	w.keys(t)
	w.write(t, "constructor.yaml", strings.NewReplacer("HOST", w.registry.Address, "FILES", files.URL).Replace(`
components:
- name: example.org/shop/copied
  version: 1.0.0
  provider: p
  resources:
  - {name: text, type: t, input: {type: utf8, text: hello}}
  - {name: image, type: ociImage, version: 1.0.0, access: {type: ociArtifact, imageReference: "HOST/images/many:1.0.0"}}
  - {name: net, type: t, version: 1.0.0, access: {type: wget, url: FILES/file, mediaType: text/plain}}
  references:
  - {name: db, componentName: example.org/shop/copied-db, version: 2.0.0}
- {name: example.org/shop/copied-db, version: 2.0.0, provider: p, resources: [{name: schema, type: t, input: {type: utf8, text: schema}}]}
`))
	const version = "//example.org/shop/copied:1.0.0"
	from := w.registry.Address + "/from"
	w.succeed(t, "push", "constructor.yaml", from, "-q")
	w.succeed(t, "sign", from+version, "-s", "release", "-k", "release.key")
	for _, test := range []struct {
		reason, from, to string
		more             []string
		byValue          bool
	}{
		{"to another place in a registry", from, w.registry.Address + "/to", nil, false},
		{"to an archive", from, "archive.tgz", []string{"--create"}, false},
		{"from an archive", "archive.tgz", w.registry.Address + "/back", nil, false},
		{"by value", from, w.registry.Address + "/value", []string{"--by-value"}, true},
		{"by value to an archive", from, "value", []string{"--by-value", "--create"}, true},
		{"resources by value stay by value", "value", w.registry.Address + "/again", nil, true},
	} {
		args := append([]string{"copy", test.from + version, test.to, "--recursive", "-q"}, test.more...)
		copied := w.succeed(t, args...)
		if strings.Count(copied, "Copied ") != 2 || !strings.HasPrefix(copied, "Copied example.org/shop/copied-db:2.0.0 to "+test.to) {
			t.Errorf("%s: %s", test.reason, copied)
		}
		if again := w.succeed(t, args...); strings.Count(again, "Unchanged: ") != 2 {
			t.Errorf("%s, once more: %s", test.reason, again)
		}
		w.succeed(t, "verify", test.to+version, "-s", "release", "-k", "release.pub")
		if got := w.succeed(t, "download", test.to+version, "net", "-O", "-"); got != "from the net" {
			t.Errorf("%s: the download is %q", test.reason, got)
		}
		listed := w.succeed(t, "list-resources", test.to+version, "-o", "json")
		if strings.Contains(listed, `"type": "ociArtifact"`) == test.byValue || strings.Contains(listed, `"type": "wget"`) == test.byValue {
			t.Errorf("%s: the accesses are %s", test.reason, listed)
		}
		if err := os.RemoveAll(filepath.Join(w.directory, "image")); err != nil {
			t.Fatal(err)
		}
		// An index and two images with a config and a layer each.
		w.succeed(t, "download", test.to+version, "image", "-O", "image.tar", "--oci-layout", "--force", "-q")
		if names := namesIn(t, filepath.Join(w.directory, "image.tar")); len(names) != 2+7 {
			t.Errorf("%s: the image is %v", test.reason, names)
		}
	}
}

// wide is a component version with that many contents.
func wide(count int) string {
	var text strings.Builder
	text.WriteString("name: example.org/shop/wide\nversion: 1.0.0\nprovider: p\nresources:\n")
	for i := range count {
		fmt.Fprintf(&text, "- {name: r%02d, type: t, input: {type: utf8, text: content %d}}\n", i, i)
	}
	return text.String()
}

// cutCopy ends a copy in its middle. What was written is neither read nor written
// again.
func cutCopy(t *testing.T, w *workplace) {
	const contents, cutAfter = 20, 8
	var asked requests
	uploads := 0
	var mu sync.Mutex
	at := front(t, w, func(out http.ResponseWriter, r *http.Request, behind http.Handler) {
		asked.add(r)
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/cut-to/") && strings.Contains(r.URL.Path, "/blobs/") {
			mu.Lock()
			uploads++
			cut := uploads > cutAfter && uploads < contents
			mu.Unlock()
			if cut {
				panic(http.ErrAbortHandler)
			}
		}
		behind.ServeHTTP(out, r)
	})
	w.write(t, "constructor.yaml", wide(contents))
	w.succeed(t, "push", "constructor.yaml", at+"/cut-from", "-q")
	args := []string{"copy", at + "/cut-from//example.org/shop/wide:1.0.0", at + "/cut-to", "-q", "--parallel", "1"}
	if got := w.components(t, args...); got.code != 1 || got.out != "" {
		t.Fatalf("the connection was cut: %+v", got)
	}
	if got := w.components(t, "get", at+"/cut-to//example.org/shop/wide:1.0.0"); got.code != 3 {
		t.Errorf("half a copy is there: %+v", got)
	}
	mu.Lock()
	uploads = contents
	mu.Unlock()
	asked.forget()
	w.succeed(t, args...)
	// Descriptor and config are written as well; of the source, they are read.
	if read, wrote := asked.take("GET ", "/cut-from/", "/blobs/"), asked.take("PUT ", "/cut-to/", "/blobs/"); read != contents-cutAfter+2 || wrote != contents-cutAfter+2 {
		t.Errorf("the second copy read %d contents and wrote %d, want %d", read, wrote, contents-cutAfter+2)
	}
	asked.forget()
	w.succeed(t, args...)
	if got := asked.take(); asked.take("PUT ")+asked.take("POST ") != 0 || got > 3+1+1 {
		t.Errorf("a copy of an existing version cost %d requests: %v", got, asked.seen)
	}
}

// parallelCopy lets no upload end before another one has begun.
func parallelCopy(t *testing.T, w *workplace) {
	second := make(chan struct{})
	begun := 0
	var mu sync.Mutex
	at := front(t, w, func(out http.ResponseWriter, r *http.Request, behind http.Handler) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/parallel-to/") && strings.Contains(r.URL.Path, "/blobs/") {
			mu.Lock()
			if begun++; begun == 2 {
				close(second)
			}
			mu.Unlock()
			select {
			case <-second:
			case <-r.Context().Done():
				return
			}
		}
		behind.ServeHTTP(out, r)
	})
	w.write(t, "constructor.yaml", wide(6))
	w.succeed(t, "push", "constructor.yaml", at+"/parallel-from", "-q")
	from := at + "/parallel-from//example.org/shop/wide:1.0.0"
	if got := w.components(t, "copy", from, at+"/parallel-to", "-q", "--parallel", "1", "--timeout", "1s"); got.code != 5 {
		t.Errorf("one after the other: %+v", got)
	}
	mu.Lock()
	begun = 0
	mu.Unlock()
	w.succeed(t, "copy", from, at+"/parallel-to", "-q")
}

// countedRequests: a registry is asked once for each thing that it holds, and once
// how it wants to be addressed.
func countedRequests(t *testing.T, w *workplace) {
	const references, resources = 20, 50
	var asked requests
	at := front(t, w, func(out http.ResponseWriter, r *http.Request, behind http.Handler) {
		asked.add(r)
		behind.ServeHTTP(out, r)
	})
	image := pushArtifact(t, w, "images/counted", ocispec.MediaTypeImageConfig, ocispec.MediaTypeImageLayer, []byte("layer"))
	text := "components:\n- " + strings.ReplaceAll(strings.TrimSuffix(wide(resources), "\n"), "\n", "\n  ") + "\n"
	text += fmt.Sprintf("  - {name: image, type: ociImage, version: 1.0.0, access: {type: ociArtifact, imageReference: '%s/images/counted@%s'}}\n  references:\n", at, image.Digest)
	var more string
	for i := range references {
		text += fmt.Sprintf("  - {name: ref%02d, componentName: example.org/shop/counted%d, version: 1.0.0}\n", i, i)
		more += fmt.Sprintf("- {name: example.org/shop/counted%d, version: 1.0.0, provider: p}\n", i)
	}
	w.write(t, "constructor.yaml", text+more)
	// The image is where a file says and not the user, so its credentials need a permission.
	w.succeed(t, "push", "constructor.yaml", at+"/counted", "-q", "--plain-http-credentials", strings.TrimPrefix(at, "http://"))
	const version = "/counted//example.org/shop/wide:1.0.0"
	// A component version is a manifest, a config and a descriptor; an image is a
	// manifest, a config and a layer.
	for _, test := range []struct {
		reason string
		args   []string
		most   int
	}{
		{"20 references are resolved", []string{"get", at + version, "--recursive"}, 3*(references+1) + 1},
		{"50 resources and an image are downloaded", []string{"download", at + version, "--all", "-O", "one", "-q"}, 3 + resources + 3 + 1},
		{"all referenced components are downloaded, too", []string{"download", at + version, "--all", "-R", "-O", "all", "-q"}, 3*(references+1) + resources + 3 + 1},
		{"everything is copied", []string{"copy", at + version, "archive", "--create", "-R", "-q"}, 3*(references+1) + resources + 1},
	} {
		asked.forget()
		w.succeed(t, test.args...)
		got := asked.take()
		t.Logf("%s: %d requests", test.reason, got)
		if got > test.most {
			t.Errorf("%s with %d requests, want at most %d", test.reason, got, test.most)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(w.directory, "one")); err != nil || len(entries) != resources+1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}
