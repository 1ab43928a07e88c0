package index

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// CopiesByScope is the index of the copies of imports by the scope that they live in.
const CopiesByScope = "scope"

// ScopeOf returns the key of the scope that an object lives in.
func ScopeOf(object client.Object) []string {
	return []string{object.GetLabels()[v1alpha1.DataObjectContextLabel]}
}

// ExportsBySource is the index of the objects by the Installation that has written
// them.
const ExportsBySource = "source"

// SourceOf returns the key of the Installation that has written an object.
func SourceOf(object client.Object) []string {
	return []string{object.GetLabels()[v1alpha1.DataObjectSourceLabel]}
}
