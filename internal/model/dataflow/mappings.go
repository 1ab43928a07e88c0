package dataflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/suggest"
)

// Evaluate computes a data mapping: a document with expressions, which see the
// bindings. The name is for messages; errors must not quote values.
type Evaluate func(ctx context.Context, name string, document v1alpha1.AnyJSON, bindings map[string]any) (any, error)

const (
	importsBinding = "imports"
	exportsBinding = "exports"
)

// ImportBindings returns what import mappings see: all imports of the Installation
// by their logical names, and all of them as imports, if none has this name.
func ImportBindings(imports Imports) (map[string]any, error) {
	bindings := map[string]any{}
	shared := newShared()
	for _, name := range imports.names() {
		value, err := imports.value(name, shared)
		if err != nil {
			what := "target data"
			if imports.kind(name) == v1alpha1.ImportTypeData {
				what = "data"
			}
			return nil, fmt.Errorf("unable to get %s for import %s: %w", what, name, err)
		}
		bindings[name] = value
	}
	if _, taken := bindings[importsBinding]; !taken {
		bindings[importsBinding] = maps.Clone(bindings)
	}
	return bindings, nil
}

func (i Imports) value(name string, shared *shared) (any, error) {
	switch i.kind(name) {
	case v1alpha1.ImportTypeTarget:
		return shared.target(i.Targets[name])
	case v1alpha1.ImportTypeTargetList:
		return shared.list(i.TargetLists[name])
	case v1alpha1.ImportTypeTargetMap:
		return shared.byKey(i.TargetMaps[name])
	}
	return shared.plain(i.Data[name])
}

// ExportBindings returns what export mappings see: all exports by their names, and
// all of them as exports. An export of this name is exports.exports.
func ExportBindings(exports map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, exports)
	bindings := maps.Clone(all)
	bindings[exportsBinding] = all
	return bindings
}

// ApplyImportMappings evaluates spec.importDataMappings. It returns the results
// for data imports of the blueprint and warnings about all other keys. The error
// joins those of all keys.
func ApplyImportMappings(ctx context.Context, inst *v1alpha1.Installation, definitions v1alpha1.ImportDefinitionList, imports Imports, evaluate Evaluate) (Mapped, []string, error) {
	if len(inst.Spec.ImportDataMappings) == 0 {
		return Mapped{}, nil, nil
	}
	bindings, err := ImportBindings(imports)
	if err != nil {
		return Mapped{}, nil, err
	}
	run := mappings{kind: "import", path: inst.Name, documents: inst.Spec.ImportDataMappings, bindings: bindings}
	results, err := run.all(ctx, evaluate)
	if err != nil {
		return Mapped{}, nil, err
	}
	declared := newValues(definitions).types
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(results)) {
		kind, ok := declared[key]
		switch {
		case !ok:
			warnings = append(warnings, fmt.Sprintf("spec.importDataMappings: %s has no effect: the blueprint has no import of this name%s",
				key, suggest.DidYouMean(key, slices.Sorted(maps.Keys(declared)))))
		case kind != v1alpha1.ImportTypeData:
			warnings = append(warnings, fmt.Sprintf("spec.importDataMappings: %s has no effect: the import is of type %s, and mappings only make data", key, kind))
		default:
			continue
		}
		delete(results, key)
	}
	return Mapped{Values: results, salts: mappingSalts(inst, imports)}, warnings, nil
}

// ApplyExportMappings evaluates spec.exportDataMappings and puts the results over
// the exports, which are changed. It returns warnings about keys that spec.exports does not list. The
// error joins those of all keys.
func ApplyExportMappings(ctx context.Context, inst *v1alpha1.Installation, exports map[string]any, evaluate Evaluate) ([]string, error) {
	run := mappings{kind: "export", path: exportPath(inst.Name, "internalExports"), documents: inst.Spec.ExportDataMappings, bindings: ExportBindings(exports)}
	results, err := run.all(ctx, evaluate)
	if err != nil {
		return nil, err
	}
	var published []string
	for _, export := range inst.Spec.Exports.Data {
		published = append(published, export.Name)
	}
	for _, export := range inst.Spec.Exports.Targets {
		published = append(published, export.Name)
	}
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(results)) {
		if !slices.Contains(published, key) {
			warnings = append(warnings, fmt.Sprintf("spec.exportDataMappings: %s has no effect: spec.exports does not list it%s", key, suggest.DidYouMean(key, published)))
			continue
		}
		exports[key] = results[key]
	}
	return warnings, nil
}

// mappings are the documents of one Installation field and the bindings that they see.
type mappings struct {
	// kind is import or export.
	kind, path string
	documents  map[string]v1alpha1.AnyJSON
	bindings   map[string]any
}

// all evaluates each document on its own.
func (m *mappings) all(ctx context.Context, evaluate Evaluate) (map[string]any, error) {
	results := make(map[string]any, len(m.documents))
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(m.documents)) {
		path := m.path + "." + key
		value, err := evaluate(ctx, path, m.documents[key], m.bindings)
		if err != nil {
			errs = append(errs, fmt.Errorf("unable to template %s mapping template %s (%s): %w", m.kind, path, m.names(m.documents[key]), err))
			continue
		}
		results[key] = value
	}
	return results, errors.Join(errs...)
}

// names lists the names that a mapping that failed could have used: this answers most questions.
func (m *mappings) names(document v1alpha1.AnyJSON) string {
	names := "it can use " + suggest.Enumerate(slices.Sorted(maps.Keys(m.bindings)))
	var fields map[string]json.RawMessage
	if json.Unmarshal(document.RawMessage, &fields) != nil {
		return names
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if _, hidden := m.bindings[key]; hidden && strings.Contains(string(fields[key]), "((") {
			names += fmt.Sprintf("; its own field %s hides the %s of this name, which is ___.%s", key, m.kind, key)
		}
	}
	return names
}
