package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
)

// components are ways to answer with a component version that is one, and content that
// is not meant well.
func components() []Way {
	way := func(name, reason string, descriptor func(version string, blueprint blob) string, blueprint []byte) Way {
		var blobs sync.Map
		return Way{Name: name, Reason: reason, Serve: func(_ *Server, w http.ResponseWriter, r *http.Request) {
			if !ping(w, r) {
				component{&blobs, descriptor, blueprint}.serve(w, r)
			}
		}}
	}
	return []Way{
		way("endless-references", "component versions that refer to a further one without end", referring, archive(file{"blueprint.yaml", []byte("apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports:\n- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}\ndeployExecutions:\n- {name: a, type: GoTemplate, template: \"deployItems: [{name: a, type: {{ len .components.components }}}]\"}\n")})),
		way("deep-descriptor", "a component descriptor that is nested 100,000 times", func(string, blob) string {
			return strings.Repeat(`{"meta":`, 100_000) + "1" + strings.Repeat("}", 100_000)
		}, nil),
		way("blueprint-bomb", "a small blueprint that unpacks to a large one", single, largeArchive()),
		way("blueprint-no-archive", "a blueprint that is no archive", single, bytes.Repeat([]byte(Canary), 1000)),
	}
}

// LargeClosure is a registry with a component version that refers to others, each with a descriptor of
// many small values.
func LargeClosure(versions, values int) Way {
	var blobs sync.Map
	long := strings.Repeat(`{"name":"n","type":"t","relation":"local","version":"1","access":{"type":"none"}},`, values)
	descriptor := func(version string, blueprint blob) string {
		if version != "1.0.0" {
			return strings.Replace(single(version, blueprint), `"resources":[`, `"resources":[`+long, 1)
		}
		references := make([]string, versions)
		for i := range references {
			references[i] = fmt.Sprintf(`{"name":"r%d","componentName":"example.org/a","version":"1.0.%d"}`, i, i+1)
		}
		return described(version, blueprint, strings.Join(references, ","))
	}
	blueprint := archive(file{"blueprint.yaml", []byte("apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports:\n- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}\ndeployExecutions:\n- {name: a, type: GoTemplate, template: \"deployItems: [] # {{ len .components.components }}\"}\n")})
	return Way{Name: "large-closure", Reason: "component versions with large descriptors that refer to each other", Serve: func(_ *Server, w http.ResponseWriter, r *http.Request) {
		if !ping(w, r) {
			component{&blobs, descriptor, blueprint}.serve(w, r)
		}
	}}
}

// WideBlueprint is a registry with a blueprint whose files unpack to so many MiB.
func WideBlueprint(mebibytes int) Way {
	var blobs sync.Map
	about := []byte("apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports:\n- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}\n")
	// Each registry has another content: what is known by its digest is shared.
	large := binary.BigEndian.AppendUint64(bytes.Repeat([]byte("x"), mebibytes<<20), rand.Uint64())
	blueprint := archive(file{"blueprint.yaml", about}, file{"large", large})
	return Way{Name: "wide-blueprint", Reason: "a small blueprint whose files are large", Serve: func(_ *Server, w http.ResponseWriter, r *http.Request) {
		if !ping(w, r) {
			component{&blobs, single, blueprint}.serve(w, r)
		}
	}}
}

// largeArchive is packed once, and before anything is measured.
var largeArchive = sync.OnceValue(func() []byte { return archive(file{"blueprint.yaml", bytes.Repeat([]byte(" "), MaxBytes)}) })

// component answers for any component version.
type component struct {
	blobs      *sync.Map
	descriptor func(version string, blueprint blob) string
	blueprint  []byte
}

// blob is how content is referred to.
type blob struct {
	digest string
	size   int
}

func (c component) put(content []byte) blob {
	sum := sha256.Sum256(content)
	b := blob{"sha256:" + hex.EncodeToString(sum[:]), len(content)}
	c.blobs.Store(b.digest, content)
	return b
}

func (c component) serve(w http.ResponseWriter, r *http.Request) {
	wanted := path.Base(r.URL.Path)
	content, known := c.blobs.Load(wanted)
	if !known && strings.Contains(r.URL.Path, "/manifests/") && !strings.HasPrefix(wanted, "sha256:") {
		content, known = c.manifest(wanted), true
	}
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if strings.Contains(r.URL.Path, "/manifests/") {
		w.Header().Set("Content-Type", manifestType)
		w.Header().Set("Docker-Content-Digest", c.put(content.([]byte)).digest)
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(content.([]byte))))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content.([]byte))
	}
}

const descriptorType = "application/vnd.ocm.software.component-descriptor.v2+json"

// manifest is that of a component version; what it refers to can be read then.
func (c component) manifest(version string) []byte {
	blueprint := c.put(c.blueprint)
	descriptor := c.put([]byte(c.descriptor(version, blueprint)))
	config := c.put(fmt.Appendf(nil, `{"componentDescriptorLayer":{"mediaType":%q,"digest":%q,"size":%d}}`, descriptorType, descriptor.digest, descriptor.size))
	return fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":"application/vnd.ocm.software.component.config.v1+json","digest":%q,"size":%d},"layers":[{"mediaType":%q,"digest":%q,"size":%d},{"mediaType":"application/x-tgz","digest":%q,"size":%d}]}`,
		manifestType, config.digest, config.size, descriptorType, descriptor.digest, descriptor.size, blueprint.digest, blueprint.size)
}

// single has a blueprint and no references.
func single(version string, blueprint blob) string { return described(version, blueprint, "") }

// referring has a reference to the next version.
func referring(version string, blueprint blob) string {
	var patch int
	_, _ = fmt.Sscanf(version, "1.0.%d", &patch)
	return described(version, blueprint, fmt.Sprintf(`{"name":"next","componentName":"example.org/a","version":"1.0.%d"}`, patch+1))
}

func described(version string, blueprint blob, reference string) string {
	return fmt.Sprintf(`{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/a","version":%q,"provider":"me","repositoryContexts":[],"sources":[],"componentReferences":[%s],"resources":[{"name":"blueprint","version":"1.0.0","type":"blueprint","relation":"local","access":{"type":"localBlob","localReference":%q,"mediaType":"application/x-tgz"}}]}}`, version, reference, blueprint.digest)
}

// archive is a packed archive of files.
func archive(files ...file) []byte {
	var buffer bytes.Buffer
	packer, _ := gzip.NewWriterLevel(&buffer, gzip.BestSpeed) // the level exists
	archive := tar.NewWriter(packer)
	for _, f := range files {
		_ = archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content))})
		_, _ = io.Copy(archive, bytes.NewReader(f.content))
	}
	_ = archive.Close()
	_ = packer.Close()
	return buffer.Bytes()
}

type file struct {
	name    string
	content []byte
}
