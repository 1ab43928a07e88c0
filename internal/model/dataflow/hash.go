package dataflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// ImportsHash identifies all values that an Installation imports: data by their content, Targets by
// their generation. Values from a Secret are salted, see DataImport.Salt.
//
// The hash is stored with the job and compared when an import changes: a change that keeps the hash
// starts nothing. A Target's credentials are not in it, see docs/spec/data.md.
func ImportsHash(imports Imports) (string, error) {
	hash, _, err := ImportDigests(imports)
	return hash, err
}

// ImportDigests returns ImportsHash, and a digest of each import by its name. That of Targets is of
// their names as well.
func ImportDigests(imports Imports) (hash string, digests map[string]string, err error) {
	digests = map[string]string{}
	versions := struct {
		DataObjects, Targets, TargetLists, TargetMaps map[string]string
	}{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(imports.Data)) {
		item := imports.Data[name]
		raw, err := valueobject.EncodeJSON(item.Value.RawMessage)
		if err != nil {
			return "", nil, fmt.Errorf("import %q: %w", name, err)
		}
		versions.DataObjects[name] = valueobject.SaltedHash(item.Salt, raw)
		digests[name] = versions.DataObjects[name]
	}
	for name, target := range imports.Targets {
		versions.Targets[name] = strconv.FormatInt(target.Generation, 10)
		digests[name] = targetsDigest(target)
	}
	for name, list := range imports.TargetLists {
		generations := make([]int64, 0, len(list))
		for _, target := range list {
			generations = append(generations, target.Generation)
		}
		versions.TargetLists[name] = versionText(generations, len(list))
		digests[name] = targetsDigest(list...)
	}
	for name, byKey := range imports.TargetMaps {
		generations := make(map[string]int64, len(byKey))
		for key, target := range byKey {
			generations[key] = target.Generation
		}
		versions.TargetMaps[name] = versionText(generations, len(byKey))
		var all []*v1alpha1.Target
		for _, key := range slices.Sorted(maps.Keys(byKey)) {
			all = append(all, byKey[key])
		}
		digests[name] = targetsDigest(all...)
	}
	raw, err := json.Marshal(versions)
	if err != nil {
		return "", nil, fmt.Errorf("encode the versions of the imports: %w", err)
	}
	return valueobject.Hash(raw), digests, nil
}

// targetsDigest identifies Targets in their order.
func targetsDigest(targets ...*v1alpha1.Target) string {
	var versions strings.Builder
	for _, target := range targets {
		fmt.Fprintf(&versions, "%s %d\n", target.Name, target.Generation)
	}
	return valueobject.Hash([]byte(versions.String()))
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
