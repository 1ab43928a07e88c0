// Package registrytest starts the reference registry on this machine, for tests.
package registrytest

import (
	"archive/tar"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory" // where it keeps content
	"github.com/sirupsen/logrus"
	"oras.land/oras-go/v2/registry/remote"
)

// Start starts a registry that keeps content in memory, and returns its address.
func Start(t *testing.T) string {
	t.Helper()
	logrus.SetLevel(logrus.PanicLevel)
	config := &configuration.Configuration{
		Storage: configuration.Storage{"inmemory": configuration.Parameters{}},
		Catalog: configuration.Catalog{MaxEntries: 100},
	}
	config.HTTP.Secret = "it is the same for all requests"
	server := httptest.NewServer(handlers.NewApp(t.Context(), config))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Repository returns a repository of a registry that was started here.
func Repository(t *testing.T, name string) *remote.Repository {
	t.Helper()
	repository, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	return repository
}

// Unpack writes the files of a tar into a folder.
func Unpack(t *testing.T, from io.Reader, folder string) {
	t.Helper()
	for reader := tar.NewReader(from); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(file, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		content, err := io.ReadAll(reader)
		if err == nil {
			err = os.WriteFile(file, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
