package validation

import (
	"maps"
	"slices"
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/graph"
)

// Execution checks an Execution, in either form of its items.
func Execution(exec *v1alpha1.Execution) field.ErrorList {
	items, err := exec.Spec.Items()
	if err != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "deployItemsCompressed"), err.Error())}
	}
	return DeployItemTemplates(items, field.NewPath("spec", "deployItems"))
}

// DeployItemTemplates checks the deploy items of an Execution, or those that a
// blueprint rendered.
func DeployItemTemplates(items v1alpha1.DeployItemTemplateList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	unique := true
	for i := range items {
		item, path := &items[i], path.Index(i)
		nameErrs := seen.add(item.Name, path.Child("name"))
		unique = unique && len(nameErrs) == 0
		errs = append(errs, nameErrs...)
		if item.Type == "" {
			errs = append(errs, field.Required(path.Child("type"), "give the type of a deployer"))
		}
		errs = append(errs, target(item.Target, path.Child("target"))...)
		errs = append(errs, labels(item.Labels, path.Child("labels"))...)
		errs = append(errs, duration(item.Timeout, path.Child("timeout"))...)
	}
	if !unique {
		return errs
	}
	return append(errs, dependencies(items, path)...)
}

// labels checks one after the other: the library takes them as the map gives them, and a
// message that changes with every attempt would be written with every attempt.
func labels(given map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(given)) {
		errs = append(errs, metav1validation.ValidateLabels(map[string]string{key: given[key]}, path)...)
	}
	return errs
}

func target(ref *v1alpha1.ObjectReference, path *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	var errs field.ErrorList
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "give the name of a Target"))
	}
	if ref.Namespace == "" {
		errs = append(errs, field.Required(path.Child("namespace"), "give the namespace of the item"))
	}
	return errs
}

func dependencies(items v1alpha1.DeployItemTemplateList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	number := make(map[string]int, len(items))
	for i := range items {
		number[items[i].Name] = i
	}
	waits := make(graph.Graph, len(items))
	for i, item := range items {
		for j, name := range item.DependsOn {
			if other, ok := number[name]; ok {
				waits[i] = append(waits[i], other)
			} else {
				errs = append(errs, field.Invalid(path.Index(i).Child("dependsOn").Index(j), name, "there is no item of this name: correct it, or add the item"))
			}
		}
	}
	for _, cycle := range waits.Cycles() {
		names := make([]string, len(cycle.Path))
		for i, node := range cycle.Path {
			names[i] = items[node].Name
		}
		errs = append(errs, field.Invalid(path, strings.Join(names, " -> "), "the items wait for each other in a cycle: remove one of them from the dependsOn of another"))
	}
	return errs
}

// DeployItem checks a DeployItem. Old is its stored form, or nil.
func DeployItem(item, old *v1alpha1.DeployItem) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if item.Spec.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "give the type of a deployer"))
	}
	if old != nil && old.Spec.Type != item.Spec.Type {
		errs = append(errs, field.Forbidden(path.Child("type"), "the type cannot be changed: delete the item and create another one"))
	}
	errs = append(errs, target(item.Spec.Target, path.Child("target"))...)
	return append(errs, duration(item.Spec.Timeout, path.Child("timeout"))...)
}

// Target checks a Target.
func Target(target *v1alpha1.Target) field.ErrorList {
	if target.Spec.Configuration != nil && target.Spec.SecretRef != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec"), "config and secretRef are given together: give one of them")}
	}
	return nil
}
