package descriptor

import (
	"encoding/json"
	"fmt"
)

type formV3 struct {
	APIVersion         string         `json:"apiVersion"`
	Kind               string         `json:"kind"`
	Metadata           metadataV3     `json:"metadata"`
	RepositoryContexts []Typed        `json:"repositoryContexts,omitempty"`
	Spec               specV3         `json:"spec"`
	Signatures         []Signature    `json:"signatures,omitempty"`
	NestedDigests      []NestedDigest `json:"nestedDigests,omitempty"`
}

type metadataV3 struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Labels       []Label  `json:"labels,omitempty"`
	Provider     Provider `json:"provider"`
	CreationTime string   `json:"creationTime,omitempty"`
}

type specV3 struct {
	Sources    []Source    `json:"sources,omitempty"`
	References []Reference `json:"references,omitempty"`
	Resources  []Resource  `json:"resources,omitempty"`
}

func decodeV3(raw []byte) (*Descriptor, error) {
	var form formV3
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("decode the component descriptor (schema %s): %w", SchemaV3Alpha1, err)
	}
	m, s := form.Metadata, form.Spec
	return &Descriptor{
		Schema: form.APIVersion, Name: m.Name, Version: m.Version, Provider: m.Provider,
		CreationTime: m.CreationTime, Labels: m.Labels, RepositoryContexts: form.RepositoryContexts,
		Sources: s.Sources, References: s.References, Resources: s.Resources,
		Signatures: form.Signatures, NestedDigests: form.NestedDigests,
	}, nil
}

func (d *Descriptor) formV3() formV3 {
	return formV3{
		APIVersion: d.Schema, Kind: kindV3,
		Metadata: metadataV3{
			Name: d.Name, Version: d.Version, Provider: d.Provider, CreationTime: d.CreationTime, Labels: d.Labels,
		},
		RepositoryContexts: d.RepositoryContexts,
		Spec:               specV3{Sources: d.Sources, References: d.References, Resources: d.Resources},
		Signatures:         d.Signatures, NestedDigests: d.NestedDigests,
	}
}
