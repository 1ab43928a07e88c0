package job

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// HandsDown reports whether an Installation hands its job to all children: everything is
// written, and the Installation cannot go before them.
func HandsDown(parent *v1alpha1.Installation) bool {
	return parent.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing && slices.Contains(parent.Finalizers, v1alpha1.Finalizer)
}
