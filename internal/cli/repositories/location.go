package repositories

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// Location is a repository of components as the user named it.
type Location struct {
	// Text is what the user wrote, without secrets.
	Text string
	// Context is the repository context.
	Context descriptor.Typed
	// Spec is what the context says.
	Spec repository.Spec
	// root is the directory of a repository of descriptors.
	root string
}

// Nowhere is no repository, for commands that work with local files.
var Nowhere = Location{}

const (
	transportIndex = "artifact-index.json"
	locationForms  = "name a registry such as registry.example.org/path, an archive, or a directory"
)

// Locate finds out what a REPOSITORY is: what exists as a file or directory, else
// a registry.
func Locate(text string) (Location, error) {
	if strings.HasPrefix(text, "{") {
		return newLocation(text, descriptor.Typed(text))
	}
	if text == "" {
		return Location{}, terminal.Usage(errors.New("the REPOSITORY is empty: " + locationForms))
	}
	if HasScheme(text) {
		return registryLocation(text)
	}
	info, err := os.Stat(text)
	switch {
	case err == nil && info.IsDir():
		return directoryLocation(text)
	case err == nil:
		return archiveLocation(text)
	case !errors.Is(err, fs.ErrNotExist):
		return Location{}, fmt.Errorf("the repository %s: %w", text, err)
	case isPath(text):
		return Location{}, terminal.Exitf(terminal.ExitNotFound, "there is no archive or directory %s", text)
	case isHost(text):
		return registryLocation(text)
	}
	return Location{}, terminal.Usage(fmt.Errorf("the REPOSITORY %q is neither a file or directory that exists nor a registry: %s", text, locationForms))
}

// HasScheme tells that a text is the address of a registry.
func HasScheme(text string) bool {
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

func newLocation(text string, context descriptor.Typed) (Location, error) {
	spec, err := repository.ParseSpec(context)
	if err != nil {
		return Location{}, terminal.Usage(fmt.Errorf("the REPOSITORY: %w", err))
	}
	if spec.Kind == repository.KindLocal {
		return directoryLocation(filepath.Clean(spec.FilePath))
	}
	return Location{Text: repository.Redact(text), Context: context, Spec: spec}, nil
}

// typedLocation returns the Location of a repository context with some fields.
func typedLocation(text string, fields map[string]string) (Location, error) {
	context, err := descriptor.NewTyped(fields)
	if err != nil {
		return Location{}, err
	}
	return newLocation(text, context)
}

// transport returns the location of an archive in the common transport format,
// which need not exist.
func transport(path string) (Location, error) {
	return typedLocation(path, map[string]string{"type": repository.KindCTF, "filePath": path})
}

// registryLocation writes the context in the form that published descriptors
// have.
func registryLocation(text string) (Location, error) {
	at, err := typedLocation(text, map[string]string{"type": repository.KindOCI, "baseUrl": text})
	if err != nil {
		return Location{}, err
	}
	base := at.Spec.Host
	if at.Spec.Scheme != "" {
		base = at.Spec.Scheme + "://" + base
	}
	fields := map[string]string{"type": repository.KindOCI, "baseUrl": base, "componentNameMapping": at.Spec.NameMapping}
	if at.Spec.SubPath != "" {
		fields["subPath"] = at.Spec.SubPath
	}
	return typedLocation(text, fields)
}

func directoryLocation(path string) (Location, error) {
	for _, format := range []struct{ file, kind string }{{transportIndex, repository.KindCTF}, {descriptor.FileName, repository.KindComponentArchive}} {
		if _, err := os.Stat(filepath.Join(path, format.file)); err == nil {
			return typedLocation(path, map[string]string{"type": format.kind, "filePath": path})
		}
	}
	context, err := descriptor.NewTyped(map[string]string{"type": repository.KindLocal, "filePath": ""})
	if err != nil {
		return Location{}, err
	}
	return Location{Text: path, Context: context, Spec: repository.Spec{Kind: repository.KindLocal}, root: path}, nil
}

// archiveLocation looks into a tar.
func archiveLocation(path string) (Location, error) {
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
		return Location{}, fmt.Errorf("the repository %s is no archive of components: %w", path, err)
	}
	if kind == "" {
		return Location{}, terminal.Usage(fmt.Errorf("the repository %s is no archive of components: it has neither %s nor %s", path, transportIndex, descriptor.FileName))
	}
	return typedLocation(path, map[string]string{"type": kind, "filePath": path})
}
