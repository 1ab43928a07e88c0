package descriptor

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Identity distinguishes elements of a descriptor: name, extra identity, and version where it is
// needed.
type Identity map[string]string

// Named is the identity of an element that has only a name.
func Named(name string) Identity { return Identity{"name": name} }

// String returns the identity as JSON, which is stable.
func (i Identity) String() string {
	// A map of texts can always be encoded.
	text, _ := json.Marshal(i)
	return string(text)
}

// Elementer is anything that has the parts of an element.
type Elementer interface{ element() Element }

func (e Element) element() Element { return e }

// identity returns the attributes of an element without its version.
func (e Element) identity() Identity {
	identity := Identity{}
	maps.Copy(identity, e.ExtraIdentity)
	identity["name"] = e.Name
	return identity
}

// IdentityOf returns the identity of an element among its siblings.
func IdentityOf[E Elementer](element E, siblings []E) Identity {
	identity := element.element().identity()
	same := 0
	for _, sibling := range siblings {
		if maps.Equal(identity, sibling.element().identity()) {
			same++
		}
	}
	if same > 1 {
		identity["version"] = element.element().Version
	}
	return identity
}

// NotFoundError says that a descriptor does not have an element.
type NotFoundError struct {
	// Kind is "resource", "source" or "component reference".
	Kind      string
	Identity  Identity
	Component string
	// Matches is how many elements match; it is not one.
	Matches int
	// There are the names of those that there are.
	There []string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	if e.Matches > 1 {
		return fmt.Sprintf("failed to get %s with name %s: %d of component version %s match the identity %s", e.Kind, e.Identity["name"], e.Matches, e.Component, e.Identity)
	}
	return fmt.Sprintf("failed to get %s with name %s: component version %s has none with the identity %s", e.Kind, e.Identity["name"], e.Component, e.Identity)
}

// Resource returns the resource that has exactly the given identity. The version
// may be given also where it is not needed.
func (d *Descriptor) Resource(identity Identity) (*Resource, error) {
	found, err := find(d, "resource", d.Resources, identity, exactly)
	if err != nil {
		return nil, err
	}
	return &d.Resources[found], nil
}

// ResourceBy returns the one resource that has at least the given attributes.
func (d *Descriptor) ResourceBy(attributes Identity) (*Resource, error) {
	found, err := find(d, "resource", d.Resources, attributes, atLeast)
	if err != nil {
		return nil, err
	}
	return &d.Resources[found], nil
}

// Source returns the source that has exactly the given identity.
func (d *Descriptor) Source(identity Identity) (*Source, error) {
	found, err := find(d, "source", d.Sources, identity, exactly)
	if err != nil {
		return nil, err
	}
	return &d.Sources[found], nil
}

// Reference returns the reference that has exactly the given identity.
func (d *Descriptor) Reference(identity Identity) (*Reference, error) {
	found, err := find(d, "component reference", d.References, identity, exactly)
	if err != nil {
		return nil, err
	}
	return &d.References[found], nil
}

// ReferenceBy returns the one reference that has at least the given attributes.
func (d *Descriptor) ReferenceBy(attributes Identity) (*Reference, error) {
	found, err := find(d, "component reference", d.References, attributes, atLeast)
	if err != nil {
		return nil, err
	}
	return &d.References[found], nil
}

func find[E Elementer](d *Descriptor, kind string, elements []E, identity Identity, matches func(Element, Identity) bool) (int, error) {
	found, count := -1, 0
	for i := range elements {
		if matches(elements[i].element(), identity) {
			found = i
			count++
		}
	}
	if count != 1 {
		missing := &NotFoundError{Kind: kind, Identity: identity, Component: d.Name + ":" + d.Version, Matches: count}
		for _, element := range elements {
			missing.There = append(missing.There, element.element().Name)
		}
		return -1, missing
	}
	return found, nil
}

func exactly(element Element, identity Identity) bool {
	if maps.Equal(element.identity(), identity) {
		return true
	}
	if _, given := element.ExtraIdentity["version"]; given {
		return false
	}
	versioned := element.identity()
	versioned["version"] = element.Version
	return maps.Equal(versioned, identity)
}

func atLeast(element Element, attributes Identity) bool {
	all := element.identity()
	if _, given := all["version"]; !given {
		all["version"] = element.Version
	}
	for key, value := range attributes {
		if all[key] != value {
			return false
		}
	}
	return true
}
