package pack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"
)

var files = []File{{Name: "b/program", Data: []byte("\x7fELF"), Mode: 0o755}, {Name: "b/"}, {Name: "a.txt", Data: []byte("text")}}

// TestSameBytes: neither the order in which files were collected, nor the zone of the machine,
// nor parts of a second change an archive.
func TestSameBytes(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	other := at.In(time.FixedZone("elsewhere", 7200)).Add(300 * time.Millisecond)
	reversed := []File{files[2], files[1], files[0]}
	for name, packed := range map[string]func(time.Time, ...File) ([]byte, error){"tar": TarGz, "zip": Zip} {
		a, err := packed(at, files...)
		if err != nil {
			t.Fatal(err)
		}
		b, err := packed(other, reversed...)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the archives differ", name)
		}
	}
}

// TestContent: what was packed is unpacked, with its permissions, and belongs to root.
func TestContent(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	packed, err := TarGz(at, files...)
	if err != nil {
		t.Fatal(err)
	}
	inflated, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	want := []tar.Header{
		{Name: "a.txt", Typeflag: tar.TypeReg, Mode: 0o644, Size: 4},
		{Name: "b/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "b/program", Typeflag: tar.TypeReg, Mode: 0o755, Size: 4},
	}
	reader := tar.NewReader(inflated)
	for _, want := range want {
		got, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != want.Name || got.Typeflag != want.Typeflag || got.Mode != want.Mode || got.Size != want.Size || got.Uid != 0 || !got.ModTime.Equal(at) {
			t.Errorf("want %+v, got %+v", want, got)
		}
	}
	if _, err := reader.Next(); err != io.EOF {
		t.Errorf("there is more: %v", err)
	}
	zipped, err := Zip(at, files...)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := zip.NewReader(bytes.NewReader(zipped), int64(len(zipped)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range want {
		got := unzipped.File[i]
		if got.Name != want.Name || int64(got.Mode().Perm()) != want.Mode || got.FileInfo().IsDir() != (want.Typeflag == tar.TypeDir) || !got.Modified.Equal(at) {
			t.Errorf("want %+v, got %+v", want, got.FileHeader)
		}
	}
}
