package dataflow

import (
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/textscan"
)

// Mapped are the results of import data mappings by import.
type Mapped struct {
	Values map[string]any
	// salts are those of the results that may hold something from Secrets.
	salts map[string]string
}

// joinSalts returns one salt for what comes from several Secrets.
func joinSalts(salts []string) string {
	salts = slices.DeleteFunc(slices.Clone(salts), func(salt string) bool { return salt == "" })
	slices.Sort(salts)
	return strings.Join(slices.Compact(salts), "\n")
}

// wholesale are words of expressions that lead to all imports, or to any.
var wholesale = []string{importsBinding, "___", "__ctx", "eval", "stub"}

// mappingSalts returns the salts of those mappings that mention an import from a Secret. Which part
// of it an expression uses is unknown.
//
// When in doubt there is a salt: a value that is treated as secret without need costs a
// Secret, the other way round it is shown.
func mappingSalts(inst *v1alpha1.Installation, imports Imports) map[string]string {
	salts := map[string]string{}
	for key, document := range inst.Spec.ImportDataMappings {
		value, err := jsonvalue.FromJSON(document.RawMessage)
		if err != nil {
			continue // it has no result
		}
		all := mentions(value, wholesale...)
		var found []string
		for name, item := range imports.Data {
			if item.Salt != "" && (all || mentions(value, name)) {
				found = append(found, item.Salt)
			}
		}
		if len(found) > 0 {
			salts[key] = joinSalts(found)
		}
	}
	return salts
}

// mentions reports whether a text with an expression, at any depth, has one of the
// words.
func mentions(value any, names ...string) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "((") && slices.ContainsFunc(names, func(name string) bool { return textscan.HasWord(value, name) })
	case []any:
		return slices.ContainsFunc(value, func(element any) bool { return mentions(element, names...) })
	case map[string]any:
		for key, field := range value {
			if mentions(key, names...) || mentions(field, names...) {
				return true
			}
		}
	}
	return false
}
