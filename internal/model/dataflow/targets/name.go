// Package targets knows the names that users have given to Targets: what subinstallations
// and items work with are copies, whose names are hashes.
package targets

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// maxElements is how many elements of a propagated list are looked through.
const maxElements = 100

// copyLength is how long the names of copies are.
var copyLength = len(v1alpha1.HashedDataObjectName("", ""))

// IsCopy reports whether a name is probably that of a copy.
func IsCopy(name string) bool { return len(name) == copyLength }

// words are what may be the name of an object.
var words = regexp.MustCompile(`[a-z0-9.-]+`)

// Copies are the names in a message that are probably those of copies, each once.
func Copies(message string) (found []string) {
	for _, word := range words.FindAllString(message, -1) {
		if IsCopy(word) && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

// Say names the Targets in a message as users know them.
func Say(lineage []*v1alpha1.Installation, message string) string {
	for _, name := range Copies(message) {
		message = strings.ReplaceAll(message, name, NameOf(lineage, name))
	}
	return message
}

// NameOf names a Target as users know it. Subinstallations work with copies whose names mean
// nothing; these lead to the import of a root, or to the export of a sibling. The lineage are the
// Installations from the root to the one that works with it.
//
// Names of copies are hashes, so that nothing leads back from them: each reference that
// could be meant is hashed and compared.
func NameOf(lineage []*v1alpha1.Installation, object string) string {
	if len(lineage) == 0 {
		return object
	}
	last := lineage[len(lineage)-1]
	scope := ""
	if parent := parentOf(last); parent != "" {
		scope = v1alpha1.InstallationScope(parent)
	}
	for _, item := range last.Spec.Imports.Targets {
		for _, reference := range references(lineage[:len(lineage)-1], item) {
			if v1alpha1.GenerateDataObjectName(scope, reference) == object {
				return sourceOf(lineage[:len(lineage)-1], reference)
			}
		}
	}
	return object
}

// references are all Targets that an import may refer to, as they are written. The lineage are the
// Installations above it.
func references(above []*v1alpha1.Installation, item v1alpha1.TargetImport) []string {
	if item.Target != "" {
		return []string{item.Target}
	}
	all := append([]string{}, item.Targets...)
	for _, reference := range item.TargetMap {
		all = append(all, reference)
	}
	if item.TargetListReference != "" {
		for i := range maxElements {
			all = append(all, item.TargetListReference+"["+strconv.Itoa(i)+"]")
		}
	}
	if item.TargetMapReference != "" {
		for _, key := range keysOf(above, item.TargetMapReference) {
			all = append(all, item.TargetMapReference+"["+key+"]")
		}
	}
	return all
}

// keysOf are the keys of a propagated map of Targets: they are written where the map is made.
func keysOf(lineage []*v1alpha1.Installation, name string) []string {
	if len(lineage) == 0 {
		return nil
	}
	above := lineage[:len(lineage)-1]
	for _, item := range lineage[len(lineage)-1].Spec.Imports.Targets {
		switch {
		case item.Name != name:
		case item.TargetMapReference != "":
			return keysOf(above, item.TargetMapReference)
		default:
			return slices.Collect(maps.Keys(item.TargetMap))
		}
	}
	return nil
}

// sourceOf follows a name from the inside of an Installation to its source.
func sourceOf(lineage []*v1alpha1.Installation, name string) string {
	if len(lineage) == 0 {
		return strings.TrimPrefix(name, v1alpha1.NonContextifiedPrefix)
	}
	above := lineage[:len(lineage)-1]
	base, element, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	for _, item := range lineage[len(lineage)-1].Spec.Imports.Targets {
		switch index, err := strconv.Atoi(element); {
		case item.Name != base:
		case element == "" && item.Target != "":
			return sourceOf(above, item.Target)
		case item.TargetMap[element] != "":
			return sourceOf(above, item.TargetMap[element])
		case err == nil && index >= 0 && index < len(item.Targets):
			return sourceOf(above, item.Targets[index])
		case item.TargetListReference != "":
			return sourceOf(above, item.TargetListReference+"["+element+"]")
		case item.TargetMapReference != "":
			return sourceOf(above, item.TargetMapReference+"["+element+"]")
		}
	}
	return name
}

// parentOf finds the parent by the label that controllers select by, or else by the owner
// reference.
func parentOf(inst *v1alpha1.Installation) string {
	owner, _ := job.OwnerOf(inst, "Installation")
	return cmp.Or(inst.Labels[v1alpha1.EncompassedByLabel], owner.Name)
}
