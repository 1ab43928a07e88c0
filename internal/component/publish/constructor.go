// Package publish writes component versions from a constructor file: a list of
// components with resources from files, directories or elsewhere.
package publish

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/yamltext"
)

// Constructor is the content of a constructor file.
type Constructor struct {
	Components []Component `json:"components"`
}

// Component is one component version to publish.
type Component struct {
	Name         string             `json:"name"`
	Version      string             `json:"version"`
	Provider     provider           `json:"provider"`
	CreationTime string             `json:"creationTime,omitempty"`
	Labels       []descriptor.Label `json:"labels,omitempty"`
	Resources    []Resource         `json:"resources,omitempty"`
	Sources      []Source           `json:"sources,omitempty"`
	// References and ComponentReferences are two names for the same.
	References          []descriptor.Reference `json:"references,omitempty"`
	ComponentReferences []descriptor.Reference `json:"componentReferences,omitempty"`
}

// provider is an object with a name and labels, or the name alone.
type provider descriptor.Provider

// UnmarshalJSON reads both forms.
func (p *provider) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &p.Name) == nil {
		return nil
	}
	if err := json.Unmarshal(data, (*descriptor.Provider)(p)); err != nil {
		return fmt.Errorf("provider: %w", err)
	}
	return nil
}

// Resource is a resource with either an access or an input.
type Resource struct {
	descriptor.Element `json:",inline"`
	Type               string                 `json:"type"`
	Relation           string                 `json:"relation,omitempty"`
	SourceRefs         []descriptor.SourceRef `json:"srcRefs,omitempty"`
	Access             descriptor.Typed       `json:"access,omitempty"`
	Input              *Input                 `json:"input,omitempty"`
	Digest             *descriptor.Digest     `json:"digest,omitempty"`
}

// Source is a source with either an access or an input.
type Source struct {
	descriptor.Element `json:",inline"`
	Type               string           `json:"type"`
	Access             descriptor.Typed `json:"access,omitempty"`
	Input              *Input           `json:"input,omitempty"`
}

// Input is a content to be stored with the component version.
type Input struct {
	// Type is dir, file, utf8, binary, yaml, json, or ociImage.
	Type string `json:"type"`
	Path string `json:"path,omitempty"`
	// MediaType of the content; it has a default for each type.
	MediaType string `json:"mediaType,omitempty"`
	// Compress asks for gzip.
	Compress bool `json:"compress,omitempty"`
	// PreserveDir packs the directory itself, not only what is in it.
	PreserveDir bool `json:"preserveDir,omitempty"`
	// IncludeFiles and ExcludeFiles are patterns of paths in a directory.
	IncludeFiles []string `json:"includeFiles,omitempty"`
	ExcludeFiles []string `json:"excludeFiles,omitempty"`
	// Text, Data and the formatted values are contents in place.
	Text          string          `json:"text,omitempty"`
	Data          []byte          `json:"data,omitempty"`
	JSON          json.RawMessage `json:"json,omitempty"`
	FormattedJSON json.RawMessage `json:"formattedJson,omitempty"`
	YAML          json.RawMessage `json:"yaml,omitempty"`
}

// maxValues is how many values a constructor file may have.
const maxValues = 2_000_000

// Parse reads a constructor file: a list of components, or one.
func Parse(data []byte) (*Constructor, error) {
	var probe struct {
		Components []json.RawMessage `json:"components"`
	}
	limits := yamltext.Limits{Text: descriptor.MaxSize, Values: maxValues, Bytes: descriptor.MaxSize, Depth: yamltext.DefaultLimits().Depth}
	if err := yamltext.Unmarshal(data, limits, &probe); err != nil {
		return nil, fmt.Errorf("the constructor file: %w", err)
	}
	var constructor Constructor
	if probe.Components != nil {
		if err := yamltext.UnmarshalStrict(data, limits, &constructor); err != nil {
			return nil, fmt.Errorf("the constructor file: %w", err)
		}
	} else {
		var one Component
		if err := yamltext.UnmarshalStrict(data, limits, &one); err != nil {
			return nil, fmt.Errorf("the constructor file: %w", err)
		}
		constructor.Components = []Component{one}
	}
	for i := range constructor.Components {
		if err := constructor.Components[i].check(); err != nil {
			return nil, fmt.Errorf("components[%d] of the constructor file: %w", i, err)
		}
	}
	if len(constructor.Components) == 0 {
		return nil, errors.New("the constructor file has no components")
	}
	return &constructor, nil
}

func (c *Component) check() error {
	errs := []error{descriptor.CheckName(c.Name), descriptor.CheckVersion(c.Version)}
	if c.Provider.Name == "" {
		errs = append(errs, errors.New("provider.name is missing"))
	}
	one := func(kind, name string, hasAccess, hasInput bool) {
		if hasAccess == hasInput {
			errs = append(errs, fmt.Errorf("%s %q needs either an access or an input", kind, name))
		}
	}
	for _, resource := range c.Resources {
		one("resource", resource.Name, !resource.Access.IsZero(), resource.Input != nil)
	}
	for _, source := range c.Sources {
		one("source", source.Name, !source.Access.IsZero(), source.Input != nil)
	}
	return errors.Join(errs...)
}

// descriptor returns the descriptor without the contents of inputs.
func (c *Component) descriptor(schema string) *descriptor.Descriptor {
	d := &descriptor.Descriptor{
		Schema: schema, Name: c.Name, Version: c.Version, Provider: descriptor.Provider(c.Provider), CreationTime: c.CreationTime,
		Labels: c.Labels, References: append(append([]descriptor.Reference{}, c.References...), c.ComponentReferences...),
	}
	for _, r := range c.Resources {
		resource := descriptor.Resource{
			Element: r.Element, Type: r.Type, Relation: r.Relation, SourceRefs: r.SourceRefs, Access: r.Access, Digest: r.Digest,
		}
		if resource.Relation == "" {
			resource.Relation = descriptor.RelationExternal
			if r.Input != nil {
				resource.Relation = descriptor.RelationLocal
			}
		}
		if resource.Version == "" {
			resource.Version = c.Version
		}
		d.Resources = append(d.Resources, resource)
	}
	for _, s := range c.Sources {
		source := descriptor.Source{Element: s.Element, Type: s.Type, Access: s.Access}
		if source.Version == "" {
			source.Version = c.Version
		}
		d.Sources = append(d.Sources, source)
	}
	return d
}
