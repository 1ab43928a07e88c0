package system

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/blakesmith/ar"
	"github.com/ulikunitz/xz"

	"go.landscaper.dev/tools/release/pack"
)

var sample = Package{
	Name: "landscaper-cli", Version: "1.2.3", Arch: "arm64", Summary: "The command line", Homepage: "https://example.org", At: time.Unix(1_700_000_000, 0),
	Files: []pack.File{{Name: "usr/bin/landscaper-cli", Data: []byte("program"), Mode: 0o755}, {Name: "usr/share/doc/landscaper-cli/copyright", Data: []byte("text")}},
}

// TestSameBytes: a package that is made again has the same bytes.
func TestSameBytes(t *testing.T) {
	for _, format := range Formats {
		first, err := sample.Pack(format)
		if err != nil {
			t.Fatal(err)
		}
		second, err := sample.Pack(format)
		if err != nil || !bytes.Equal(first, second) || len(first) == 0 {
			t.Errorf("%s: the bytes differ: %v", format, err)
		}
	}
	if _, err := sample.Pack("exe"); err == nil {
		t.Error("a format that does not exist is accepted")
	}
}

// TestDeb: a package for Debian has the files at their places, with their modes, and belongs to
// root.
func TestDeb(t *testing.T) {
	packed, err := sample.Pack("deb")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"./usr/bin/landscaper-cli": 0o755, "./usr/share/doc/landscaper-cli/copyright": 0o644}
	for reader := ar.NewReader(bytes.NewReader(packed)); ; {
		part, err := reader.Next()
		if errors.Is(err, io.EOF) {
			t.Fatal("there is no data.tar.xz")
		}
		if err != nil {
			t.Fatal(err)
		}
		if part.Name != "data.tar.xz" {
			continue
		}
		inflated, err := xz.NewReader(reader)
		if err != nil {
			t.Fatal(err)
		}
		for files := tar.NewReader(inflated); ; {
			header, err := files.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if header.Typeflag != tar.TypeReg {
				continue
			}
			if mode, ok := want[header.Name]; !ok || header.Mode != mode || header.Uname != "root" || !header.ModTime.Equal(sample.At) {
				t.Errorf("%+v", header)
			}
			delete(want, header.Name)
		}
		break
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
