// Package descriptor is the model of component descriptors. There is one model
// for all schemas; it keeps everything that a descriptor of either schema says.
package descriptor

import "encoding/json"

// Schemas of descriptors.
const (
	SchemaV2       = "v2"
	SchemaV3Alpha1 = "ocm.software/v3alpha1"
	// schemaV3Alias is how early releases named the third schema.
	schemaV3Alias = "ocm.gardener.cloud/v3alpha1"
	kindV3        = "ComponentVersion"
)

// FileName is the name of the file that holds a descriptor.
const FileName = "component-descriptor.yaml"

// NestedLabel is the label of a component reference that carries the descriptor
// of the referenced component version.
const NestedLabel = "landscaper.gardener.cloud/component-descriptor"

// Relations of a resource to its component.
const (
	RelationLocal    = "local"
	RelationExternal = "external"
)

// Descriptor describes a component version.
type Descriptor struct {
	// Schema is the schema in which the descriptor was read or shall be written.
	Schema             string
	Name               string
	Version            string
	Provider           Provider
	CreationTime       string
	Labels             []Label
	RepositoryContexts []Typed
	Sources            []Source
	References         []Reference
	Resources          []Resource
	Signatures         []Signature
	NestedDigests      []NestedDigest
}

// Provider is who made the component.
type Provider struct {
	Name   string  `json:"name"`
	Labels []Label `json:"labels,omitempty"`
}

// Label is a named value of any form.
type Label struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Version string          `json:"version,omitempty"`
	Signing bool            `json:"signing,omitempty"`
	Merge   *Merge          `json:"merge,omitempty"`
}

// Merge says how a transport merges a label.
type Merge struct {
	Algorithm string          `json:"algorithm,omitempty"`
	Config    json.RawMessage `json:"config,omitempty"`
}

// Element is what resources, sources and references have in common.
type Element struct {
	Name          string            `json:"name"`
	Version       string            `json:"version,omitempty"`
	ExtraIdentity map[string]string `json:"extraIdentity,omitempty"`
	Labels        []Label           `json:"labels,omitempty"`
}

// Resource is an artefact of the component.
type Resource struct {
	Element    `json:",inline"`
	Type       string      `json:"type"`
	Relation   string      `json:"relation,omitempty"`
	SourceRefs []SourceRef `json:"srcRefs,omitempty"`
	Access     Typed       `json:"access"`
	Digest     *Digest     `json:"digest,omitempty"`
}

// SourceRef names sources of a resource.
type SourceRef struct {
	IdentitySelector map[string]string `json:"identitySelector,omitempty"`
	Labels           []Label           `json:"labels,omitempty"`
}

// Source is where the component comes from.
type Source struct {
	Element `json:",inline"`
	Type    string `json:"type"`
	Access  Typed  `json:"access"`
}

// Reference names another component version.
type Reference struct {
	Element       `json:",inline"`
	ComponentName string  `json:"componentName"`
	Digest        *Digest `json:"digest,omitempty"`
}

// Digest is a hash of something that was brought into a normal form first.
type Digest struct {
	HashAlgorithm          string `json:"hashAlgorithm"`
	NormalisationAlgorithm string `json:"normalisationAlgorithm"`
	Value                  string `json:"value"`
}

// Signature is a signed digest of the descriptor.
type Signature struct {
	Name      string         `json:"name"`
	Digest    Digest         `json:"digest"`
	Signature SignatureValue `json:"signature"`
	Timestamp *Timestamp     `json:"timestamp,omitempty"`
}

// SignatureValue is what a signer made from a digest.
type SignatureValue struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
	MediaType string `json:"mediaType"`
	Issuer    string `json:"issuer,omitempty"`
}

// Timestamp is when an authority saw a signature.
type Timestamp struct {
	Value string `json:"value,omitempty"`
	Time  string `json:"time,omitempty"`
}

// NestedDigest holds the digests of a referenced component version.
type NestedDigest struct {
	Name            string           `json:"name"`
	Version         string           `json:"version"`
	Digest          *Digest          `json:"digest,omitempty"`
	ResourceDigests []ResourceDigest `json:"resourceDigests,omitempty"`
}

// ResourceDigest is the digest of a resource of a referenced component version.
type ResourceDigest struct {
	Name          string            `json:"name"`
	Version       string            `json:"version,omitempty"`
	ExtraIdentity map[string]string `json:"extraIdentity,omitempty"`
	Digest        *Digest           `json:"digest,omitempty"`
}

// NoContent reports whether the digest says that the content of the resource is
// no part of a signature.
func (d *Digest) NoContent() bool {
	return d != nil && *d == Digest{HashAlgorithm: "NO-DIGEST", NormalisationAlgorithm: "EXCLUDE-FROM-SIGNATURE", Value: "NO-DIGEST"}
}

// Label returns the value of a label, or nil.
func (e Element) Label(name string) json.RawMessage {
	return labelValue(e.Labels, name)
}

func labelValue(labels []Label, name string) json.RawMessage {
	for _, label := range labels {
		if label.Name == name {
			return label.Value
		}
	}
	return nil
}

// EffectiveContext returns the repository context that counts, the last one, or
// nil.
func (d *Descriptor) EffectiveContext() Typed {
	if len(d.RepositoryContexts) == 0 {
		return nil
	}
	return d.RepositoryContexts[len(d.RepositoryContexts)-1]
}
