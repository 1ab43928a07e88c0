package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, header := range headers {
		content := strings.Repeat("x", int(header.Size))
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name string, size int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Gzip(&out, func(to io.Writer) error { _, err := to.Write(content); return err }); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnpackRefuses(t *testing.T) {
	limits := Limits{Bytes: 1 << 20, Files: 5, Ratio: 100, Depth: 4}
	link := func(kind byte, name, to string) tar.Header {
		return tar.Header{Typeflag: kind, Name: name, Linkname: to}
	}
	for _, test := range []struct {
		reason  string
		content []byte
		want    string
	}{
		{"a path that leads out", tarOf(t, file("../evil", 1)), "leads out of it"},
		{"a path that leads out on its way", tarOf(t, file("a/../../evil", 1)), "leads out of it"},
		{"a path with back slashes", tarOf(t, file(`..\evil`, 1)), "is not a path"},
		{"a link to the host", tarOf(t, link(tar.TypeSymlink, "a", "/etc/passwd")), "leads out of the tree"},
		{"a link that leads out", tarOf(t, link(tar.TypeSymlink, "a/b", "../../evil")), "leads out of the tree"},
		{"a file below a link", tarOf(t, link(tar.TypeSymlink, "a", "b"), file("a/c", 1)), "\"a\" is a link and is not a directory"},
		{"a hard link to nothing", tarOf(t, link(tar.TypeLink, "a", "/etc/passwd")), "not a file that was added before"},
		{"a character device", tarOf(t, tar.Header{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}), "device"},
		{"a block device", tarOf(t, tar.Header{Typeflag: tar.TypeBlock, Name: "sda"}), "device"},
		{"a pipe, which would hang", tarOf(t, tar.Header{Typeflag: tar.TypeFifo, Name: "pipe"}), "device"},
		{"too many files", tarOf(t, file("a", 0), file("b", 0), file("c", 0), file("d", 0), file("e", 0), file("f", 0)), "the number of files"},
		{"too many bytes", tarOf(t, file("a", 1<<20), file("b", 1)), "number of bytes"},
		{"too deep", tarOf(t, file("1/2/3/4/5/6", 0)), "the depth of entry"},
		{"a directory in the place of a file", tarOf(t, file("a/b", 0), file("a/b", 0), tar.Header{Typeflag: tar.TypeDir, Name: "a/b/"}), "is a file and is not a directory"},
		{"a file in the place of a directory", tarOf(t, file("a/b", 0), file("a", 0)), "already there as a directory"},
		{"a file in the place of the root", tarOf(t, link(tar.TypeSymlink, ".", "a")), "the root is not a directory"},
		{"too many directories that no entry names", tarOf(t, file("1/2/3/4/a", 0), file("5/6/7/8/a", 0)), "the number of files"},
		{"a cut archive", tarOf(t, file("a", 5000))[:1000], "unexpected EOF"},
		{"no archive", []byte(strings.Repeat("hello ", 200)), "read the archive"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := Unpack(bytes.NewReader(test.content), limits); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	roomy := Limits{Bytes: 16 << 20, Files: 5, Ratio: 100, Depth: 4}
	if _, err := Unpack(bytes.NewReader(gzipped(t, tarOf(t, file("bomb", 8<<20)))), roomy); !isTooLarge(err) || !strings.Contains(err.Error(), "ratio") {
		t.Errorf("a bomb: %v", err)
	}
	// Zeros are an empty archive; only the byte limit can stop an endless one.
	endless := Limits{Bytes: 1 << 20, Files: 5, Ratio: 1 << 40, Depth: 4}
	header := tarOf(t, file("a", 1<<19))
	if _, err := Unpack(io.MultiReader(bytes.NewReader(header[:512]), zeros{}), endless); err != nil {
		t.Errorf("an archive may be followed by padding: %v", err)
	}
	if _, err := Inflate(zeros{}, endless); !isTooLarge(err) {
		t.Errorf("an endless content must be stopped: %v", err)
	}
}

func isTooLarge(err error) bool {
	var tooLarge *TooLargeError
	return errors.As(err, &tooLarge)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestUnpack(t *testing.T) {
	content := tarOf(t,
		tar.Header{Typeflag: tar.TypeDir, Name: "./"}, file("./blueprint.yaml", 3), file("/rooted", 2), tar.Header{Typeflag: tar.TypeDir, Name: "dir/"},
		file("dir/a", 4), tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "dir/a"}, tar.Header{Typeflag: tar.TypeLink, Name: "hard", Linkname: "dir/a"})
	var zstdOut, xzOut bytes.Buffer
	zw, err := zstd.NewWriter(&zstdOut)
	if err != nil {
		t.Fatal(err)
	}
	xw, err := xz.NewWriter(&xzOut)
	if err != nil {
		t.Fatal(err)
	}
	for _, writer := range []io.WriteCloser{zw, xw} {
		if _, err := writer.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for reason, packed := range map[string][]byte{"plain": content, "gzip": gzipped(t, content), "zstd": zstdOut.Bytes(), "xz": xzOut.Bytes()} {
		files, err := Unpack(bytes.NewReader(packed), DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		for name, want := range map[string]string{"blueprint.yaml": "xxx", "rooted": "xx", "dir/a": "xxxx", "link": "xxxx", "hard": "xxxx"} {
			if got, err := fs.ReadFile(files, name); err != nil || string(got) != want {
				t.Errorf("%s: %s holds %q (%v), want %q", reason, name, got, err, want)
			}
		}
	}
}

func TestPackIsReproducible(t *testing.T) {
	tree := fstest.MapFS{"b/c": {Data: []byte("2")}, "a": {Data: []byte("1")}}
	pack := func() []byte {
		var out bytes.Buffer
		if err := Gzip(&out, func(to io.Writer) error { return PackTree(to, tree, DefaultLimits()) }); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	first := pack()
	if !bytes.Equal(first, pack()) {
		t.Error("the same tree gave different bytes")
	}
	files, err := Unpack(bytes.NewReader(first), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(files, "b/c"); err != nil || string(got) != "2" {
		t.Errorf("b/c holds %q (%v)", got, err)
	}
	if err := PackTree(io.Discard, tree, Limits{Bytes: 1, Files: 10}); !isTooLarge(err) {
		t.Errorf("a tree above the limit: %v", err)
	}
}
