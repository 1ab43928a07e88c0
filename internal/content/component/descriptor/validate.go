package descriptor

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/Masterminds/semver/v3"
)

const maxNameLength = 255

var (
	// Component names of today's schema, and of the one before; either will do.
	componentName       = regexp.MustCompile(`^[a-z][-a-z0-9]*(\.[a-z][-a-z0-9]*)*\.[a-z]{2,}(/[a-z][-a-z0-9_]*(\.[a-z][-a-z0-9_]*)*)+$`)
	legacyComponentName = regexp.MustCompile(`^[a-z0-9.\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$`)
	labelVersion        = regexp.MustCompile(`^v[0-9]+$`)
)

// CheckName checks the name of a component.
func CheckName(name string) error {
	if len(name) > maxNameLength {
		return fmt.Errorf("the component name %.40q… has %d characters, at most %d are allowed", name, len(name), maxNameLength)
	}
	if !componentName.MatchString(name) && !legacyComponentName.MatchString(name) {
		return fmt.Errorf("the component name %q is not valid: use a lower-case domain and a path, such as example.org/shop", name)
	}
	return nil
}

// CheckVersion checks the version of a component, which becomes a tag.
func CheckVersion(version string) error {
	if _, err := semver.NewVersion(version); err != nil {
		return fmt.Errorf("the component version %q is not a semantic version such as 1.2.3 or v1.2.3: %w", version, err)
	}
	return nil
}

// Validate checks what the schemas demand. It is no stricter than needed to read
// a descriptor: versions are checked when they have to become tags.
func (d *Descriptor) Validate() error {
	var errs []error
	if d.Name == "" {
		errs = append(errs, errors.New("the name of the component is missing"))
	} else if err := CheckName(d.Name); err != nil {
		errs = append(errs, err)
	}
	if d.Version == "" {
		errs = append(errs, errors.New("the version of the component is missing"))
	}
	if d.CreationTime != "" {
		if _, err := time.Parse(time.RFC3339, d.CreationTime); err != nil {
			errs = append(errs, fmt.Errorf("creationTime: %w", err))
		}
	}
	errs = append(errs, checkLabels("labels", d.Labels))
	for i, context := range d.RepositoryContexts {
		errs = append(errs, checkTyped(fmt.Sprintf("repositoryContexts[%d]", i), context))
	}
	errs = append(errs, d.checkElements()...)
	return errors.Join(errs...)
}

func (d *Descriptor) checkElements() []error {
	var errs []error
	for i, resource := range d.Resources {
		at := fmt.Sprintf("resources[%d]", i)
		errs = append(errs, checkElement(at, resource.Element), required(at+".type", resource.Type), checkTyped(at+".access", resource.Access))
		switch resource.Relation {
		case "", RelationLocal, RelationExternal:
		default:
			errs = append(errs, fmt.Errorf("%s.relation is %q: use %s or %s", at, resource.Relation, RelationLocal, RelationExternal))
		}
	}
	for i, source := range d.Sources {
		at := fmt.Sprintf("sources[%d]", i)
		errs = append(errs, checkElement(at, source.Element), required(at+".type", source.Type), checkTyped(at+".access", source.Access))
	}
	for i, reference := range d.References {
		at := fmt.Sprintf("references[%d]", i)
		errs = append(errs, checkElement(at, reference.Element),
			required(at+".componentName", reference.ComponentName), required(at+".version", reference.Version))
	}
	for i, signature := range d.Signatures {
		errs = append(errs, required(fmt.Sprintf("signatures[%d].name", i), signature.Name))
	}
	return errs
}

func checkElement(at string, element Element) error {
	return errors.Join(required(at+".name", element.Name), checkLabels(at+".labels", element.Labels))
}

func checkLabels(at string, labels []Label) error {
	seen := map[string]bool{}
	for i, label := range labels {
		if label.Name == "" {
			return fmt.Errorf("%s[%d].name is missing", at, i)
		}
		if seen[label.Name] {
			return fmt.Errorf("%s has %q twice", at, label.Name)
		}
		seen[label.Name] = true
		if label.Version != "" && !labelVersion.MatchString(label.Version) {
			return fmt.Errorf("%s[%d].version is %q: use v and a number", at, i, label.Version)
		}
	}
	return nil
}

func checkTyped(at string, typed Typed) error {
	if typed.IsZero() {
		return fmt.Errorf("%s is missing", at)
	}
	if typed.Type() == "" {
		return fmt.Errorf("%s.type is missing", at)
	}
	return nil
}

func required(at, value string) error {
	if value == "" {
		return fmt.Errorf("%s is missing", at)
	}
	return nil
}
