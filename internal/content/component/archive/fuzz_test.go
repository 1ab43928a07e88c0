package archive

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"testing"

	"go.landscaper.dev/internal/base/memfs"
)

func FuzzUnpack(f *testing.F) {
	content := tarOf(f, file("blueprint.yaml", 3), tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "blueprint.yaml"},
		file("d/e", 1), tar.Header{Typeflag: tar.TypeLink, Name: "h", Linkname: "d/e"}, tar.Header{Typeflag: tar.TypeSymlink, Name: "d/up", Linkname: "../d"})
	f.Add(content)
	f.Add(gzipped(f, content))
	f.Add(tarOf(f, file("../a", 3), tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}))
	limits := Limits{Bytes: 1 << 16, Files: 20, Ratio: 100, Depth: 5}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := Unpack(bytes.NewReader(data), limits)
		if err != nil {
			return
		}
		if tree.Entries() > limits.Files || tree.Bytes() > limits.Bytes {
			t.Fatalf("%d files of %d bytes are more than the limits", tree.Entries(), tree.Bytes())
		}
		readAll(t, tree)
	})
}

// readAll reads everything in a tree. Nothing may hide behind a name that leads
// out, and a link may lead nowhere but not make trouble.
func readAll(t *testing.T, tree *memfs.Tree) {
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !fs.ValidPath(name) {
			t.Fatalf("unpacked to %q: %v", name, err)
		}
		if _, err := tree.ReadFile(name); err != nil && entry.Type().IsRegular() {
			t.Fatal(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
