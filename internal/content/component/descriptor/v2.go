package descriptor

import (
	"encoding/json"
	"fmt"
	"strings"
)

type metaV2 struct {
	SchemaVersion string `json:"schemaVersion"`
}

type formV2 struct {
	Meta          metaV2         `json:"meta"`
	Component     componentV2    `json:"component"`
	Signatures    []Signature    `json:"signatures,omitempty"`
	NestedDigests []NestedDigest `json:"nestedDigests,omitempty"`
}

type componentV2 struct {
	Name               string      `json:"name"`
	Version            string      `json:"version"`
	CreationTime       string      `json:"creationTime,omitempty"`
	Labels             []Label     `json:"labels,omitempty"`
	RepositoryContexts []Typed     `json:"repositoryContexts"`
	Provider           providerV2  `json:"provider"`
	Sources            []Source    `json:"sources"`
	References         []Reference `json:"componentReferences"`
	Resources          []Resource  `json:"resources"`
}

// providerV2 is a text; the JSON text of an object where there are labels.
type providerV2 Provider

// MarshalJSON writes the name, or the object as text.
func (p providerV2) MarshalJSON() ([]byte, error) {
	if len(p.Labels) == 0 {
		return json.Marshal(p.Name)
	}
	object, err := json.Marshal(Provider(p))
	if err != nil {
		return nil, fmt.Errorf("encode the provider: %w", err)
	}
	return json.Marshal(string(object))
}

// UnmarshalJSON reads the name, or the object as text.
func (p *providerV2) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("component.provider must be a text: %w", err)
	}
	*p = providerV2{Name: text}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var object Provider
		if json.Unmarshal([]byte(text), &object) == nil && object.Name != "" {
			*p = providerV2(object)
		}
	}
	return nil
}

// UnmarshalJSON reads a resource; very old descriptors write srcRef for srcRefs.
func (r *Resource) UnmarshalJSON(data []byte) error {
	type plain Resource
	read := struct {
		*plain
		Old []SourceRef `json:"srcRef"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(data, &read); err != nil {
		return err // the decoder around this one tells where
	}
	if len(r.SourceRefs) == 0 {
		r.SourceRefs = read.Old
	}
	return nil
}

func decodeV2(raw []byte) (*Descriptor, error) {
	var form formV2
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("decode the component descriptor (schema %s): %w", SchemaV2, err)
	}
	c := form.Component
	return &Descriptor{
		Schema: SchemaV2, Name: c.Name, Version: c.Version, Provider: Provider(c.Provider),
		CreationTime: c.CreationTime, Labels: c.Labels, RepositoryContexts: c.RepositoryContexts,
		Sources: c.Sources, References: c.References, Resources: c.Resources,
		Signatures: form.Signatures, NestedDigests: form.NestedDigests,
	}, nil
}

func (d *Descriptor) formV2() formV2 {
	return formV2{
		Meta: metaV2{SchemaVersion: SchemaV2},
		Component: componentV2{
			Name: d.Name, Version: d.Version, Provider: providerV2(d.Provider),
			CreationTime: d.CreationTime, Labels: d.Labels, RepositoryContexts: list(d.RepositoryContexts),
			Sources: list(d.Sources), References: list(d.References), Resources: list(d.Resources),
		},
		Signatures: d.Signatures, NestedDigests: d.NestedDigests,
	}
}

// list returns an empty list for none: readers of this schema insist on lists.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
