package console

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"testing"
)

// mostCompressed is how large the pages may be on their way to a browser.
const mostCompressed = 200 << 10

// TestSizeOfTheBundle: a dependency that makes the pages large is noticed.
func TestSizeOfTheBundle(t *testing.T) {
	size := 0
	err := fs.WalkDir(bundle, "web/dist", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := bundle.ReadFile(path)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if _, err := writer.Write(content); err != nil {
			return err
		}
		if err := writer.Close(); err != nil {
			return err
		}
		size += packed.Len()
		return nil
	})
	if err != nil || size == 0 || size > mostCompressed {
		t.Errorf("%d bytes compressed, at most %d: %v", size, mostCompressed, err)
	}
}
