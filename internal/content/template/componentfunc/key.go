package componentfunc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"reflect"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// MaxContent is how much of a resource a template can read.
const MaxContent = 8 << 20

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
//
// The key is in a DeployItem afterwards, far from this component: hence the name and the
// version of the component, and an identity that is unique in it.
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
	return jsonvalue.FromYAML([]byte(text)) // the caller says the resource
}

// getResourceContent returns the content of a resource.
func (c *Component) getResourceContent(read readReference, convert convert) Function {
	return func(ctx context.Context, args []any) (any, error) {
		version, resource, err := c.find(ctx, args, read)
		if err != nil {
			return nil, err
		}
		content, mediaType, err := c.options.Session.Read(ctx, version, resource, MaxContent)
		if err != nil {
			return nil, err // names the resource
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

// errForeignAccess refuses an access that a template has put together: it could
// carry imports out, or reach what only this program can see.
var errForeignAccess = errors.New("the access of argument 1 is not that of a resource of the component or of one that it refers to: pass the field access of a resource as it is")

// resolve returns the content behind an access of a resource.
func (c *Component) resolve(ctx context.Context, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("this function requires 1 argument, but %d were provided", len(args))
	}
	access, ok := args[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expect argument 1 to be an access, which is a map, but it is %s", kind(args[0]))
	}
	if c.options.Version == nil {
		return nil, errors.New("unable to use this function without ocm component version: the Installation has no component")
	}
	if c.options.Session == nil {
		return nil, errNoSession
	}
	version, resource, err := c.withAccess(ctx, access)
	if err != nil {
		return nil, err
	}
	content, _, err := c.options.Session.Read(ctx, version, resource, MaxContent)
	if err != nil {
		return nil, fmt.Errorf("read the content behind the access of argument 1: %w", err)
	}
	return string(content), nil
}

// withAccess finds the resource that has an access: in the component version, then
// in those that it refers to.
func (c *Component) withAccess(ctx context.Context, access map[string]any) (*repository.Version, *descriptor.Resource, error) {
	if resource := hasAccess(c.options.Version, access); resource != nil {
		return c.options.Version, resource, nil
	}
	versions, err := c.options.Session.Closure(ctx, c.options.Version, c.options.Context)
	if err != nil {
		return nil, nil, err // names the component that is missing
	}
	for _, version := range versions {
		if resource := hasAccess(version, access); resource != nil {
			return version, resource, nil
		}
	}
	return nil, nil, errForeignAccess
}

func hasAccess(version *repository.Version, access map[string]any) *descriptor.Resource {
	for i := range version.Resources {
		known, err := jsonvalue.FromJSON(version.Resources[i].Access)
		if err == nil && reflect.DeepEqual(known, any(access)) {
			return &version.Resources[i]
		}
	}
	return nil
}
