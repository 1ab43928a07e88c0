package dataflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// ImportsHash identifies all values that an Installation imports: data by their content, Targets by
// their generation. Values from a Secret are salted, see DataImport.Salt.
//
// The hash is stored with the job and compared when an import changes: a change that keeps the hash
// starts nothing. A Target's credentials are not in it, see docs/spec/data.md.
func ImportsHash(imports Imports) (string, error) {
	versions := struct {
		DataObjects, Targets, TargetLists, TargetMaps map[string]string
	}{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(imports.Data)) {
		item := imports.Data[name]
		raw, err := valueobject.EncodeJSON(item.Value.RawMessage)
		if err != nil {
			return "", fmt.Errorf("import %q: %w", name, err)
		}
		versions.DataObjects[name] = valueobject.SaltedHash(item.Salt, raw)
	}
	for name, target := range imports.Targets {
		versions.Targets[name] = strconv.FormatInt(target.Generation, 10)
	}
	for name, list := range imports.TargetLists {
		generations := make([]int64, 0, len(list))
		for _, target := range list {
			generations = append(generations, target.Generation)
		}
		versions.TargetLists[name] = versionText(generations, len(list))
	}
	for name, byKey := range imports.TargetMaps {
		generations := make(map[string]int64, len(byKey))
		for key, target := range byKey {
			generations[key] = target.Generation
		}
		versions.TargetMaps[name] = versionText(generations, len(byKey))
	}
	raw, err := json.Marshal(versions)
	if err != nil {
		return "", fmt.Errorf("encode the versions of the imports: %w", err)
	}
	return valueobject.Hash(raw), nil
}

// versionText returns the generations of elements as a text; that of no elements
// is empty.
func versionText(generations any, elements int) string {
	raw, err := json.Marshal(generations)
	if err != nil || elements == 0 {
		return ""
	}
	return string(raw)
}
