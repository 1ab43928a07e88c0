// Package signature verifies signatures of component versions: it brings the
// descriptor into the normal form that was signed, together with the digests of
// everything that it refers to.
package signature

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// Normal forms of descriptors.
const (
	JSONv1 = "jsonNormalisation/v1"
	JSONv2 = "jsonNormalisation/v2"
	JSONv3 = "jsonNormalisation/v3"
	// JSONv4Alpha1 gives the same bytes as JSONv3, under another name.
	JSONv4Alpha1 = "jsonNormalisation/v4alpha1"
)

// Normalise returns the bytes of a descriptor that are signed.
func Normalise(d *descriptor.Descriptor, algorithm string) ([]byte, error) {
	prepared := prepare(d, algorithm)
	switch algorithm {
	case JSONv1:
		return normaliseStored(prepared)
	case JSONv2, JSONv3, JSONv4Alpha1:
		return normaliseModel(prepared)
	}
	return nil, unknownNormalisation(algorithm)
}

// Normalisations returns the names of the normal forms.
func Normalisations() []string { return []string{JSONv1, JSONv2, JSONv3, JSONv4Alpha1} }

func unknownNormalisation(name string) error {
	return fmt.Errorf("unknown normalisation of a component descriptor %q: %s are known", name, strings.Join(Normalisations(), ", "))
}

// prepare returns a copy in which resources are distinct and those without content have no digest.
func prepare(d *descriptor.Descriptor, algorithm string) *descriptor.Descriptor {
	prepared := *d
	prepared.Resources = append([]descriptor.Resource{}, d.Resources...)
	for i := range prepared.Resources {
		resource := &prepared.Resources[i]
		if strings.EqualFold(resource.Access.Kind(), "none") {
			resource.Digest = nil
		}
		if (algorithm == JSONv1 || algorithm == JSONv2) && hasTwin(d.Resources, i) {
			extra := maps.Clone(resource.ExtraIdentity)
			if extra == nil {
				extra = map[string]string{}
			}
			extra["version"] = resource.Version
			resource.ExtraIdentity = extra
		}
	}
	return &prepared
}

// hasTwin reports whether a later resource has the same name and extra identity.
// The last one of a group stays as it is; that is how signatures were made.
func hasTwin(resources []descriptor.Resource, at int) bool {
	for _, later := range resources[at+1:] {
		if later.Name == resources[at].Name && maps.Equal(later.ExtraIdentity, resources[at].ExtraIdentity) {
			return true
		}
	}
	return false
}

// toMap returns a value as decoded JSON. Numbers are what they are for signers:
// floating point.
func toMap(value any) (map[string]any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("normalise: %w", err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return nil, fmt.Errorf("normalise: %w", err)
	}
	return decoded, nil
}

// normaliseStored normalises the form in which the descriptor is stored.
func normaliseStored(d *descriptor.Descriptor) ([]byte, error) {
	raw, err := d.Encode()
	if err != nil {
		return nil, err // says what it did
	}
	form, err := toMap(json.RawMessage(raw))
	if err != nil {
		return nil, err
	}
	drop(form, "signatures", "nestedDigests", "repositoryContexts")
	if component := child(form, "component"); component != nil {
		normaliseV2(component)
	} else {
		normaliseV3(form)
	}
	return entryLists(form)
}

func normaliseV2(component map[string]any) {
	drop(component, "repositoryContexts", "sources")
	signedLabels(component)
	if text, ok := component["provider"].(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		var provider map[string]any
		if json.Unmarshal([]byte(text), &provider) == nil {
			signedLabels(provider)
			component["provider"] = provider
		}
	}
	for _, resource := range children(component, "resources") {
		drop(resource, "access", "srcRefs")
		signedLabels(resource)
		fill(resource, "extraIdentity", nil)
		fill(resource, "version", "")
		fill(resource, "relation", "")
	}
	for _, reference := range children(component, "componentReferences") {
		signedLabels(reference)
		fill(reference, "extraIdentity", nil)
		fill(reference, "version", "")
	}
}

func normaliseV3(form map[string]any) {
	metadata := child(form, "metadata")
	// Those of the provider stay as they are: that is how signatures are made.
	signedLabels(metadata)
	spec := child(form, "spec")
	for _, resource := range children(spec, "resources") {
		drop(resource, "access", "srcRefs")
		signedLabels(resource)
		fill(resource, "version", "")
		fill(resource, "relation", "")
	}
	for _, source := range children(spec, "sources") {
		drop(source, "access")
		signedLabels(source)
		fill(source, "version", "")
	}
	for _, reference := range children(spec, "references") {
		signedLabels(reference)
		fill(reference, "version", "")
	}
}

// normaliseModel normalises what a descriptor says, whatever its schema.
func normaliseModel(d *descriptor.Descriptor) ([]byte, error) {
	component, err := toMap(struct {
		Name         string                 `json:"name"`
		Version      string                 `json:"version"`
		Labels       []descriptor.Label     `json:"labels,omitempty"`
		Provider     descriptor.Provider    `json:"provider"`
		CreationTime string                 `json:"creationTime,omitempty"`
		Sources      []descriptor.Source    `json:"sources"`
		References   []descriptor.Reference `json:"componentReferences"`
		Resources    []descriptor.Resource  `json:"resources"`
	}{d.Name, d.Version, d.Labels, d.Provider, d.CreationTime, d.Sources, d.References, d.Resources})
	if err != nil {
		return nil, err
	}
	signedLabels(component)
	signedLabels(child(component, "provider"))
	for _, list := range []string{"sources", "componentReferences", "resources"} {
		if component[list] == nil {
			component[list] = []any{}
		}
		for _, element := range children(component, list) {
			fill(element, "version", "")
			if list == "componentReferences" {
				// All their labels are signed. This was not meant so, but it is what
				// signers do.
				continue
			}
			signedLabels(element)
			drop(element, "access")
			if list == "resources" {
				drop(element, "srcRefs")
				fill(element, "relation", "")
			}
		}
	}
	return canonical(map[string]any{"component": component})
}

// signedLabels keeps the labels that are part of the signature.
func signedLabels(of map[string]any) {
	list, _ := of["labels"].([]any)
	kept := []any{}
	for _, item := range list {
		label, _ := item.(map[string]any)
		if signing, _ := label["signing"].(bool); !signing {
			continue
		}
		maps.DeleteFunc(label, func(key string, _ any) bool {
			return key != "name" && key != "version" && key != "value" && key != "signing"
		})
		kept = append(kept, label)
	}
	if of == nil {
		return
	}
	if len(kept) == 0 {
		delete(of, "labels")
		return
	}
	of["labels"] = kept
}

func drop(from map[string]any, keys ...string) {
	for _, key := range keys {
		delete(from, key)
	}
}

func fill(in map[string]any, key string, value any) {
	if _, exists := in[key]; !exists {
		in[key] = value
	}
}

func child(of map[string]any, key string) map[string]any {
	found, _ := of[key].(map[string]any)
	return found
}

func children(of map[string]any, key string) []map[string]any {
	list, _ := of[key].([]any)
	var found []map[string]any
	for _, item := range list {
		if element, ok := item.(map[string]any); ok {
			found = append(found, element)
		}
	}
	return found
}
