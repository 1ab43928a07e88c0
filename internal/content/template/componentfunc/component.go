// Package componentfunc gives templates access to components: the values of the
// bindings cd and components, and the functions that find resources and other
// component versions and read references to artifacts.
//
// Errors name the position and the kind of an argument. They show what names
// public things (references, identities, component names and versions), and
// nothing else of what a template passed, which may be a secret.
package componentfunc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/uri"
)

// Function is a function of a template. Arguments and result are plain values.
type Function = func(ctx context.Context, args []any) (any, error)

var errUnknownSchema = errors.New("unknown schema version")

// Session finds component versions and reads contents. A component.Session is one.
type Session interface {
	uri.Finder
	Closure(ctx context.Context, root *repository.Version, context descriptor.Typed) ([]*repository.Version, error)
	Read(ctx context.Context, version *repository.Version, resource *descriptor.Resource, limit int64) (content []byte, mediaType string, err error)
}

// Options say which component version templates work with.
type Options struct {
	// Session finds other component versions and reads contents; may be nil.
	Session Session
	// Version is the component version of the Installation; nil if it has none.
	Version *repository.Version
	// Context is the effective repository context, where references are looked up.
	// Without it, that of the component version counts.
	Context descriptor.Typed
	// Schema is the schema in which templates see descriptors: the annotation
	// ocmSchemaVersion of the blueprint. Without it, it is that of the descriptor.
	Schema string
}

// Component is what templates see of a component version and of those that belong
// to it.
type Component struct {
	options Options
	// schema is the one that templates see.
	schema string
	// own is the descriptor of the Installation; nil without a component.
	own map[string]any

	mu     sync.Mutex
	loaded bool
	all    any
}

// New returns what templates see of a component. It makes no request.
func New(options Options) (*Component, error) {
	c := &Component{options: options, schema: options.Schema}
	if options.Version == nil {
		return c, nil
	}
	if c.schema == "" {
		c.schema = ownSchema(options.Version.Descriptor)
	}
	own, err := encode(options.Version.Descriptor, c.schema)
	if err != nil {
		return nil, err
	}
	c.own = own
	return c, nil
}

func ownSchema(d *descriptor.Descriptor) string {
	if d.Schema == "" || d.Schema == descriptor.SchemaV2 {
		return descriptor.SchemaV2
	}
	return descriptor.SchemaV3Alpha1
}

// encode returns a descriptor as a plain value.
func encode(d *descriptor.Descriptor, schema string) (map[string]any, error) {
	if schema != descriptor.SchemaV2 && schema != descriptor.SchemaV3Alpha1 {
		return nil, fmt.Errorf("%w: set the annotation ocmSchemaVersion of the blueprint to %s or %s", errUnknownSchema, descriptor.SchemaV2, descriptor.SchemaV3Alpha1)
	}
	raw, err := d.As(schema).Encode()
	if err != nil {
		return nil, err // names the component
	}
	value, err := jsonvalue.FromJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("component descriptor of %s:%s: %w", d.Name, d.Version, err)
	}
	// The encoder writes nothing but objects.
	object, _ := value.(map[string]any)
	return object, nil
}

// Descriptor returns the value of the binding cd: the descriptor of the component
// version, or nil without one.
func (c *Component) Descriptor() (any, error) {
	if c.own == nil {
		return nil, nil
	}
	return jsonvalue.Clone(c.own), nil
}

// Components returns the value of the binding components: the descriptors of the
// component version and of all that belong to it, its own first and the others by
// name and version; nil without a component. They are loaded once, with the first
// call. The value is shared and must not be changed.
//
// The lock is held while they are loaded, because several templates of one blueprint may ask at
// once. An error is not cached: another attempt may succeed.
func (c *Component) Components(ctx context.Context) (any, error) {
	if c.own == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		return c.all, nil
	}
	all, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	c.all, c.loaded = all, true
	return all, nil
}

func (c *Component) load(ctx context.Context) (any, error) {
	if c.options.Session == nil {
		return nil, errNoSession
	}
	versions, err := c.options.Session.Closure(ctx, c.options.Version, c.options.Context)
	if err != nil {
		return nil, err // names the component that is missing
	}
	slices.SortFunc(versions[1:], func(a, b *repository.Version) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	list := make([]any, len(versions))
	for i, version := range versions {
		if list[i], err = encode(version.Descriptor, c.schema); err != nil {
			return nil, err
		}
	}
	if c.schema == descriptor.SchemaV2 {
		return map[string]any{"meta": map[string]any{"schemaVersion": descriptor.SchemaV2}, "components": list}, nil
	}
	return list, nil
}

// GoTemplate returns the functions of Go templates.
func (c *Component) GoTemplate() map[string]Function {
	functions := c.common()
	functions["getResources"] = c.getResources
	functions["getRepositoryContext"] = c.getRepositoryContext
	functions["getResourceKey"] = c.getResourceKey(textReference)
	functions["getResourceContent"] = c.getResourceContent(textReference, asText)
	functions["resolve"] = c.resolve
	return functions
}

// Spiff returns the functions of spiff templates.
func (c *Component) Spiff() map[string]Function {
	functions := c.common()
	functions["getResourceKey"] = c.getResourceKey(anyReference)
	functions["getResourceContent"] = c.getResourceContent(anyReference, asNode)
	return functions
}

func (c *Component) common() map[string]Function {
	functions := Pure()
	functions["getResource"] = c.getResource
	functions["getComponent"] = c.getComponent
	return functions
}
