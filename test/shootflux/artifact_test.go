package shootflux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/registry"
)

// The media types of artifacts for Flux.
const (
	fluxConfig  = "application/vnd.cncf.flux.config.v1+json"
	fluxContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// pack makes the archive that is the content of an artifact.
func pack(t *testing.T, files ...archive.File) []byte {
	t.Helper()
	var made bytes.Buffer
	must(t, archive.Gzip(&made, func(to io.Writer) error { return archive.Pack(to, files...) }))
	return made.Bytes()
}

// artifactOf is the manifest of an artifact with one layer, and what it refers to.
func artifactOf(t *testing.T, layer []byte) (manifest []byte, blobs []blob) {
	t.Helper()
	describe := func(mediaType string, content []byte) ocispec.Descriptor {
		return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	}
	config := []byte("{}")
	at := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: describe(fluxConfig, config), Layers: []ocispec.Descriptor{describe(fluxContent, layer)},
	}
	text, err := json.Marshal(at)
	must(t, err)
	return text, []blob{{at.Config, config}, {at.Layers[0], layer}}
}

// blob is a part of an artifact.
type blob struct {
	ocispec.Descriptor
	content []byte
}

// login is what lets Flux, and us, into the registry.
func login() []byte {
	r := world.Lab.Registry
	return fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, r.Address, r.Username, r.Password)
}

// pushArtifact puts an application into the registry, and returns its address.
func pushArtifact(t *testing.T, name, application string) string {
	t.Helper()
	credentials := &credential.Store{}
	_, err := credentials.AddSecret("registry", map[string][]byte{credential.DockerConfigKey: login()})
	must(t, err)
	pool := registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts())
	t.Cleanup(pool.Close)
	to := registry.NewClient(pool, registry.Options{Credentials: credentials}).Registry("http", world.Lab.Registry.Address)
	manifest, blobs := artifactOf(t, pack(t, archive.File{Path: path + "/app.yaml", Data: []byte(application)}))
	for _, part := range blobs {
		must(t, to.Push(limited(t), name, part.Descriptor, bytes.NewReader(part.content)))
	}
	described := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromBytes(manifest), Size: int64(len(manifest))}
	must(t, to.Push(limited(t), name, described, bytes.NewReader(manifest)))
	must(t, to.Tag(limited(t), name, described, "v1"))
	return "oci://" + world.Lab.Registry.Address + "/" + name
}
