package repositories

import (
	"os"
	"path/filepath"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestDirectoryOfTwoFormats: a directory that has the files of two formats is one in the common
// transport format each time.
func TestDirectoryOfTwoFormats(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{transportIndex, descriptor.FileName} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		at, err := directoryLocation(directory)
		if err != nil || at.Spec.Kind != repository.KindCTF {
			t.Fatalf("got %+v, %v", at, err)
		}
	}
}
