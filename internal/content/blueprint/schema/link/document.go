package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/repository"
)

// Limits of what belongs to a schema.
const (
	maxDocuments = 1000
	// MaxDocumentBytes is for each document.
	MaxDocumentBytes = 8 << 20
	// maxBytes is for all documents together.
	maxBytes = 16 << 20
	// maxLevels is how deep a document may be nested.
	maxLevels = 256
)

// document is a JSON document with schemas in it.
type document struct {
	// name is how messages call it; "" is the schema that is compiled.
	name string
	// base is the URI that relative references start from.
	base    string
	root    any
	dialect *dialect
	// owner is the component version at which cd:// references start; nil without a component.
	owner *repository.Version
	// foreign documents belong to a component, and do not see what the blueprint has.
	foreign bool
	// addresses are the places of schemas with an id of their own.
	addresses map[string][]pointer
	// bases are the URIs at these places.
	bases map[pointer]string
}

// at names a place in the document.
func (d *document) at(p pointer, names ...string) string {
	return d.original(append(p.names(), names...))
}

func (d *document) original(names []string) string {
	if d.name == "" {
		return Path(names)
	}
	return d.name + ": " + Path(names)
}

// baseAt returns the URI that references at a place start from.
func (d *document) baseAt(p pointer) string {
	if len(d.bases) == 0 {
		return d.base
	}
	for found := true; found; p, found = p.parent() {
		if base, known := d.bases[p]; known {
			return base
		}
	}
	return d.base
}

// decode reads JSON or YAML; numbers keep their digits.
func decode(text []byte) (any, error) {
	value, errJSON := jsonvalue.FromJSONWithNumbers(text)
	if errJSON == nil {
		return value, nil
	}
	value, err := yamltext.Decode(text, yamltext.DefaultLimits())
	if err == nil {
		err = single(text)
	}
	if err != nil {
		if start := bytes.TrimSpace(text); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
			err = errJSON
		}
		return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	}
	return value, nil
}

// single refuses a text that has more after its first document, which would be
// ignored.
func single(text []byte) error {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if documents.Decode(&yaml.Node{}) == nil && documents.Decode(&yaml.Node{}) != io.EOF { //nolint:errorlint // the decoder returns it as it is
		return errors.New("there is more after the first document")
	}
	return nil
}

// prepare decodes a document, chooses its dialect and finds the ids in it.
func (l *linker) prepare(d *document, text []byte) (*document, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, fmt.Errorf("the compilation ends: %w", err)
	}
	if len(l.documents) == maxDocuments {
		return nil, fmt.Errorf("more than %d documents belong to the schema", maxDocuments)
	}
	if len(text) > MaxDocumentBytes {
		return nil, &archive.TooLargeError{What: "the number of bytes of the schema", Limit: MaxDocumentBytes}
	}
	if l.bytes += len(text); l.bytes > maxBytes {
		return nil, &archive.TooLargeError{What: "the number of bytes of all documents that belong to the schema", Limit: maxBytes}
	}
	root, err := decode(text)
	if err != nil {
		return nil, err
	}
	if err := Bounded(root, maxLevels); err != nil {
		return nil, err
	}
	d.root = root
	if d.dialect, err = l.dialectOf(d); err != nil {
		return nil, err
	}
	d.addresses, d.bases = map[string][]pointer{}, map[pointer]string{}
	if err := l.index(d, root, nil, d.base); err != nil {
		return nil, err
	}
	return d, nil
}

func (l *linker) dialectOf(d *document) (*dialect, error) {
	name := l.sources.Default
	if d.foreign {
		name = ""
	}
	if object, ok := d.root.(map[string]any); ok && object["$schema"] != nil {
		if name, ok = object["$schema"].(string); !ok {
			return nil, fmt.Errorf("$schema must be a string, not %s", article(TypeName(object["$schema"])))
		}
	}
	if known := dialects[strings.TrimSuffix(name, "#")]; known != nil {
		return known, nil
	}
	return hybrid, nil
}

// index finds the schemas of a document that have an id.
func (l *linker) index(d *document, node any, names []string, base string) error {
	object, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	if err := l.ctx.Err(); err != nil {
		return fmt.Errorf("the compilation ends: %w", err)
	}
	// An id beside a reference is ignored in these drafts.
	if _, isReference := object["$ref"]; !isReference {
		var err error
		if base, err = l.identify(d, object, names, base); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		form := d.dialect.keywords[name]
		if !form.holdsSchemas() {
			continue
		}
		if _, one := value.(map[string]any); one && (form == oneSchema || form == nameSchema || form == oneOrList) {
			if err := l.index(d, value, append(names, name), base); err != nil {
				return err
			}
			continue
		}
		for key, child := range elements(value) {
			if err := l.index(d, child, append(names, name, key), base); err != nil {
				return err
			}
		}
	}
	return nil
}

// identify takes the id of a schema, and returns the base of what is in it.
func (l *linker) identify(d *document, object map[string]any, names []string, base string) (string, error) {
	for _, keyword := range d.dialect.ids {
		id, ok := object[keyword].(string)
		if !ok {
			continue
		}
		text, anchor, _ := strings.Cut(id, "#")
		joined, err := join(base, text)
		if err != nil {
			return base, nil //nolint:nilerr // References that need this id will not find it.
		}
		at := pointer("").child(names...)
		if err := l.spend(at); err != nil {
			return "", err
		}
		if text != "" {
			base = joined
			d.bases[at] = base
			d.addresses[base] = append(d.addresses[base], at)
		}
		if anchor != "" && anchor[0] != '/' {
			address := base + "#" + anchor
			d.addresses[address] = append(d.addresses[address], at)
		}
		return base, nil
	}
	return base, nil
}

// join resolves a reference without its fragment.
func join(base, reference string) (string, error) {
	if reference == "" {
		return base, nil
	}
	to, err := url.Parse(reference)
	if err != nil {
		return "", fmt.Errorf("it is no URI: %w", err)
	}
	if to.IsAbs() {
		return reference, nil
	}
	from, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%q is no URI: %w", base, err)
	}
	return from.ResolveReference(to).String(), nil
}
