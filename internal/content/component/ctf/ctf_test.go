package ctf

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/oci"
)

const manifest = `{"schemaVersion":2,"config":{"mediaType":"x","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}`

// entry is a file or link of a hostile tar.
type entry struct {
	name, content, link string
	kind                byte
}

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		if err := writer.WriteHeader(&tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Size: int64(len(e.content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func indexOf(d digest.Digest) string {
	return `{"schemaVersion":1,"artifacts":[{"repository":"r","tag":"1","digest":"` + string(d) + `"}]}`
}

func TestHostileArchives(t *testing.T) {
	good := digest.FromString(manifest)
	for _, test := range []struct {
		reason  string
		content []byte
		want    string
	}{
		{"a file outside", tarOf(t, entry{name: "../../evil"}), "leads out of it"},
		{"a link", tarOf(t, entry{name: "blobs/x", kind: tar.TypeSymlink, link: "/etc/passwd"}), "is a link"},
		{"a device", tarOf(t, entry{name: "blobs/x", kind: tar.TypeChar}), "device"},
		{"no index", tarOf(t, entry{name: "blobs/x"}), "artifact-index.json is missing"},
		{"an invalid index", tarOf(t, entry{name: indexFile, content: "[]"}), "decode artifact-index.json"},
		{"a digest that is a path", tarOf(t, entry{name: indexFile, content: indexOf("sha256:../../../etc/passwd")}), "artifacts[0]"},
		{"no archive", []byte(strings.Repeat("no archive ", 100)), "read the archive"},
		{"a cut archive", tarOf(t, entry{name: indexFile, content: indexOf(good)})[:600], "EOF"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			directory := t.TempDir()
			path := filepath.Join(directory, "archive")
			if err := os.WriteFile(path, test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestLinksOfADirectoryStayInside(t *testing.T) {
	directory := t.TempDir()
	secret := []byte("secret")
	outside := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(outside, secret, 0o600), os.Mkdir(filepath.Join(directory, "blobs"), 0o755),
		os.WriteFile(filepath.Join(directory, indexFile), []byte(`{"artifacts":[]}`), 0o600),
		os.Symlink(outside, filepath.Join(directory, "blobs", "sha256."+digest.FromBytes(secret).Encoded()))); err != nil {
		t.Fatal(err)
	}
	a, err := Open(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close() //nolint:errcheck // a directory
	if data, err := oci.Read(t.Context(), a, "r", ocispec.Descriptor{Digest: digest.FromBytes(secret), Size: -1}, 100); err == nil {
		t.Errorf("a link led out of the archive: %s", data)
	}
}

func TestWriteAndRead(t *testing.T) {
	directory := t.TempDir()
	w, err := Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	at := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromString(manifest), Size: int64(len(manifest))}
	if err := w.Push(t.Context(), "r", at, strings.NewReader("something else of the same")); !errors.Is(err, oci.ErrDigest) {
		t.Errorf("a content with a wrong digest was written: %v", err)
	}
	if err := w.Push(t.Context(), "r", at, strings.NewReader(manifest)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Tag(t.Context(), "component-descriptors/example.org/a", at, "1.0.0"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(directory, indexFile))
	want := `{"schemaVersion":1,"artifacts":[{"repository":"component-descriptors/example.org/a","tag":"1.0.0","digest":"` + at.Digest.String() + `","mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`
	if err != nil || string(raw) != want {
		t.Errorf("the index is\n%s (%v), want\n%s", raw, err, want)
	}
	if _, err := os.Stat(filepath.Join(directory, "blobs", "sha256."+at.Digest.Encoded())); err != nil {
		t.Errorf("blobs are named after their digest, with a dot: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(directory, "blobs", "*.partial"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	again, err := Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // a directory
	if got := again.Artifacts()["component-descriptors/example.org/a"]; len(got) != 1 || got[0] != "1.0.0" {
		t.Errorf("the archive has %v", got)
	}
	if got, err := again.Resolve(t.Context(), "component-descriptors/example.org/a", "1.0.0"); err != nil || got.Digest != at.Digest || got.Size != at.Size {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUnpackedArchiveIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "a.tar")
	if err := os.WriteFile(path, tarOf(t, entry{name: indexFile, content: `{"artifacts":[]}`}), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// TestSameBlobAtOnce: several contents may have a blob in common, and those that are
// there are not read.
func TestSameBlobAtOnce(t *testing.T) {
	writer, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close() //nolint:errcheck // a directory of this test
	text := strings.Repeat("content ", 1<<16)
	blob := ocispec.Descriptor{Digest: digest.FromString(text), Size: int64(len(text))}
	errs := make(chan error)
	for range 16 {
		go func() { errs <- writer.Push(t.Context(), "a", blob, strings.NewReader(text)) }()
	}
	for range 16 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if data, err := oci.Read(t.Context(), writer, "a", blob, 1<<20); err != nil || string(data) != text {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if err := writer.Push(t.Context(), "a", blob, iotest.ErrReader(errors.New("it was read"))); err != nil {
		t.Error(err)
	}
}
