package validation

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

var targetMapKey = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// SourceNamespaces are the administrator's permissions: which namespaces may
// import Secrets and ConfigMaps from a source namespace.
type SourceNamespaces map[string][]string

// Allows reports whether Installations of a namespace may import from a source.
func (s SourceNamespaces) Allows(source, namespace string) bool {
	if source == "" || source == namespace {
		return true
	}
	for _, allowed := range s[source] {
		if allowed == namespace {
			return true
		}
	}
	return false
}

// Installation checks an Installation.
func Installation(inst *v1alpha1.Installation, sources SourceNamespaces) field.ErrorList {
	errs := installationName(inst)
	errs = append(errs, installationSpec(&inst.Spec, inst.Namespace, sources)...)
	// The published controller stores an empty one in subinstallations, see IsEmpty.
	component := inst.Spec.ComponentDescriptor
	storedEmpty := component.IsEmpty() && dataflow.Scope(inst) != ""
	if component != nil && !storedEmpty {
		errs = append(errs, exactlyOne(field.NewPath("spec", "componentDescriptor"),
			choice{"ref", component.Reference != nil}, choice{"inline", component.Inline != nil})...)
	}
	return errs
}

func installationName(inst *v1alpha1.Installation) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("metadata", "name")
	if len(inst.Name) > v1alpha1.InstallationNameMaxLength {
		errs = append(errs, field.TooLong(path, inst.Name, v1alpha1.InstallationNameMaxLength))
	}
	if strings.Contains(inst.Name, ".") {
		errs = append(errs, field.Invalid(path, inst.Name, "must not contain a dot: use lower-case letters, digits and -"))
	}
	return errs
}

func installationSpec(spec *v1alpha1.InstallationSpec, namespace string, sources SourceNamespaces) field.ErrorList {
	path := field.NewPath("spec")
	errs := rootImports(&spec.Imports, namespace, sources, path.Child("imports"))
	errs = append(errs, exports(&spec.Exports, path.Child("exports"))...)
	errs = append(errs, exactlyOne(path.Child("blueprint"),
		choice{"ref", spec.Blueprint.Reference != nil}, choice{"inline", spec.Blueprint.Inline != nil})...)
	if automatic := spec.AutomaticReconcile; automatic != nil {
		path := path.Child("automaticReconcile")
		if after := automatic.SucceededReconcile; after != nil {
			errs = append(errs, schedule(after.CronSpec, after.Interval, path.Child("succeededReconcile"))...)
		}
		if after := automatic.FailedReconcile; after != nil {
			errs = append(errs, schedule(after.CronSpec, after.Interval, path.Child("failedReconcile"))...)
		}
	}
	return errs
}

func rootImports(imports *v1alpha1.InstallationImports, namespace string, sources SourceNamespaces, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i := range imports.Data {
		item, path := &imports.Data[i], path.Child("data").Index(i)
		errs = append(errs, exactlyOne(path, choice{"dataRef", item.DataRef != ""},
			choice{"secretRef", item.SecretRef != nil}, choice{"configMapRef", item.ConfigMapRef != nil})...)
		if ref := item.SecretRef; ref != nil {
			errs = append(errs, importReference(ref.Name, ref.Namespace, namespace, sources, path.Child("secretRef"))...)
		}
		if ref := item.ConfigMapRef; ref != nil {
			errs = append(errs, importReference(ref.Name, ref.Namespace, namespace, sources, path.Child("configMapRef"))...)
		}
		errs = append(errs, seen.add(item.Name, path.Child("name"))...)
	}
	return append(errs, targetImports(imports.Targets, seen, path.Child("targets"))...)
}

func importReference(name, source, namespace string, sources SourceNamespaces, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		errs = append(errs, field.Required(path.Child("name"), "give the name of an object of this namespace"))
	}
	if !sources.Allows(source, namespace) {
		errs = append(errs, field.Invalid(path.Child("namespace"), source,
			"the administrator has not allowed imports from this namespace: copy the object or ask for permission"))
	}
	return errs
}

func targetImports(imports []v1alpha1.TargetImport, seen names, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range imports {
		item, path := &imports[i], path.Index(i)
		errs = append(errs, seen.add(item.Name, path.Child("name"))...)
		errs = append(errs, exactlyOne(path, choice{"target", item.Target != ""}, choice{"targets", item.Targets != nil},
			choice{"targetListRef", item.TargetListReference != ""}, choice{"targetMap", item.TargetMap != nil},
			choice{"targetMapRef", item.TargetMapReference != ""})...)
		for j, name := range item.Targets {
			if name == "" {
				errs = append(errs, field.Required(path.Child("targets").Index(j), "give the name of a Target"))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(item.TargetMap)) {
			path := path.Child("targetMap").Key(key)
			if !targetMapKey.MatchString(key) {
				errs = append(errs, field.Invalid(path, key, "use at most 63 lower-case letters, digits, - and ."))
			}
			if item.TargetMap[key] == "" {
				errs = append(errs, field.Required(path, "give the name of a Target"))
			}
		}
	}
	return errs
}

func exports(exports *v1alpha1.InstallationExports, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	data, targets := names{}, names{}
	for i, export := range exports.Data {
		path := path.Child("data").Index(i)
		if export.DataRef == "" {
			errs = append(errs, field.Required(path.Child("dataRef"), "give the name under which others find the value"))
		}
		errs = append(errs, data.add(export.Name, path.Child("name"))...)
	}
	for i, export := range exports.Targets {
		path := path.Child("targets").Index(i)
		if export.Target == "" {
			errs = append(errs, field.Required(path.Child("target"), "give the name under which others find the Target"))
		}
		errs = append(errs, targets.add(export.Name, path.Child("name"))...)
	}
	return errs
}

func schedule(spec string, interval *v1alpha1.Duration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec != "" {
		if _, err := Schedule(spec); err != nil {
			errs = append(errs, field.Invalid(path.Child("cronSpec"), spec,
				"use five fields such as 0 6 * * 1, or a word such as @hourly: "+err.Error()))
		}
	}
	return append(errs, duration(interval, path.Child("interval"))...)
}

func duration(value *v1alpha1.Duration, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if _, err := value.Parsed(); err != nil {
		return field.ErrorList{field.Invalid(path, value.String(), err.Error())}
	}
	return nil
}
