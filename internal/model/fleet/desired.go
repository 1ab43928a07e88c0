package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// targetPlaceholder stands for the name of a Target in the name of a DataObject.
const targetPlaceholder = "{target}"

// Desired is what a Target is to have.
type Desired struct {
	// Name is that of the Installation.
	Name string
	// Spec is its specification, Labels and Annotations are those of the template.
	Spec        v1alpha1.InstallationSpec
	Labels      map[string]string
	Annotations map[string]string
	// Digest identifies all of that, SpecDigest the specification.
	Digest, SpecDigest string
	// Lacks says why the Target cannot have an Installation; empty if it can.
	Lacks string
}

// Selected returns the Targets that a Fleet selects, by their names. A Target that Landscaper has written
// is the copy of an import or an export, and is never selected.
func Selected(spec *fleetv1alpha1.FleetTargets, targets []*v1alpha1.Target) ([]*v1alpha1.Target, error) {
	matches, err := selectorOf(spec)
	if err != nil {
		return nil, err
	}
	var selected []*v1alpha1.Target
	for _, target := range targets {
		if target.DeletionTimestamp == nil && !written(target) && matches.Matches(labels.Set(target.Labels)) {
			selected = append(selected, target)
		}
	}
	slices.SortFunc(selected, func(a, b *v1alpha1.Target) int { return strings.Compare(a.Name, b.Name) })
	return selected, nil
}

// selectorOf checks again what the schema says: a selector without a condition selects nothing.
func selectorOf(spec *fleetv1alpha1.FleetTargets) (labels.Selector, error) {
	if spec.All {
		return labels.Everything(), nil
	}
	if spec.Selector == nil || len(spec.Selector.MatchLabels)+len(spec.Selector.MatchExpressions) == 0 {
		return nil, fmt.Errorf("spec.targets: a selector without a condition would select every Target: write all: true if that is meant")
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("spec.targets.selector: %w", err)
	}
	return selector, nil
}

// written reports whether Landscaper has written a Target: its scope or its source is a label, or an
// Installation owns it.
func written(target *v1alpha1.Target) bool {
	for _, key := range []string{v1alpha1.DataObjectContextLabel, v1alpha1.DataObjectSourceTypeLabel, v1alpha1.DataObjectSourceLabel} {
		if target.Labels[key] != "" {
			return true
		}
	}
	return slices.ContainsFunc(target.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Installation" && strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/")
	})
}

// For returns what a Target is to have. Exists reports whether there is a DataObject of a name.
func (c Content) For(fleet string, target *v1alpha1.Target, exists func(string) bool) (*Desired, error) {
	made := &Desired{Name: InstallationName(fleet, target.Name), Labels: c.Template.Labels, Annotations: c.Template.Annotations}
	c.Template.Spec.DeepCopyInto(&made.Spec)
	made.give(target, c.Template.TargetImport)
	lacking, err := made.values(c.Values, target, exists)
	if err != nil {
		return nil, err
	}
	version, overridden, err := c.override(made, target)
	if err != nil {
		return nil, err
	}
	if component := made.Spec.ComponentDescriptor; version != "" && component != nil && component.Reference != nil {
		component.Reference.Version = version
	}
	lacking = slices.DeleteFunc(lacking, func(name string) bool { return overridden[name] })
	if len(lacking) > 0 {
		made.Lacks = fmt.Sprintf("Target %s has no value for import %s", target.Name, strings.Join(lacking, ", "))
	}
	if made.SpecDigest, err = SpecDigest(&made.Spec); err != nil {
		return nil, err
	}
	made.Digest, err = digestOf(map[string]any{"spec": made.SpecDigest, "labels": made.Labels, "annotations": made.Annotations})
	return made, err
}

// give makes the Target an import.
func (d *Desired) give(target *v1alpha1.Target, name string) {
	imports := &d.Spec.Imports
	imports.Targets = slices.DeleteFunc(imports.Targets, func(i v1alpha1.TargetImport) bool { return i.Name == name })
	imports.Targets = append(imports.Targets, v1alpha1.TargetImport{Name: name, Target: target.Name})
}

// values gives each import the first value that there is, and returns the imports without one.
func (d *Desired) values(values []fleetv1alpha1.FleetValue, target *v1alpha1.Target, exists func(string) bool) (lacking []string, err error) {
	for i := range values {
		value := &values[i]
		label, labelled := target.Labels[value.Label]
		annotation, annotated := target.Annotations[value.Annotation]
		object := strings.ReplaceAll(value.DataObject, targetPlaceholder, target.Name)
		var literal v1alpha1.AnyJSON
		switch {
		case value.Label != "" && labelled:
			literal, err = textLiteral(label)
		case value.Annotation != "" && annotated:
			literal, err = textLiteral(annotation)
		case object != "" && exists(object):
			d.refer(value.Import, object)
			continue
		case value.Value != nil:
			literal, err = Literal(value.Value.RawMessage)
		default:
			lacking = append(lacking, value.Import)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("value of import %s: %w", value.Import, err)
		}
		d.set(value.Import, literal)
	}
	return lacking, nil
}

// override applies the overrides that select a Target, and returns its version and the imports that they
// give a value to.
func (c Content) override(d *Desired, target *v1alpha1.Target) (version string, given map[string]bool, err error) {
	version, given = c.Version, map[string]bool{}
	for i := range c.Overrides {
		override := &c.Overrides[i]
		selector, err := metav1.LabelSelectorAsSelector(&override.Selector)
		if err != nil {
			return "", nil, fmt.Errorf("spec.overrides %s: %w", override.Name, err)
		}
		if !selector.Matches(labels.Set(target.Labels)) {
			continue
		}
		if override.Version != "" {
			version = override.Version
		}
		for _, name := range slices.Sorted(maps.Keys(override.Values)) {
			value, err := Literal(override.Values[name].RawMessage)
			if err != nil {
				return "", nil, fmt.Errorf("spec.overrides %s: value of import %s: %w", override.Name, name, err)
			}
			given[name] = true
			d.set(name, value)
		}
	}
	return version, given, nil
}

// set makes a value an import of the blueprint. A mapping goes before an import of the same name.
func (d *Desired) set(name string, value v1alpha1.AnyJSON) {
	if d.Spec.ImportDataMappings == nil {
		d.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{}
	}
	d.Spec.ImportDataMappings[name] = value
}

// refer makes a DataObject an import.
func (d *Desired) refer(name, object string) {
	delete(d.Spec.ImportDataMappings, name)
	imports := &d.Spec.Imports
	imports.Data = slices.DeleteFunc(imports.Data, func(i v1alpha1.DataImport) bool { return i.Name == name })
	imports.Data = append(imports.Data, v1alpha1.DataImport{Name: name, DataRef: object})
}
