package construct

import (
	"errors"
	"fmt"
	"maps"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/publish"
)

// Check finds what appears twice, before anything is written.
func Check(constructor *publish.Constructor) error {
	var errs []error
	seen := map[string]bool{}
	for i, c := range constructor.Components {
		at := fmt.Sprintf("components[%d]", i)
		if key := c.Name + ":" + c.Version; seen[key] {
			errs = append(errs, fmt.Errorf("%s: the component version %s is there twice: remove one", at, key))
		} else {
			seen[key] = true
		}
		errs = append(errs, twice(at+".resources", c.Resources, func(r publish.Resource) descriptor.Element { return r.Element })...)
		errs = append(errs, twice(at+".sources", c.Sources, func(s publish.Source) descriptor.Element { return s.Element })...)
		references := append(append([]descriptor.Reference{}, c.References...), c.ComponentReferences...)
		errs = append(errs, twice(at+".componentReferences", references, func(r descriptor.Reference) descriptor.Element { return r.Element })...)
	}
	return errors.Join(errs...)
}

func twice[E any](at string, elements []E, element func(E) descriptor.Element) []error {
	var errs []error
	seen := map[string]bool{}
	for i, e := range elements {
		one := element(e)
		identity := descriptor.Identity{}
		maps.Copy(identity, one.ExtraIdentity)
		identity["name"] = one.Name
		if identity["version"] == "" {
			identity["version"] = one.Version
		}
		if seen[identity.String()] {
			errs = append(errs, fmt.Errorf("%s[%d].name: %q is there twice: give one of them another name, version or extraIdentity", at, i, one.Name))
		}
		seen[identity.String()] = true
	}
	return errs
}
