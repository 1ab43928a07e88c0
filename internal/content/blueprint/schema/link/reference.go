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

	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/uri"
)

// ResourceType is the type of component resources that are JSON schemas.
const ResourceType = "landscaper.gardener.cloud/jsonschema"

const remedy = "local://<type of the blueprint>, blueprint://<file>, cd://<resource of a component> and #/<path> are allowed"

// place is a schema in a document.
type place struct {
	document *document
	at       pointer
}

// resolve finds what a reference means. If it is one of the published schemas of
// schemas, it is returned as text.
func (l *linker) resolve(d *document, base, reference string) (found place, published string, err error) {
	text, fragment, _ := strings.Cut(reference, "#")
	absolute, err := join(base, text)
	if leads(text) {
		// Names of types need not be names of hosts.
		absolute, err = text, nil
	}
	if err != nil {
		return place{}, "", err
	}
	if text == "" || absolute == d.base || d.addresses[absolute] != nil {
		found, err = l.within(d, absolute, fragment)
		return found, "", err
	}
	if dialects[absolute] != nil {
		return place{}, absolute + "#" + fragment, nil
	}
	target, err := l.load(d, absolute)
	if err != nil {
		return place{}, "", err
	}
	found, err = l.within(target, target.base, fragment)
	return found, "", err
}

// within finds a fragment below the schema with the given address.
func (l *linker) within(d *document, address, fragment string) (place, error) {
	start := pointer("")
	if address != d.base {
		var err error
		if start, err = d.addressed(address); err != nil {
			return place{}, err
		}
	}
	if fragment == "" {
		return place{d, start}, nil
	}
	if fragment[0] != '/' && fragment[0] != '%' {
		at, err := d.addressed(address + "#" + fragment)
		return place{d, at}, err
	}
	at, err := parsePointer(fragment)
	if err != nil {
		return place{}, err
	}
	if at != "" && at[0] != '/' {
		return place{}, fmt.Errorf("fragment %s must start with a slash", fragment)
	}
	at = start + at
	if err := l.spend(at); err != nil {
		return place{}, err
	}
	if _, err := find(d.root, at); err != nil {
		return place{}, err
	}
	return place{d, at}, nil
}

func (d *document) addressed(address string) (pointer, error) {
	switch places := d.addresses[address]; len(places) {
	case 0:
		return "", fmt.Errorf("no schema has the id %q", address)
	case 1:
		return places[0], nil
	default:
		slices.Sort(places)
		return "", fmt.Errorf("the id %q is used at %s and at %s", address, d.at(places[0]), d.at(places[1]))
	}
}

// schemes are those of URIs that lead to documents.
var schemes = []string{"local", "blueprint", uri.Scheme}

func (l *linker) load(d *document, absolute string) (*document, error) {
	if !leads(absolute) {
		return nil, fmt.Errorf("%s is refused, because schemas are not fetched from other places: %s", absolute, remedy)
	}
	scheme, rest, _ := strings.Cut(absolute, "://")
	scheme = strings.ToLower(scheme)
	if d.foreign && scheme != uri.Scheme {
		return nil, fmt.Errorf("%s can be used only in the blueprint, not in a schema of a component: use cd:// or #/<path> there", absolute)
	}
	switch scheme {
	case "local":
		return l.local(rest)
	case "blueprint":
		return l.file(rest)
	}
	return l.component(d, absolute)
}

// leads reports whether a URI is one that leads to a document.
func leads(address string) bool {
	scheme, _, hasScheme := strings.Cut(address, "://")
	return hasScheme && slices.Contains(schemes, strings.ToLower(scheme))
}

// remember returns the document with the given key, which it makes the first time.
func (l *linker) remember(key string, prepare func() (*document, error)) (*document, error) {
	if known := l.documents[key]; known != nil {
		return known, nil
	}
	d, err := prepare()
	if err != nil {
		return nil, err
	}
	l.documents[key] = d
	return d, nil
}

func (l *linker) local(name string) (*document, error) {
	if strings.Contains(name, "/") {
		return nil, errors.New("a path is not supported for local resources: use local://<name>#/<path>")
	}
	definition, known := l.sources.Local[name]
	if !known {
		return nil, fmt.Errorf("type %s is not defined in local types: %s", name, list(slices.Sorted(maps.Keys(l.sources.Local))))
	}
	text := "local://" + name
	return l.remember(text, func() (*document, error) {
		return l.prepare(&document{name: text, base: text, owner: l.sources.Version}, definition.RawMessage)
	})
}

func list(names []string) string {
	if len(names) == 0 {
		return "none is defined"
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most:most], "...")
	}
	return "defined are " + strings.Join(names, ", ")
}

func (l *linker) file(escaped string) (*document, error) {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("the name of the file: %w", err)
	}
	name = memfs.Clean(name)
	if l.sources.Files == nil {
		return nil, errors.New("no filesystem defined to read a local schema: the blueprint has no files")
	}
	text := "blueprint://" + name
	return l.remember(text, func() (*document, error) {
		content, err := l.readFile(name)
		if err == nil {
			var d *document
			if d, err = l.prepare(&document{name: text, base: text, owner: l.sources.Version}, content); err == nil {
				return d, nil
			}
		}
		return nil, fmt.Errorf("unable to read local schema from %s: %w", name, err)
	})
}

func (l *linker) readFile(name string) ([]byte, error) {
	if name == "." {
		return nil, errors.New("the name of a file is missing")
	}
	file, err := l.sources.Files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the path starts at the root of the blueprint: %w", err)
	}
	defer file.Close()                             //nolint:errcheck // nothing is written
	return archive.ReadAll(file, MaxDocumentBytes) // the caller names the file
}

func (l *linker) component(d *document, text string) (*document, error) {
	if d.owner == nil {
		return nil, ErrNoComponent
	}
	from := step{d.owner, text}
	if known := l.followed[from]; known != nil {
		return known, nil
	}
	found, err := l.follow(d.owner, text)
	if err != nil {
		return nil, fmt.Errorf("unable to fetch jsonschema for '%s': %w", text, err)
	}
	l.followed[from] = found
	return found, nil
}

// step is a cd:// reference with the component version at which it starts.
type step struct {
	from *repository.Version
	text string
}

func (l *linker) follow(from *repository.Version, text string) (*document, error) {
	if l.sources.Reader == nil {
		return nil, errors.New("no component reference resolver defined to resolve the ref")
	}
	address, err := uri.Parse(text)
	if err != nil {
		return nil, err // names the URI
	}
	address.Context = l.sources.Context
	owner, resource, err := address.Resource(l.ctx, l.sources.Finder, from)
	if err != nil {
		return nil, err // names the URI
	}
	name := fmt.Sprintf("resource %s of component version %s:%s", resource.Name, owner.Name, owner.Version)
	return l.remember(name+" in "+owner.Context.String(), func() (*document, error) {
		content, err := l.readResource(owner, resource)
		if err != nil {
			return nil, err
		}
		// A relative reference leads to another resource of the same component.
		base := uri.Scheme + "://resources/" + url.PathEscape(resource.Name)
		return l.prepare(&document{name: name, base: base, owner: owner, foreign: true}, content)
	})
}

func (l *linker) readResource(owner *repository.Version, resource *descriptor.Resource) ([]byte, error) {
	if resource.Type != ResourceType {
		return nil, fmt.Errorf("resource %s of component version %s:%s has the type %s, but schemas have the type %s",
			resource.Name, owner.Name, owner.Version, resource.Type, ResourceType)
	}
	content, mediaType, err := l.sources.Reader.Read(l.ctx, owner, resource, MaxDocumentBytes)
	if err != nil {
		return nil, err // names the resource
	}
	limits := archive.DefaultLimits()
	limits.Bytes = MaxDocumentBytes
	if _, isSet := oci.IsSet(mediaType); isSet {
		if content, err = l.onlyLayer(content, limits); err != nil {
			return nil, err
		}
	}
	return archive.Inflate(bytes.NewReader(content), limits) // the caller names the resource
}

// onlyLayer returns the layer of an artifact that has one.
func (l *linker) onlyLayer(content []byte, limits archive.Limits) ([]byte, error) {
	set, err := oci.ReadSet(bytes.NewReader(content), limits)
	if err != nil {
		return nil, err // the caller names the resource
	}
	manifest, err := oci.ReadManifest(l.ctx, set, "", set.Main)
	if err != nil {
		return nil, err // the caller names the resource
	}
	if len(manifest.Layers) != 1 {
		return nil, fmt.Errorf("the artifact has %d layers; a schema is one layer", len(manifest.Layers))
	}
	layer, err := set.Open(l.ctx, "", manifest.Layers[0])
	if err != nil {
		return nil, err // the caller names the resource
	}
	defer layer.Close() //nolint:errcheck // nothing is written
	text, err := io.ReadAll(layer)
	if err != nil {
		return nil, fmt.Errorf("read the layer: %w", err)
	}
	return text, nil
}

// ErrNoComponent says that a schema refers to a component, but the Installation has none.
var ErrNoComponent = errors.New("no component descriptor defined to resolve the ref: set spec.componentDescriptor of the Installation")
