package componentfunc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/repository"
	"go.landscaper.dev/internal/plain"
)

// maxContent is how much of a resource a template can read.
const maxContent = 8 << 20

// octetStream is the media type of contents that templates get in base64.
const octetStream = "application/octet-stream"

// globalReference names a resource whatever the component it is looked for from.
type globalReference struct {
	Component struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"component"`
	Resource descriptor.Identity `json:"resource"`
}

// getResourceKey returns the text by which a deployer finds a resource.
func (c *Component) getResourceKey(read readReference) Function {
	return func(ctx context.Context, args []any) (any, error) {
		version, resource, err := c.find(ctx, args, read)
		if err != nil {
			return nil, err
		}
		key := globalReference{Resource: descriptor.IdentityOf(*resource, version.Resources)}
		key.Component.Name, key.Component.Version = version.Name, version.Version
		// The keys of the document are sorted, so the component comes first.
		text, err := yaml.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("encode the key of resource %s: %w", key.Resource, err)
		}
		return base64.StdEncoding.EncodeToString(text), nil
	}
}

// convert turns a content into what the engine shows of it.
type convert func(text string) (any, error)

func asText(text string) (any, error) { return text, nil }

func asNode(text string) (any, error) {
	return plain.FromYAML([]byte(text)) //nolint:wrapcheck // the caller tells the resource
}

// getResourceContent returns the content of a resource.
func (c *Component) getResourceContent(read readReference, convert convert) Function {
	return func(ctx context.Context, args []any) (any, error) {
		version, resource, err := c.find(ctx, args, read)
		if err != nil {
			return nil, err
		}
		content, mediaType, err := c.options.Session.Reader().Read(ctx, version, resource, maxContent)
		if err != nil {
			return nil, err //nolint:wrapcheck // names the resource
		}
		if isOctetStream(mediaType) {
			return base64.StdEncoding.EncodeToString(content), nil
		}
		value, err := convert(string(content))
		if err != nil {
			return nil, fmt.Errorf("content of resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
		}
		return value, nil
	}
}

func isOctetStream(mediaType string) bool {
	parsed, _, err := mime.ParseMediaType(mediaType)
	return err == nil && parsed == octetStream
}

// find returns the resource that the one argument refers to.
func (c *Component) find(ctx context.Context, args []any, read readReference) (*repository.Version, *descriptor.Resource, error) {
	if len(args) == 0 || args[0] == nil || args[0] == "" {
		return nil, nil, errors.New("unable to provide key for empty relative artifact reference: give a cd:// URI, or YAML with the fields resource and referencePath")
	}
	if len(args) > 1 {
		return nil, nil, fmt.Errorf("this function requires 1 argument, but %d were provided", len(args))
	}
	refer, err := read(args[0])
	if err != nil {
		return nil, nil, err
	}
	if c.options.Version == nil {
		return nil, nil, errors.New("unable to use this function without ocm component version: the Installation has no component")
	}
	if c.options.Session == nil {
		return nil, nil, errNoSession
	}
	return refer(ctx, origin{c.options.Version, c.context(), c.options.Session})
}

// resolve returns the content behind an access.
func (c *Component) resolve(ctx context.Context, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("this function requires 1 argument, but %d were provided", len(args))
	}
	object, ok := args[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expect argument 1 to be an access, which is a map, but it is %s", kind(args[0]))
	}
	access, err := descriptor.NewTyped(object)
	if err != nil {
		return nil, err //nolint:wrapcheck // tells what it did
	}
	if access.Type() == "" {
		return nil, errors.New("expect argument 1 to be an access, but it has no field type")
	}
	if c.options.Session == nil {
		return nil, errNoSession
	}
	version := c.options.Version
	if version == nil {
		// Only accesses that lead elsewhere can be read.
		version = &repository.Version{Descriptor: &descriptor.Descriptor{}}
	}
	blob, err := c.options.Session.Reader().Open(ctx, version, access)
	if err != nil {
		return nil, fmt.Errorf("read the content behind the access of argument 1: %w", err)
	}
	defer blob.Close() //nolint:errcheck // nothing is written
	content, err := archive.ReadAll(blob, maxContent)
	if err != nil {
		return nil, fmt.Errorf("read the content behind the access of argument 1: %w", err)
	}
	return string(content), nil
}
