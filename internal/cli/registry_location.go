package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/ctf"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/repository"
)

// location is a repository of components as the user named it.
type location struct {
	text    string
	context descriptor.Typed
	spec    repository.Spec
	// root is the directory of a repository of descriptors.
	root string
}

const (
	transportIndex = "artifact-index.json"
	locationForms  = "name a registry such as registry.example.org/path, an archive, or a directory"
)

// locate finds out what a REPOSITORY is: what exists as a file or directory, else
// a registry.
func locate(text string) (location, error) {
	if strings.HasPrefix(text, "{") {
		return newLocation(text, descriptor.Typed(text))
	}
	if text == "" {
		return location{}, usage(errors.New("the REPOSITORY is empty: " + locationForms))
	}
	if hasScheme(text) {
		return registryLocation(text)
	}
	info, err := os.Stat(text)
	switch {
	case err == nil && info.IsDir():
		return directoryLocation(text)
	case err == nil:
		return archiveLocation(text)
	case !errors.Is(err, fs.ErrNotExist):
		return location{}, fmt.Errorf("the repository %s: %w", text, err)
	case isPath(text):
		return location{}, exitf(ExitNotFound, "there is no archive or directory %s", text)
	case isHost(text):
		return registryLocation(text)
	}
	return location{}, usage(fmt.Errorf("the REPOSITORY %q is neither a file or directory that exists nor a registry: %s", text, locationForms))
}

func hasScheme(text string) bool {
	for _, scheme := range []string{"http://", "https://", "oci://"} {
		if strings.HasPrefix(text, scheme) {
			return true
		}
	}
	return false
}

func isPath(text string) bool {
	for _, prefix := range []string{"/", "./", "../", "~"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return text == "." || text == ".." || packing(text) != packNone
}

func isHost(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	return host == "localhost" || strings.ContainsAny(host, ".:")
}

func newLocation(text string, context descriptor.Typed) (location, error) {
	spec, err := repository.ParseSpec(context)
	if err != nil {
		return location{}, usage(fmt.Errorf("the REPOSITORY: %w", err))
	}
	if spec.Kind == repository.KindLocal {
		return directoryLocation(filepath.Clean(spec.FilePath))
	}
	return location{text: repository.Redact(text), context: context, spec: spec}, nil
}

// typedLocation returns the location of a repository context with some fields.
func typedLocation(text string, fields map[string]string) (location, error) {
	context, err := descriptor.NewTyped(fields)
	if err != nil {
		return location{}, err
	}
	return newLocation(text, context)
}

// registryLocation writes the context in the form that published descriptors
// have.
func registryLocation(text string) (location, error) {
	at, err := typedLocation(text, map[string]string{"type": repository.KindOCI, "baseUrl": text})
	if err != nil {
		return location{}, err
	}
	base := at.spec.Host
	if at.spec.Scheme != "" {
		base = at.spec.Scheme + "://" + base
	}
	fields := map[string]string{"type": repository.KindOCI, "baseUrl": base, "componentNameMapping": at.spec.NameMapping}
	if at.spec.SubPath != "" {
		fields["subPath"] = at.spec.SubPath
	}
	return typedLocation(text, fields)
}

func directoryLocation(path string) (location, error) {
	for name, kind := range map[string]string{transportIndex: repository.KindCTF, descriptor.FileName: repository.KindComponentArchive} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return typedLocation(path, map[string]string{"type": kind, "filePath": path})
		}
	}
	context, err := descriptor.NewTyped(map[string]string{"type": repository.KindLocal, "filePath": ""})
	if err != nil {
		return location{}, err
	}
	return location{text: path, context: context, spec: repository.Spec{Kind: repository.KindLocal}, root: path}, nil
}

// archiveLocation looks into a tar.
func archiveLocation(path string) (location, error) {
	kind := ""
	err := walkFile(path, func(entry archive.Entry) error {
		switch entry.Path {
		case transportIndex:
			kind = repository.KindCTF
		case descriptor.FileName:
			kind = repository.KindComponentArchive
		default:
			return nil
		}
		return fs.SkipAll
	})
	if err != nil {
		return location{}, fmt.Errorf("the repository %s is no archive of components: %w", path, err)
	}
	if kind == "" {
		return location{}, usage(fmt.Errorf("the repository %s is no archive of components: it has neither %s nor %s", path, transportIndex, descriptor.FileName))
	}
	return typedLocation(path, map[string]string{"type": kind, "filePath": path})
}

// walkFile visits the files of a tar until the visitor answers fs.SkipAll.
func walkFile(path string, visit func(archive.Entry) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing is written
	limits := archive.Limits{Bytes: 64 << 30, Files: 1_000_000, Ratio: 1000, Depth: 64}
	if err := archive.Walk(file, limits, visit); err != nil && !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// componentVersion is the name and version of a component.
type componentVersion struct{ Name, Version string }

func (c componentVersion) String() string { return c.Name + ":" + c.Version }

// versions lists what an archive or directory holds. A registry has no list.
func (l location) versions() ([]componentVersion, error) {
	var found []componentVersion
	var err error
	switch l.spec.Kind {
	case repository.KindCTF:
		found, err = l.transportVersions()
	case repository.KindComponentArchive:
		found, err = l.archiveVersions()
	case repository.KindLocal:
		found, err = l.directoryVersions()
	}
	slices.SortFunc(found, func(a, b componentVersion) int { return strings.Compare(a.String(), b.String()) })
	return found, err
}

func (l location) transportVersions() ([]componentVersion, error) {
	opened, err := ctf.Open(l.spec.FilePath)
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // nothing is written
	var found []componentVersion
	for name, tags := range opened.Artifacts() {
		component, isComponent := strings.CutPrefix(name, "component-descriptors/")
		for _, tag := range tags {
			if isComponent {
				found = append(found, componentVersion{component, repository.VersionOf(tag)})
			}
		}
	}
	return found, nil
}

func (l location) archiveVersions() ([]componentVersion, error) {
	var text []byte
	info, err := os.Stat(l.spec.FilePath)
	switch {
	case err != nil:
	case info.IsDir():
		text, err = readLimited(l.spec.FilePath, descriptor.FileName)
	default:
		err = walkFile(l.spec.FilePath, func(entry archive.Entry) error {
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
	return []componentVersion{found}, err
}

func (l location) directoryVersions() ([]componentVersion, error) {
	entries, err := os.ReadDir(l.root)
	if err != nil {
		return nil, err
	}
	var found []componentVersion
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

func versionIn(text []byte) (componentVersion, error) {
	d, err := descriptor.Decode(text)
	if err != nil {
		return componentVersion{}, err
	}
	return componentVersion{d.Name, d.Version}, nil
}
