package dependents

import (
	"bytes"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

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
			if isCopy(object) && valueobject.SecretOf(object) == "" {
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
	first, err := valueobject.EncodeJSON(a)
	if err != nil {
		return false
	}
	second, err := valueobject.EncodeJSON(b)
	return err == nil && bytes.Equal(first, second)
}
