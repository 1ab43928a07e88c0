package responsibility

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"go.landscaper.dev/api/v1alpha1"
)

// Selector decides whether a Target is served.
type Selector struct {
	targets             []v1alpha1.ObjectReference
	annotations, labels labels.Selector
}

// New checks selectors once, so that they cannot fail later.
func New(specs []v1alpha1.TargetSelector) ([]Selector, error) {
	selectors := make([]Selector, 0, len(specs))
	for i, spec := range specs {
		annotations, err := requirements(spec.Annotations)
		if err != nil {
			return nil, fmt.Errorf("targetSelector[%d].annotations: %w", i, err)
		}
		labels, err := requirements(spec.Labels)
		if err != nil {
			return nil, fmt.Errorf("targetSelector[%d].labels: %w", i, err)
		}
		selectors = append(selectors, Selector{targets: spec.Targets, annotations: annotations, labels: labels})
	}
	return selectors, nil
}

func requirements(specs []v1alpha1.Requirement) (labels.Selector, error) {
	all := labels.NewSelector()
	for i, spec := range specs {
		requirement, err := labels.NewRequirement(spec.Key, selection.Operator(cmp.Or(spec.Operator, spec.Operation)), spec.Values)
		if err != nil {
			return nil, fmt.Errorf("requirement %d: %w", i, err)
		}
		all = all.Add(*requirement)
	}
	return all, nil
}

// Of reports whether one of the selectors matches a Target. An item without a Target, or whose
// Target is missing, belongs to all processes.
func Of(selectors []Selector, target *v1alpha1.Target) bool {
	if len(selectors) == 0 || target == nil {
		return true
	}
	return slices.ContainsFunc(selectors, func(s Selector) bool { return s.matches(target) })
}

func (s Selector) matches(target *v1alpha1.Target) bool {
	named := len(s.targets) == 0 || slices.ContainsFunc(s.targets, func(ref v1alpha1.ObjectReference) bool {
		return ref.Name == target.Name && (ref.Namespace == "" || ref.Namespace == target.Namespace)
	})
	return named && s.annotations.Matches(labels.Set(target.Annotations)) && s.labels.Matches(labels.Set(target.Labels))
}
