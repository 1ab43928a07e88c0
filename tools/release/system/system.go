// Package system makes packages for the package managers of Linux: .deb and .rpm.
package system

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // a format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // a format

	"go.landscaper.dev/tools/release/pack"
)

// Formats are the formats of packages, which are also the ends of their names.
var Formats = []string{"deb", "rpm"}

// Package is a package of one program.
type Package struct {
	Name, Version, Arch, Summary, Homepage string
	// At is when its files were changed.
	At time.Time
	// Files are where they are on a machine, without the first slash.
	Files []pack.File
}

// Pack makes the package in a format. The same package gives the same bytes.
func (p Package) Pack(format string) ([]byte, error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", p.Name, err)
	}
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", p.Name, err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left is in the folder for what is left
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: p.Name, Version: p.Version, Arch: p.Arch, Platform: "linux", Section: "admin", Priority: "optional",
		Maintainer: "The maintainers of Landscaper", Description: p.Summary, Homepage: p.Homepage, License: "Apache-2.0",
		// The name of a package is that of a file.
		DisableGlobbing: true, MTime: p.At.UTC(),
		Overridables: nfpm.Overridables{RPM: nfpm.RPM{BuildHost: "localhost", Summary: p.Summary, Compression: "zstd"}, Deb: nfpm.Deb{Compression: "xz"}},
	})
	for i, file := range p.Files {
		source := filepath.Join(folder, strconv.Itoa(i))
		if err := os.WriteFile(source, file.Data, 0o600); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
		mode := os.FileMode(0o644)
		if file.Mode != 0 {
			mode = os.FileMode(file.Mode) & os.ModePerm
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: source, Destination: "/" + strings.TrimPrefix(file.Name, "/"),
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.At.UTC()},
		})
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return nil, fmt.Errorf("package %s: %w", p.Name, err)
	}
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		return nil, fmt.Errorf("package %s as %s: %w", p.Name, format, err)
	}
	return out.Bytes(), nil
}
