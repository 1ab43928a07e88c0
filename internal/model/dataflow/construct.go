package dataflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/suggest"
)

// Validator checks plain values against a schema. Its errors must not quote them.
type Validator interface{ Validate(value any) error }

// Compile makes the validator of a schema.
type Compile func(ctx context.Context, definition v1alpha1.JSONSchemaDefinition) (Validator, error)

// Construct returns the values of a blueprint's imports from what an Installation
// imports and from the results of its import data mappings. The error joins one
// *Error for each import that is wrong; the path is put before their names.
func Construct(ctx context.Context, path string, definitions v1alpha1.ImportDefinitionList, imports Imports, mapped Mapped, compile Compile) (Values, error) {
	c := &construction{imports: imports, mapped: mapped, compile: compile, values: newValues(definitions), shared: newShared()}
	c.all(ctx, definitions, path)
	if len(c.errs) > 0 {
		return Values{}, errors.Join(c.errs...)
	}
	return c.values, nil
}

type construction struct {
	imports Imports
	mapped  Mapped
	compile Compile
	values  Values
	shared  *shared
	errs    []error
}

// all adds the values of imports, and of the conditional ones of those that are
// given. A wrong value is given, too, so that all errors are found at once.
func (c *construction) all(ctx context.Context, definitions v1alpha1.ImportDefinitionList, path string) {
	for i := range definitions {
		definition := &definitions[i]
		path := path + "." + definition.Name
		if c.add(ctx, definition, path) {
			c.all(ctx, definition.ConditionalImports, path)
		}
	}
}

// add adds the value of one import. It reports whether the import is given.
func (c *construction) add(ctx context.Context, definition *v1alpha1.ImportDefinition, path string) bool {
	switch definition.Type {
	case v1alpha1.ImportTypeData:
		return c.data(ctx, definition, path)
	case v1alpha1.ImportTypeTarget:
		return c.target(definition, path)
	case v1alpha1.ImportTypeTargetList:
		return c.targetList(definition, path)
	case v1alpha1.ImportTypeTargetMap:
		return c.targetMap(definition, path)
	}
	c.fail(path, SchemaValidationFailed, fmt.Sprintf("unknown import type '%s'", definition.Type), nil)
	return false
}

func (c *construction) fail(path string, reason Reason, problem string, cause error) {
	c.errs = append(c.errs, &Error{Path: path, Reason: reason, Problem: problem, Cause: cause})
}

func (c *construction) data(ctx context.Context, definition *v1alpha1.ImportDefinition, path string) bool {
	value, raw, given := c.dataValue(definition, path)
	if !given {
		return false
	}
	c.values.plain[definition.Name] = value
	c.values.declared[definition.Name] = declaredValue{data: raw, salt: c.salt(definition.Name)}
	validator, failed := compiled(ctx, c.compile, definition.Schema)
	if failed != nil {
		c.fail(path, SchemaValidationFailed, failed.problem("no schema defined"), failed.cause)
	} else if err := validator.Validate(value); err != nil {
		c.errs = append(c.errs, &Error{
			Path: path, Reason: SchemaValidationFailed, Problem: "imported datatype does not have the expected schema", Cause: err,
			Remedy: "correct the value that is imported, or the schema in the blueprint",
		})
	}
	return true
}

// dataValue finds the value of a data import: what a mapping made, what the
// Installation imports under this name, or the default.
func (c *construction) dataValue(definition *v1alpha1.ImportDefinition, path string) (any, v1alpha1.AnyJSON, bool) {
	name := definition.Name
	if value, ok := c.mapped.Values[name]; ok {
		raw, err := anyJSON(value)
		if err != nil {
			c.fail(path, SchemaValidationFailed, "the result of spec.importDataMappings cannot be encoded as JSON", nil)
		}
		return value, raw, err == nil
	}
	if item, ok := c.imports.Data[name]; ok {
		value, err := c.shared.plain(item)
		if err != nil {
			c.fail(path, SchemaValidationFailed, "the imported value cannot be read", err)
		}
		return value, c.shared.normalized(item), err == nil
	}
	// A default does not replace a Target that was given where data is expected: that is reported
	// as an error below.
	if !isRequired(definition) && !c.otherKind(name) && len(definition.Default.Value.RawMessage) > 0 {
		item := DataImport{Value: definition.Default.Value}
		value, err := item.plain()
		if err != nil {
			c.fail(path, InvalidDefaultValue, fmt.Sprintf("default value defined for import %q of type data cannot be unmarshalled", name), err)
		}
		return value, normalized(item.Value), err == nil
	}
	c.missing(definition, path)
	return nil, v1alpha1.AnyJSON{}, false
}

// salt returns that of the Secrets that a data import comes from.
func (c *construction) salt(name string) string {
	if _, ok := c.mapped.Values[name]; ok {
		return c.mapped.salts[name]
	}
	return c.imports.Data[name].Salt
}

func (c *construction) target(definition *v1alpha1.ImportDefinition, path string) bool {
	target, ok := c.imports.Targets[definition.Name]
	if !ok {
		c.missing(definition, path)
		return false
	}
	if target == nil || target.Spec.Type == "" {
		c.fail(path, SchemaValidationFailed, "imported target does not match the expected target template schema", nil)
		return true
	}
	if string(target.Spec.Type) != definition.TargetType {
		c.fail(path, SchemaValidationFailed, fmt.Sprintf("imported target type is %s but expected %s: import a Target of that type, or correct Target %s", target.Spec.Type, definition.TargetType, target.Name), nil)
		return true
	}
	value, err := c.shared.target(target)
	c.keep(definition, path, declaredValue{target: target}, value, err)
	return true
}

func (c *construction) targetList(definition *v1alpha1.ImportDefinition, path string) bool {
	list, ok := c.imports.TargetLists[definition.Name]
	if !ok {
		c.missing(definition, path)
		return false
	}
	fine := true
	for i, target := range list {
		fine = c.element(target, definition, path, "targetlist", fmt.Sprint(i)) && fine
	}
	if fine {
		value, err := c.shared.list(list)
		c.keep(definition, path, declaredValue{list: list}, value, err)
	}
	return true
}

func (c *construction) targetMap(definition *v1alpha1.ImportDefinition, path string) bool {
	byKey, ok := c.imports.TargetMaps[definition.Name]
	if !ok {
		c.missing(definition, path)
		return false
	}
	fine := true
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		fine = c.element(byKey[key], definition, path, "targetmap", key) && fine
	}
	if fine {
		value, err := c.shared.byKey(byKey)
		c.keep(definition, path, declaredValue{byKey: byKey}, value, err)
	}
	return true
}

// element checks an element of a list or map.
func (c *construction) element(target *v1alpha1.Target, definition *v1alpha1.ImportDefinition, path, kind, position string) bool {
	if target == nil || target.Spec.Type == "" {
		c.fail(path, SchemaValidationFailed, fmt.Sprintf("imported target does not match the expected target template schema: element at position %s", position), nil)
		return false
	}
	if string(target.Spec.Type) != definition.TargetType {
		c.fail(path, SchemaValidationFailed, fmt.Sprintf("type of the element at position %s of the imported %s is %s but expected %s", position, kind, target.Spec.Type, definition.TargetType), nil)
		return false
	}
	return true
}

func (c *construction) keep(definition *v1alpha1.ImportDefinition, path string, declared declaredValue, value any, err error) {
	if err != nil {
		c.fail(path, SchemaValidationFailed, "imported target does not match the expected target template schema", err)
		return
	}
	c.values.declared[definition.Name] = declared
	c.values.plain[definition.Name] = value
}

// missing reports an import that is required and not given, or that is given as
// something else.
func (c *construction) missing(definition *v1alpha1.ImportDefinition, path string) {
	name := definition.Name
	if given := c.imports.kind(name); given != "" {
		problem := fmt.Sprintf("blueprint defines import %q of type %s, which is not satisfied", name, definition.Type)
		reason := ImportNotFound
		switch definition.Type {
		case v1alpha1.ImportTypeTargetList:
			problem, reason = "targetlist import is not a list", SchemaValidationFailed
		case v1alpha1.ImportTypeTargetMap:
			problem, reason = "targetmap import is not a map", SchemaValidationFailed
		}
		c.fail(path, reason, fmt.Sprintf("%s: the Installation imports %s under this name: %s", problem, nounOf(given), remedy(definition.Type)), nil)
		return
	}
	if isRequired(definition) {
		c.fail(path, ImportNotFound, fmt.Sprintf("blueprint defines import %q of type %s, which is not satisfied: %s%s",
			name, definition.Type, remedy(definition.Type), didYouMeanImport(name, c.imports.names(), c.values.types)), nil)
	}
}

func (c *construction) otherKind(name string) bool { return c.imports.kind(name) != "" }

// remedy says where an import of a type is to be written.
func remedy(kind v1alpha1.ImportType) string {
	switch kind {
	case v1alpha1.ImportTypeTarget:
		return "add an entry of this name with target to spec.imports.targets"
	case v1alpha1.ImportTypeTargetList:
		return "use targets or targetListRef in spec.imports.targets"
	case v1alpha1.ImportTypeTargetMap:
		return "use targetMap or targetMapRef in spec.imports.targets"
	}
	return "add an entry of this name to spec.imports.data or to spec.importDataMappings"
}

// didYouMeanImport proposes an entry of the Installation that no import of the
// blueprint takes.
func didYouMeanImport(name string, given []string, declared map[string]v1alpha1.ImportType) string {
	free := slices.DeleteFunc(given, func(other string) bool { _, taken := declared[other]; return taken })
	return suggest.DidYouMean(name, free)
}

func isRequired(definition *v1alpha1.ImportDefinition) bool {
	return definition.Required == nil || *definition.Required
}

// kind returns the type of the import of a name, or nothing.
func (i Imports) kind(name string) v1alpha1.ImportType {
	if _, ok := i.Data[name]; ok {
		return v1alpha1.ImportTypeData
	}
	if _, ok := i.Targets[name]; ok {
		return v1alpha1.ImportTypeTarget
	}
	if _, ok := i.TargetLists[name]; ok {
		return v1alpha1.ImportTypeTargetList
	}
	if _, ok := i.TargetMaps[name]; ok {
		return v1alpha1.ImportTypeTargetMap
	}
	return ""
}

// names returns all logical names, sorted.
func (i Imports) names() []string {
	names := slices.Collect(maps.Keys(i.Data))
	names = slices.AppendSeq(names, maps.Keys(i.Targets))
	names = slices.AppendSeq(names, maps.Keys(i.TargetLists))
	names = slices.AppendSeq(names, maps.Keys(i.TargetMaps))
	slices.Sort(names)
	return names
}

// uncompiled says why there is no validator; without a cause there is no schema.
type uncompiled struct{ cause error }

func (u *uncompiled) problem(noSchema string) string {
	if u.cause == nil {
		return noSchema
	}
	return "validator creation failed"
}

func compiled(ctx context.Context, compile Compile, definition *v1alpha1.JSONSchemaDefinition) (Validator, *uncompiled) {
	if definition == nil || len(definition.RawMessage) == 0 {
		return nil, &uncompiled{}
	}
	validator, err := compile(ctx, *definition)
	if err != nil {
		return nil, &uncompiled{cause: err}
	}
	return validator, nil
}

// anyJSON encodes a plain value; null becomes empty.
func anyJSON(value any) (v1alpha1.AnyJSON, error) {
	if value == nil {
		return v1alpha1.AnyJSON{}, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return v1alpha1.AnyJSON{}, fmt.Errorf("encode as JSON: %w", err)
	}
	return v1alpha1.NewAnyJSON(raw), nil
}

// normalized makes null, in whatever form it was read, empty.
func normalized(value v1alpha1.AnyJSON) v1alpha1.AnyJSON {
	var clean v1alpha1.AnyJSON
	if len(value.RawMessage) == 0 || clean.UnmarshalJSON(value.RawMessage) != nil {
		return v1alpha1.AnyJSON{}
	}
	return clean
}
