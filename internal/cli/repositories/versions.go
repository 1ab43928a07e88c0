package repositories

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// ComponentVersion is the name and version of a component.
type ComponentVersion struct{ Name, Version string }

// String is the form NAME:VERSION.
func (c ComponentVersion) String() string { return c.Name + ":" + c.Version }

// Versions lists what an archive or directory holds. A registry has no list.
func (l Location) Versions() ([]ComponentVersion, error) {
	var found []ComponentVersion
	var err error
	switch l.Spec.Kind {
	case repository.KindCTF:
		found, err = l.transportVersions()
	case repository.KindComponentArchive:
		found, err = l.archiveVersions()
	case repository.KindLocal:
		found, err = l.directoryVersions()
	}
	slices.SortFunc(found, func(a, b ComponentVersion) int { return strings.Compare(a.String(), b.String()) })
	return found, err
}

func (l Location) transportVersions() ([]ComponentVersion, error) {
	opened, err := ctf.Open(l.Spec.FilePath)
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // nothing is written
	var found []ComponentVersion
	for name, tags := range opened.Artifacts() {
		component, isComponent := strings.CutPrefix(name, "component-descriptors/")
		for _, tag := range tags {
			if isComponent {
				found = append(found, ComponentVersion{component, repository.VersionOf(tag)})
			}
		}
	}
	return found, nil
}

func (l Location) archiveVersions() ([]ComponentVersion, error) {
	var text []byte
	info, err := os.Stat(l.Spec.FilePath)
	switch {
	case err != nil:
	case info.IsDir():
		text, err = readLimited(l.Spec.FilePath, descriptor.FileName)
	default:
		err = walkFile(l.Spec.FilePath, func(entry archive.Entry) error {
			if entry.Path != descriptor.FileName {
				return nil
			}
			if text, err = archive.ReadAll(entry.Content, descriptor.MaxSize); err != nil {
				return err
			}
			return fs.SkipAll
		})
	}
	if err != nil {
		return nil, err
	}
	found, err := versionIn(text)
	return []ComponentVersion{found}, err
}

func (l Location) directoryVersions() ([]ComponentVersion, error) {
	entries, err := os.ReadDir(l.root)
	if err != nil {
		return nil, err
	}
	var found []ComponentVersion
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		text, err := readLimited(l.root, entry.Name())
		if err != nil {
			return nil, err
		}
		version, err := versionIn(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(l.root, entry.Name()), err)
		}
		found = append(found, version)
	}
	return found, nil
}

func readLimited(directory, name string) ([]byte, error) {
	file, err := os.OpenInRoot(directory, name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing is written
	return archive.ReadAll(file, descriptor.MaxSize)
}

func versionIn(text []byte) (ComponentVersion, error) {
	d, err := descriptor.Decode(text)
	if err != nil {
		return ComponentVersion{}, err
	}
	return ComponentVersion{d.Name, d.Version}, nil
}
