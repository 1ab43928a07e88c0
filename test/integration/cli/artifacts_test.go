package cli

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

// pushIndex writes an image for two platforms.
func pushIndex(t *testing.T, w *workplace, name string) ocispec.Descriptor {
	t.Helper()
	target := w.target(t)
	push := func(mediaType string, value any) ocispec.Descriptor {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := target.Push(t.Context(), name, d, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex}
	index.SchemaVersion = 2
	for _, architecture := range []string{"amd64", "arm64"} {
		manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: push(ocispec.MediaTypeImageConfig, architecture), Layers: []ocispec.Descriptor{push(ocispec.MediaTypeImageLayer, "layer of "+architecture)}}
		manifest.SchemaVersion = 2
		one := push(ocispec.MediaTypeImageManifest, manifest)
		one.Platform = &ocispec.Platform{OS: "linux", Architecture: architecture}
		index.Manifests = append(index.Manifests, one)
	}
	at := push(ocispec.MediaTypeImageIndex, index)
	if err := target.Tag(t.Context(), name, at, "1.0.0"); err != nil {
		t.Fatal(err)
	}
	return at
}

// keys writes release.key and release.pub.
func (w *workplace) keys(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "release.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	w.write(t, "release.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
}

// namesIn lists the files of a tar.
func namesIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing is written
	var names []string
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}

func packed(t *testing.T, name, text string) []byte {
	t.Helper()
	directory := t.TempDir()
	path := filepath.Join(directory, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := archive.PackTree(&out, os.DirFS(directory), archive.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pushArtifact writes an artifact with one layer.
func pushArtifact(t *testing.T, w *workplace, name, configType, layerType string, layer []byte) ocispec.Descriptor {
	t.Helper()
	target := w.target(t)
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := target.Push(t.Context(), name, d, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: push(configType, []byte("{}")), Layers: []ocispec.Descriptor{push(layerType, layer)}}
	manifest.SchemaVersion = 2
	raw, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	at := push(ocispec.MediaTypeImageManifest, raw)
	if err := target.Tag(t.Context(), name, at, "1.0.0"); err != nil {
		t.Fatal(err)
	}
	return at
}
