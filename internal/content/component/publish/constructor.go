// Package publish writes component versions from a constructor file: a list of
// components with resources from files, directories or elsewhere.
package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/descriptor"
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
	// Meta says in which schema the descriptor is written.
	Meta struct {
		ConfiguredSchemaVersion string `json:"configuredSchemaVersion,omitempty"`
	} `json:"meta,omitzero"`
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
	Options            ElementOptions         `json:"options,omitzero"`
}

// ElementOptions say how an element is published.
type ElementOptions struct {
	// SkipDigestGeneration takes no digest.
	SkipDigestGeneration bool `json:"skipDigestGeneration,omitempty"`
}

// Source is a source with either an access or an input.
type Source struct {
	descriptor.Element `json:",inline"`
	Type               string           `json:"type"`
	Access             descriptor.Typed `json:"access,omitempty"`
	Input              *Input           `json:"input,omitempty"`
	Options            ElementOptions   `json:"options,omitzero"`
}

// Bounds of a constructor file: YAML costs many times its length in memory.
const (
	maxText   = 8 << 20
	maxValues = 400_000
)

// limits bound a constructor file. Its words mean what they mean in YAML 1.2, as for
// others who read such files.
func limits() yamltext.Limits {
	return yamltext.Limits{Text: maxText, Values: maxValues, Bytes: descriptor.MaxSize, Depth: yamltext.DefaultLimits().Depth, OnlyTrue: true}
}

// Parse reads a constructor file: documents, each with a list of components or one.
func Parse(data []byte) (*Constructor, error) {
	documents, err := yamltext.Documents(data, limits())
	if err != nil {
		return nil, fmt.Errorf("the constructor file: %w", err)
	}
	constructor := &Constructor{}
	for _, document := range documents {
		if err := constructor.add(document); err != nil {
			return nil, fmt.Errorf("the constructor file: %w", err)
		}
	}
	if len(constructor.Components) == 0 {
		return nil, errors.New("the constructor file has no components")
	}
	return constructor, nil
}

// add reads one document.
func (c *Constructor) add(document *yamltext.Document) error {
	raw, err := document.JSON()
	if err != nil {
		return err // says what and where
	}
	var probe struct {
		Components json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(raw, &probe); err != nil {
		return yamltext.Explain(err) // says what is wrong
	}
	var one Component
	read := Constructor{}
	var into any = &one
	if probe.Components != nil {
		into = &read
	}
	if unknown := document.Unknown(reflect.TypeOf(into)); unknown != nil {
		return fmt.Errorf("line %d: unknown field %q%s", unknown.Line, unknown.Name, meant(unknown))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return yamltext.Explain(err) // tells the field
	}
	if probe.Components == nil {
		read.Components = []Component{one}
	}
	var errs []error
	for i := range read.Components {
		var path []any
		if probe.Components != nil {
			path = []any{"components", i}
		}
		errs = append(errs, read.Components[i].check(document, path))
	}
	c.Components = append(c.Components, read.Components...)
	return errors.Join(errs...)
}

func meant(unknown *yamltext.Unknown) string {
	if name := suggest.Name(unknown.Name, unknown.Known); name != "" {
		return fmt.Sprintf(": did you mean %s?", name)
	}
	return ""
}

// check refuses what readers, here or elsewhere, would not take.
func (c *Component) check(document *yamltext.Document, at []any) error {
	c.complete()
	var errs []error
	wrong := func(violation descriptor.Violation) {
		violation.Path = append(slices.Clone(at), violation.Path...)
		errs = append(errs, fmt.Errorf("line %d: %s", document.Line(violation.Path...), violation))
	}
	if err := descriptor.CheckName(c.Name); err != nil {
		wrong(descriptor.Violation{Path: []any{"name"}, Reason: err.Error()})
	}
	if err := descriptor.CheckVersion(c.Version); err != nil {
		wrong(descriptor.Violation{Path: []any{"version"}, Reason: err.Error()})
	}
	if c.Provider.Name == "" {
		wrong(descriptor.Violation{Path: []any{"provider", "name"}, Reason: "it is missing"})
	}
	for i, resource := range c.Resources {
		if reason := source(!resource.Access.IsZero(), resource.Input != nil); reason != "" {
			wrong(descriptor.Violation{Path: []any{"resources", i}, Reason: fmt.Sprintf("resource %q %s", resource.Name, reason)})
		}
	}
	for i, from := range c.Sources {
		if reason := source(!from.Access.IsZero(), from.Input != nil); reason != "" {
			wrong(descriptor.Violation{Path: []any{"sources", i}, Reason: fmt.Sprintf("source %q %s", from.Name, reason)})
		}
	}
	for _, violation := range c.descriptor("").Violations() {
		if violation.Path[0] == "version" || c.isOwnVersion(violation.Path) {
			// It was said above.
			continue
		}
		wrong(c.written(violation))
	}
	return errors.Join(errs...)
}

// isOwnVersion reports that a path leads to a version that is that of the component.
func (c *Component) isOwnVersion(at []any) bool {
	if len(at) != 3 || at[2] != "version" {
		return false
	}
	index, _ := at[1].(int)
	switch at[0] {
	case "resources":
		return c.Resources[index].Version == "" || c.Resources[index].Version == c.Version
	case "sources":
		return c.Sources[index].Version == "" || c.Sources[index].Version == c.Version
	}
	return false
}

// source says what is wrong with where a content comes from.
func source(access, input bool) string {
	switch {
	case access && input:
		return "has both an access and an input: keep one of them"
	case !access && !input:
		return "has neither an access nor an input: add one of them"
	}
	return ""
}

// written turns a path of the descriptor into one of the constructor file.
func (c *Component) written(violation descriptor.Violation) descriptor.Violation {
	if index, isIndex := violation.Path[1].(int); violation.Path[0] == "references" && isIndex && index >= len(c.References) {
		violation.Path = append([]any{"componentReferences", index - len(c.References)}, violation.Path[2:]...)
	}
	return violation
}

// ownVersion stands for the version of the component.
const ownVersion = "<componentversion>"

// complete puts in what may be left out or has a placeholder.
func (c *Component) complete() {
	own := func(version *string) {
		*version = strings.ReplaceAll(*version, ownVersion, c.Version)
	}
	for i := range c.Resources {
		own(&c.Resources[i].Version)
	}
	for i := range c.Sources {
		own(&c.Sources[i].Version)
	}
	for _, list := range [][]descriptor.Reference{c.References, c.ComponentReferences} {
		for i := range list {
			own(&list[i].Version)
		}
	}
}

// Descriptor returns the descriptor in the usual schema, without the contents of inputs.
func (c *Component) Descriptor() *descriptor.Descriptor { return c.descriptor("") }

// descriptor returns the descriptor without the contents of inputs.
func (c *Component) descriptor(schema string) *descriptor.Descriptor {
	switch c.Meta.ConfiguredSchemaVersion {
	case "":
	case "v3alpha1":
		schema = descriptor.SchemaV3Alpha1
	default:
		schema = c.Meta.ConfiguredSchemaVersion
	}
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
