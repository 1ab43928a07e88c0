// Package link brings a JSON schema and everything that it refers to together, into
// one document of draft 7 that refers only to itself. Each document keeps its own
// base and dialect. Nothing is read but what the sources hold.
package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/uri"
)

// NamesKeyword stands for "propertyNames" in the one document; it holds the
// reference to a definition.
const NamesKeyword = "blueprint-propertyNames"

// Reader reads the resources of components.
type Reader interface {
	Read(ctx context.Context, version *repository.Version, resource *descriptor.Resource, limit int64) (content []byte, mediaType string, err error)
}

// Sources are what schemas may refer to; what is left open cannot be referred to.
type Sources struct {
	// Local are the types behind local://<name>.
	Local map[string]v1alpha1.JSONSchemaDefinition
	// Files are those of the blueprint, behind blueprint://<path>.
	Files fs.FS
	// Version is the component version at which cd:// references start.
	Version *repository.Version
	// Context is the repository context in which component references are looked
	// up; without it, that of Version.
	Context descriptor.Typed
	// Finder looks up component references.
	Finder uri.Finder
	// Reader reads the resources of components.
	Reader Reader
	// Default is the dialect of schemas of the blueprint without "$schema", if it
	// names draft 4, 6 or 7. Anything else changes nothing.
	Default string
}

// Linked is a schema with everything that belongs to it.
type Linked struct {
	// Document has definitions with the names 0, 1, 2 and so on; 0 is the schema
	// itself.
	Document map[string]any
	// Patterns are its regular expressions.
	Patterns *Patterns
	places   []place
}

// MaxSchemas is how many schemas may belong together, each place in a document
// counted as one. Compiling them takes time that grows with the square.
const MaxSchemas = 10_000

// maxPaths is how many bytes the paths of all schemas may have: they are compared
// with each other.
const maxPaths = 4 << 20

// linker brings all schemas that belong to one together. Each schema that others
// refer to becomes a definition of one document; references lead to definitions.
type linker struct {
	ctx       context.Context // lives for one call
	sources   Sources
	documents map[string]*document
	followed  map[step]*document
	patterns  *Patterns
	bytes     int
	schemas   int
	paths     int

	numbers map[place]int
	// places are those of the definitions, in their order.
	places []place
}

// Link reads a schema, which is JSON or YAML, and brings all that belongs to it
// together.
func Link(ctx context.Context, sources Sources, definition []byte) (*Linked, error) {
	l := &linker{ctx: ctx, sources: sources, documents: map[string]*document{}, followed: map[step]*document{},
		patterns: &Patterns{compiled: map[string]*Pattern{}}, numbers: map[place]int{}}
	document, err := l.link(definition)
	if err != nil {
		return nil, err
	}
	return &Linked{Document: document, Patterns: l.patterns, places: l.places}, nil
}

// link returns the one document.
func (l *linker) link(definition []byte) (map[string]any, error) {
	if len(definition) == 0 {
		return nil, errors.New("no schema is given")
	}
	root, err := l.remember("", func() (*document, error) {
		return l.prepare(&document{owner: l.sources.Version}, definition)
	})
	if err != nil {
		return nil, err
	}
	l.number(place{root, ""})
	all := map[string]any{}
	// Translating a place may add further ones.
	for i := 0; i < len(l.places); i++ {
		from := l.places[i]
		node, err := find(from.document.root, from.at)
		if err != nil {
			return nil, err
		}
		translated, err := l.translate(from.document, from.at, from.document.baseAt(from.at), node)
		if err != nil {
			return nil, err
		}
		all[strconv.Itoa(i)] = translated
	}
	return map[string]any{"definitions": all}, nil
}

// spend counts the bytes of a path.
func (l *linker) spend(at pointer) error {
	if l.paths += len(at); l.paths > maxPaths {
		return fmt.Errorf("the paths of all schemas that belong to the schema are longer than %d bytes: use shorter names, or fewer levels", maxPaths)
	}
	return nil
}

// number returns the definition that a place becomes.
func (l *linker) number(p place) int {
	number, known := l.numbers[p]
	if !known {
		number = len(l.places)
		l.numbers[p] = number
		l.places = append(l.places, p)
	}
	return number
}

func (l *linker) definition(p place) string { return "#/definitions/" + strconv.Itoa(l.number(p)) }

// Original names what a path in the one document was made from.
func (l *Linked) Original(names []string) string {
	if len(names) > 1 && names[0] == "definitions" {
		if i, err := strconv.Atoi(names[1]); err == nil && i < len(l.places) {
			return l.places[i].document.at(l.places[i].at, names[2:]...)
		}
	}
	return Path(names)
}
