package job

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// Propagates reports whether an Installation propagates its job to all children: all of them
// are written, and the Installation cannot be deleted before them.
func Propagates(parent *v1alpha1.Installation) bool {
	return parent.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing && slices.Contains(parent.Finalizers, v1alpha1.Finalizer)
}
