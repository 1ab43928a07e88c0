package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rawArchive = regexp.MustCompile(`raw: (\S+)`)

// TestExamples compares the charts in the examples with the folders that they are made of.
func TestExamples(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "examples", "helm")
	found := 0
	for _, path := range under(t, root) {
		if strings.HasPrefix(path, "charts/") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range rawArchive.FindAllSubmatch(content, -1) {
			archive, err := base64.StdEncoding.DecodeString(string(match[1]))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			packed := unpacked(t, archive)
			var name string
			for file := range packed {
				name, _, _ = strings.Cut(file, "/")
			}
			want := map[string]string{}
			for _, file := range under(t, filepath.Join(root, "charts", name)) {
				text, err := os.ReadFile(filepath.Join(root, "charts", name, file))
				if err != nil {
					t.Fatal(err)
				}
				want[name+"/"+file] = string(text)
			}
			if diff := cmp.Diff(want, packed); diff != "" || name == "" {
				t.Errorf("%s, -examples/helm/charts/%s +archive\n%s", path, name, diff)
			}
			found++
		}
	}
	if found < 6 {
		t.Errorf("only %d archives", found)
	}
}

// under returns the files below a folder.
func under(t *testing.T, folder string) (files []string) {
	t.Helper()
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			inside, _ := filepath.Rel(folder, path)
			files = append(files, filepath.ToSlash(inside))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

// unpacked are the files of an archive.
func unpacked(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for entries := tar.NewReader(reader); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[header.Name] = string(content)
		}
	}
}
