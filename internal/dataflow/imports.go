package dataflow

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// Imports are the values that an Installation imports, by logical name.
type Imports struct {
	// Targets are the single Targets.
	Targets map[string]*v1alpha1.Target
}

// TargetNames returns the objects that the target imports of an Installation
// refer to, by logical name. The scope is that of the Installation's parent, empty
// for a root.
func TargetNames(spec *v1alpha1.InstallationSpec, scope string) map[string]string {
	names := make(map[string]string, len(spec.Imports.Targets))
	for _, item := range spec.Imports.Targets {
		if item.Target != "" {
			names[item.Name] = v1alpha1.GenerateDataObjectName(scope, item.Target)
		}
	}
	return names
}

// CheckTargets compares the imports of a blueprint with what an Installation
// imports: each required one must be there and of the right type.
func CheckTargets(definitions v1alpha1.ImportDefinitionList, imports Imports) error {
	for i := range definitions {
		definition := &definitions[i]
		target, given := imports.Targets[definition.Name]
		if !given {
			if definition.Required != nil && *definition.Required {
				return fmt.Errorf("blueprint import %q of type %s is required, but spec.imports of the Installation has no entry of this name", definition.Name, definition.Type)
			}
			continue
		}
		if definition.Type != v1alpha1.ImportTypeTarget {
			return fmt.Errorf("blueprint import %q is of type %s, but the Installation imports a single Target under this name", definition.Name, definition.Type)
		}
		if string(target.Spec.Type) != definition.TargetType {
			return fmt.Errorf("blueprint import %q asks for a Target of type %s, but Target %s is of type %s", definition.Name, definition.TargetType, target.Name, target.Spec.Type)
		}
		if err := CheckTargets(definition.ConditionalImports, imports); err != nil {
			return err
		}
	}
	return nil
}

// TargetCopies returns the copies of imported Targets that live in the scope of
// an Installation, where its children and tools find them.
func TargetCopies(inst *v1alpha1.Installation, definitions v1alpha1.ImportDefinitionList, imports Imports) []*v1alpha1.Target {
	var copies []*v1alpha1.Target
	for _, name := range importNames(definitions) {
		if source, ok := imports.Targets[name]; ok {
			copies = append(copies, targetCopy(inst, name, source))
		}
	}
	return copies
}

// importNames returns the names of all imports, also of conditional ones.
func importNames(definitions v1alpha1.ImportDefinitionList) []string {
	var names []string
	for i := range definitions {
		names = append(names, definitions[i].Name)
		names = append(names, importNames(definitions[i].ConditionalImports)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func targetCopy(inst *v1alpha1.Installation, key string, source *v1alpha1.Target) *v1alpha1.Target {
	scope := v1alpha1.InstallationScope(inst.Name)
	target := &v1alpha1.Target{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Target"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        v1alpha1.GenerateDataObjectName(scope, key),
			Namespace:   inst.Namespace,
			Labels:      maps.Clone(source.Labels),
			Annotations: maps.Clone(source.Annotations),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: inst.Name, UID: inst.UID,
			}},
		},
		Spec: *source.Spec.DeepCopy(),
	}
	if target.Labels == nil {
		target.Labels = map[string]string{}
	}
	if target.Annotations == nil {
		target.Annotations = map[string]string{}
	}
	// What kubectl and others note about the source is wrong for the copy.
	delete(target.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	maps.Copy(target.Labels, map[string]string{
		v1alpha1.DataObjectContextLabel:    scope,
		v1alpha1.DataObjectKeyLabel:        key,
		v1alpha1.DataObjectSourceLabel:     scope,
		v1alpha1.DataObjectSourceTypeLabel: string(v1alpha1.ImportDataObjectSourceType),
		v1alpha1.DataObjectJobIDLabel:      inst.Status.JobID,
	})
	target.Annotations[v1alpha1.DataObjectHashAnnotation] = TargetHash(&target.Spec)
	return target
}
