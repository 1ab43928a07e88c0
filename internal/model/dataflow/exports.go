package dataflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// Exports are the objects that an Installation publishes.
type Exports struct {
	DataObjects []*v1alpha1.DataObject
	Targets     []*v1alpha1.Target
	// Secrets hold the values of those DataObjects that refer to them.
	Secrets []*corev1.Secret
}

// MergeExports adds the result of an export execution to those of earlier ones.
// Maps are merged at any depth; everything else is replaced.
//
// Execution after execution, in the order of the blueprint: so a later one adds to what an
// earlier one has made of the same export, and lists are never joined.
func MergeExports(into, result map[string]any) {
	for key, value := range result {
		added, isMap := value.(map[string]any)
		existing, wasMap := into[key].(map[string]any)
		if isMap && wasMap {
			MergeExports(existing, added)
			continue
		}
		// A later merge must not reach into the result.
		into[key] = jsonvalue.Clone(value)
	}
}

// CheckExports compares the results of export executions with the declarations of the blueprint,
// and returns the declared exports. An export that is not declared, or declared and not given, is a
// warning. The error joins one *Error for each export that is wrong.
func CheckExports(ctx context.Context, installation string, definitions v1alpha1.ExportDefinitionList, rendered map[string]any, compile Compile) (map[string]any, []string, error) {
	checked := map[string]any{}
	declared := make([]string, 0, len(definitions))
	var warnings []string
	var errs []error
	for i := range definitions {
		definition := &definitions[i]
		declared = append(declared, definition.Name)
		value, given := rendered[definition.Name]
		if !given {
			warnings = append(warnings, fmt.Sprintf("the blueprint declares export %q, but no export execution gives it", definition.Name))
			continue
		}
		checked[definition.Name] = value
		if err := checkExport(ctx, definition, value, compile); err != nil {
			err.Path = exportPath(installation, "internalExports", definition.Name)
			errs = append(errs, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if !slices.Contains(declared, name) {
			warnings = append(warnings, fmt.Sprintf("export %q is dropped: the blueprint does not declare it%s", name, suggest.DidYouMean(name, declared)))
		}
	}
	return checked, warnings, errors.Join(errs...)
}

func exportPath(installation string, segments ...string) string {
	return fmt.Sprintf("(inst: %s).%s", installation, strings.Join(segments, "."))
}

// checkExport returns an error without a path.
func checkExport(ctx context.Context, definition *v1alpha1.ExportDefinition, value any, compile Compile) *Error {
	wrong := func(problem string, cause error) *Error {
		return &Error{Reason: SchemaValidationFailed, Problem: problem, Cause: cause}
	}
	switch definition.Type {
	case v1alpha1.ExportTypeData:
		validator, failed := compiled(ctx, compile, definition.Schema)
		if failed != nil {
			return wrong(failed.problem(fmt.Sprintf("schema for data export %q must not be empty", definition.Name)), failed.cause)
		}
		if err := validator.Validate(value); err != nil {
			return wrong("exported data does not satisfy the configured schema", err)
		}
	case v1alpha1.ExportTypeTarget:
		template, err := valueobject.DecodeTargetTemplate(value)
		if err != nil {
			return wrong("exported target does not match the expected target template schema", err)
		}
		if string(template.Type) != definition.TargetType {
			return wrong(fmt.Sprintf("exported target type is %s but expected %s", template.Type, definition.TargetType), nil)
		}
	default:
		return wrong(fmt.Sprintf("unknown export type '%s'", definition.Type), nil)
	}
	return nil
}

// MakeExports returns the objects for what an Installation publishes. The error
// joins one *Error for each export that cannot be published.
//
// All errors are collected before anything is returned: one that cannot be published keeps
// all others from being written.
func MakeExports(inst *v1alpha1.Installation, values map[string]any) (Exports, error) {
	m := &publisher{inst: inst, scope: Scope(inst), values: values}
	for _, export := range inst.Spec.Exports.Data {
		m.data(export)
	}
	for _, export := range inst.Spec.Exports.Targets {
		m.target(export)
	}
	if len(m.errs) > 0 {
		return Exports{}, errors.Join(m.errs...)
	}
	return m.made, nil
}

type publisher struct {
	inst   *v1alpha1.Installation
	scope  string
	values map[string]any
	made   Exports
	errs   []error
}

func (m *publisher) fail(kind, name string, reason Reason, problem string, cause error) {
	m.errs = append(m.errs, &Error{Path: exportPath(m.inst.Name, "exports", kind, name), Reason: reason, Problem: problem, Cause: cause})
}

// placeOf returns where an export has its object. Two exports cannot have the same object. A #
// makes the name that of the object itself, in any scope; no label can hold it.
func (m *publisher) placeOf(kind, name, written string, taken func(object string) bool) (valueobject.Place, bool) {
	key := strings.TrimPrefix(written, v1alpha1.NonContextifiedPrefix)
	p := valueobject.Place{Scope: m.scope, Key: key, Name: v1alpha1.GenerateDataObjectName(m.scope, written), SourceType: v1alpha1.ExportDataObjectSourceType}
	switch {
	case len(utilvalidation.IsValidLabelValue(key)) > 0 || key == "":
		m.fail(kind, name, InvalidExport, fmt.Sprintf("the name %q becomes a label and cannot: use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends", written), nil)
	case len(utilvalidation.IsDNS1123Subdomain(p.Name)) > 0:
		m.fail(kind, name, InvalidExport, fmt.Sprintf("the name %q becomes that of an object and cannot: behind the # use small letters, digits, - and ., with a letter or digit at both ends", written), nil)
	case taken(p.Name):
		m.fail(kind, name, InvalidExport, fmt.Sprintf("another export has the name %q, too: choose another one", written), nil)
	default:
		return p, true
	}
	return p, false
}

func (m *publisher) data(export v1alpha1.DataExport) {
	const kind = "data"
	value, ok := m.values[export.Name]
	if !ok {
		m.undefined(kind, export.Name)
		return
	}
	place, ok := m.placeOf(kind, export.Name, export.DataRef, func(object string) bool {
		return slices.ContainsFunc(m.made.DataObjects, func(other *v1alpha1.DataObject) bool { return other.Name == object })
	})
	if !ok {
		return
	}
	if value == nil {
		m.fail(kind, export.Name, InvalidExport, "the value is null, which a DataObject cannot hold: give an empty text, list or map, or do not list the export in spec.exports", nil)
		return
	}
	raw, err := anyJSON(value)
	if err == nil {
		var object *v1alpha1.DataObject
		if object, err = valueobject.DataObject(m.inst, place, raw); err == nil {
			m.made.DataObjects = append(m.made.DataObjects, object)
			return
		}
	}
	m.fail(kind, export.Name, InvalidExport, "the DataObject cannot be made", err)
}

func (m *publisher) target(export v1alpha1.TargetExport) {
	const kind = "targets"
	value, ok := m.values[export.Name]
	if !ok {
		m.undefined(kind, export.Name)
		return
	}
	place, ok := m.placeOf(kind, export.Name, export.Target, func(object string) bool {
		return slices.ContainsFunc(m.made.Targets, func(other *v1alpha1.Target) bool { return other.Name == object })
	})
	if !ok {
		return
	}
	template, err := valueobject.DecodeTargetTemplate(value)
	if err != nil {
		m.fail(kind, export.Name, InvalidExport, "exported target does not match the expected target template schema", err)
		return
	}
	target, err := valueobject.TargetObject(m.inst, place, template)
	if err != nil {
		m.fail(kind, export.Name, InvalidExport, "the Target cannot be made", err)
		return
	}
	m.made.Targets = append(m.made.Targets, target)
}

func (m *publisher) undefined(kind, name string) {
	problem := "data export is not defined"
	if kind == "targets" {
		problem = "target export is not defined"
	}
	m.fail(kind, name, ExportNotDefined, problem+": let an export execution of the blueprint give it or add it to spec.exportDataMappings"+
		suggest.DidYouMean(name, slices.Sorted(maps.Keys(m.values))), nil)
}

// CheckOwner refuses to replace an object by an export if another Installation
// owns it.
//
// The UID counts, and not the name: an Installation that was deleted and made again finds
// objects of its predecessor, which the garbage collection is about to take away.
func CheckOwner(inst *v1alpha1.Installation, export string, existing metav1.Object) error {
	kind := "target object"
	if _, ok := existing.(*v1alpha1.DataObject); ok {
		kind = "dataobject"
	}
	for _, owner := range existing.GetOwnerReferences() {
		if owner.Kind == "Installation" && owner.UID != inst.UID {
			return fmt.Errorf("%s '%s/%s' for export '%s' conflicts with existing %s owned by another installation: %s: choose another name in spec.exports",
				kind, existing.GetNamespace(), existing.GetName(), export, strings.TrimSuffix(kind, " object"), owner.Name)
		}
	}
	return nil
}
