package dataflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// Values are the values of a blueprint's imports by their names in the blueprint.
//
// Both forms are kept, because they differ: what templates see are plain values, in which
// numbers may have lost digits; copies and hashes are made of the text as it was read.
type Values struct {
	// plain holds all values for templates, also those that import executions added.
	plain map[string]any
	// declared holds the imports that the blueprint declares and that have a value.
	declared map[string]declaredValue
	// types holds all imports that the blueprint declares.
	types map[string]v1alpha1.ImportType
}

// declaredValue is the value of an import in the form in which it is copied. The
// field of its type is set.
type declaredValue struct {
	data v1alpha1.AnyJSON
	// salt is set if data comes from Secrets, see DataImport.Salt.
	salt   string
	target *v1alpha1.Target
	list   []*v1alpha1.Target
	byKey  map[string]*v1alpha1.Target
}

func newValues(definitions v1alpha1.ImportDefinitionList) Values {
	v := Values{plain: map[string]any{}, declared: map[string]declaredValue{}, types: map[string]v1alpha1.ImportType{}}
	v.declare(definitions)
	return v
}

func (v *Values) declare(definitions v1alpha1.ImportDefinitionList) {
	for i := range definitions {
		v.types[definitions[i].Name] = definitions[i].Type
		v.declare(definitions[i].ConditionalImports)
	}
}

// Map returns the values for templates, and those that import executions added.
func (v Values) Map() map[string]any {
	all := make(map[string]any, len(v.plain))
	maps.Copy(all, v.plain)
	return all
}

// Data returns a data import as JSON. Numbers have the digits that they were given.
func (v Values) Data(name string) (v1alpha1.AnyJSON, bool) {
	value, ok := v.declared[name]
	return value.data, ok && v.types[name] == v1alpha1.ImportTypeData
}

// Targets returns the Targets of all declared imports, in no order.
func (v Values) Targets() []*v1alpha1.Target {
	var all []*v1alpha1.Target
	for _, value := range v.declared {
		if value.target != nil {
			all = append(all, value.target)
		}
		all = append(all, value.list...)
		all = slices.AppendSeq(all, maps.Values(value.byKey))
	}
	return all
}

// Satisfied reports whether the blueprint declares an import and it has a value,
// which may be null.
func (v Values) Satisfied(name string) bool {
	_, ok := v.declared[name]
	return ok
}

// Missing returns the imports, at any depth, that the blueprint declares and that
// have no value that a subinstallation could refer to. Null is such a value only
// for the blueprint itself: a DataObject cannot hold it.
func (v Values) Missing(definitions v1alpha1.ImportDefinitionList) map[string]bool {
	missing := map[string]bool{}
	for _, name := range importNames(definitions) {
		if value, ok := v.declared[name]; !ok || v.isNull(name, value) {
			missing[name] = true
		}
	}
	return missing
}

func (v Values) isNull(name string, value declaredValue) bool {
	return v.types[name] == v1alpha1.ImportTypeData && len(value.data.RawMessage) == 0
}

// InForce returns the definitions without the conditional imports of those that
// have no value.
func (v Values) InForce(definitions v1alpha1.ImportDefinitionList) v1alpha1.ImportDefinitionList {
	inForce := slices.Clone(definitions)
	for i := range inForce {
		if v.Satisfied(inForce[i].Name) {
			inForce[i].ConditionalImports = v.InForce(inForce[i].ConditionalImports)
		} else {
			inForce[i].ConditionalImports = nil
		}
	}
	return inForce
}

// Bind adds the bindings of an import execution, which may replace imports. Subinstallations get
// the replacement of a declared import, too.
func (v *Values) Bind(bindings map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		value := bindings[name]
		if before, ok := v.plain[name]; ok && reflect.DeepEqual(before, value) {
			continue
		}
		kind, declared := v.types[name]
		if declared {
			replaced, err := declaredFrom(kind, value)
			if err != nil {
				return fmt.Errorf("binding %q replaces an import of type %s: %w", name, kind, err)
			}
			// Values that a template has made of Secrets cannot be told from others.
			replaced.salt = v.salt()
			v.declared[name] = replaced
		}
		v.plain[name] = value
	}
	return nil
}

// salt returns that of all Secrets that declared imports come from.
func (v Values) salt() string {
	var salts []string
	for _, value := range v.declared {
		salts = append(salts, value.salt)
	}
	return joinSalts(salts)
}

func declaredFrom(kind v1alpha1.ImportType, value any) (declaredValue, error) {
	var d declaredValue
	raw, err := json.Marshal(value)
	if err != nil {
		return d, fmt.Errorf("encode as JSON: %w", err)
	}
	var into any
	switch kind {
	case v1alpha1.ImportTypeTarget:
		into = &d.target
	case v1alpha1.ImportTypeTargetList:
		into = &d.list
	case v1alpha1.ImportTypeTargetMap:
		into = &d.byKey
	default:
		into = &d.data
	}
	if json.Unmarshal(raw, into) != nil || !allTyped(kind, d) {
		// The cause is left out: it may quote the value.
		return d, fmt.Errorf("the value has not the form of %s with metadata and spec.type", nounOf(kind))
	}
	return d, nil
}

// allTyped reports whether a value of targets consists of usable ones.
func allTyped(kind v1alpha1.ImportType, d declaredValue) bool {
	typed := func(target *v1alpha1.Target) bool { return target != nil && target.Spec.Type != "" }
	switch kind {
	case v1alpha1.ImportTypeTarget:
		return typed(d.target)
	case v1alpha1.ImportTypeTargetList:
		return !slices.ContainsFunc(d.list, func(target *v1alpha1.Target) bool { return !typed(target) })
	case v1alpha1.ImportTypeTargetMap:
		for _, target := range d.byKey {
			if !typed(target) {
				return false
			}
		}
	}
	return true
}

func nounOf(kind v1alpha1.ImportType) string {
	switch kind {
	case v1alpha1.ImportTypeTarget:
		return "a Target"
	case v1alpha1.ImportTypeTargetList:
		return "a list of Targets"
	case v1alpha1.ImportTypeTargetMap:
		return "a map of Targets"
	}
	return "data"
}

// importNames returns the names of all imports, also of conditional ones, sorted.
func importNames(definitions v1alpha1.ImportDefinitionList) []string {
	var names []string
	for i := range definitions {
		names = append(names, definitions[i].Name)
		names = append(names, importNames(definitions[i].ConditionalImports)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
