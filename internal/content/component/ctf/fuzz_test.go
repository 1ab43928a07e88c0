package ctf

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// FuzzOpen opens archives and reads everything in them. Nothing may be written
// outside, and what is read has its digest.
func FuzzOpen(f *testing.F) {
	at := digest.FromString(manifest)
	good := tarOf(f, entry{name: indexFile, content: indexOf(at)}, entry{name: oci.BlobPath(at), content: manifest})
	f.Add(good)
	var zipped bytes.Buffer
	if err := archive.Gzip(&zipped, func(to io.Writer) error { _, err := to.Write(good); return err }); err != nil {
		f.Fatal(err)
	}
	f.Add(zipped.Bytes())
	f.Add(tarOf(f, entry{name: indexFile, content: indexOf(at)}, entry{name: oci.BlobPath(at), content: "{}"}))
	f.Add(tarOf(f, entry{name: "../" + indexFile, content: "{}"}, entry{name: "blobs", link: "/etc", kind: tar.TypeSymlink}))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := t.TempDir()
		t.Setenv("TMPDIR", filepath.Join(root, "tmp"))
		name := filepath.Join(root, "archive")
		if err := os.Mkdir(os.Getenv("TMPDIR"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := Open(name); err == nil {
			readAll(t, a)
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Fatalf("left over: %v, %v", left, err)
		}
		if all, err := os.ReadDir(root); err != nil || len(all) != 2 {
			t.Fatalf("written outside: %v, %v", all, err)
		}
	})
}

func readAll(t *testing.T, a *Archive) {
	for _, artifact := range a.index.Artifacts {
		found, err := a.Resolve(t.Context(), artifact.Repository, artifact.Tag)
		if err != nil {
			continue
		}
		read, err := oci.ReadManifest(t.Context(), a, artifact.Repository, found)
		if err != nil {
			continue
		}
		if digest.FromBytes(read.Raw) != found.Digest && found.Digest.Algorithm() == digest.SHA256 {
			t.Fatalf("%s has the digest %s", found.Digest, digest.FromBytes(read.Raw))
		}
		for _, blob := range append([]ocispec.Descriptor{read.Config}, read.Layers...) {
			_, _ = oci.Read(t.Context(), a, artifact.Repository, blob, 1<<20)
		}
	}
}
