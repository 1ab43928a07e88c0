package index

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
)

// ByImport is the index of roots by the objects that they import.
const ByImport = "imports"

// ImportsOfRoot returns the keys of all that a root imports.
func ImportsOfRoot(object client.Object) []string {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok || !predicates.IsRoot(inst) {
		return nil
	}
	var entries []string
	for _, reference := range dataflow.References(inst) {
		for _, imported := range reference.Objects {
			entries = append(entries, ImportOf(imported.Kind, imported.Namespace, imported.Name))
		}
	}
	return entries
}

// ImportOf is the key of an object that may be imported.
func ImportOf(kind dataflow.Kind, namespace, name string) string {
	return fmt.Sprintf("%s %s/%s", kind, namespace, name)
}
