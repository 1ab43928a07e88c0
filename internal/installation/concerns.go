package installation

import (
	"bytes"
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/dataflow/holder"
	"go.landscaper.dev/internal/installation/observe"
)

// concerns reports whether the exports of a root are something new to another one: it
// imports another value of them than its last job did. What else it imports may have
// changed as well; that alone starts nothing. Who is not known to have used a value is
// concerned.
func (r *Reconciler) concerns(ctx context.Context, inst, dependent *v1alpha1.Installation, reader client.Reader) bool {
	if dependent.Status.ImportsHash == "" {
		// No job of it has used anything.
		return true
	}
	imports, known := r.sight().Imports(ctx, dependent, reader)
	if !known {
		return true
	}
	if hash, err := dataflow.ImportsHash(imports); err == nil && hash == dependent.Status.ImportsHash {
		return false
	}
	copies, err := r.sight().Copies(ctx, dependent)
	if err != nil {
		return true
	}
	exported := observe.ExportsOf(inst)
	for _, reference := range dataflow.References(dependent) {
		for _, object := range reference.Objects {
			if exported[observe.ObjectKey{Target: object.Kind == dataflow.KindTarget, Name: object.Name}] && !used(dependent, reference, imports, copies) {
				return true
			}
		}
	}
	return false
}

// used reports whether the last job of a root has used an import as it is now: its copy
// says so. Lists and maps, mapped imports and values of Secrets have no copy of that
// kind.
func used(dependent *v1alpha1.Installation, reference dataflow.Reference, imports dataflow.Imports, copies dataflow.Exports) bool {
	isCopy := func(object client.Object) bool {
		labels := object.GetLabels()
		return labels[v1alpha1.DataObjectKeyLabel] == reference.Import && labels[v1alpha1.DataObjectJobIDLabel] == dependent.Status.JobID
	}
	switch reference.Type {
	case v1alpha1.ImportTypeData:
		for _, object := range copies.DataObjects {
			if isCopy(object) && holder.SecretOf(object) == "" {
				return sameJSON(object.Data.RawMessage, imports.Data[reference.Import].Value.RawMessage)
			}
		}
	case v1alpha1.ImportTypeTarget:
		now := imports.Targets[reference.Import]
		for _, target := range copies.Targets {
			if isCopy(target) && now != nil {
				return equality.Semantic.DeepEqual(target.Spec, now.Spec)
			}
		}
	}
	return false
}

func sameJSON(a, b []byte) bool {
	first, err := holder.EncodeJSON(a)
	if err != nil {
		return false
	}
	second, err := holder.EncodeJSON(b)
	return err == nil && bytes.Equal(first, second)
}
