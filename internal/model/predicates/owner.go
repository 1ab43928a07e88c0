package predicates

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// AsOwner is an Installation as the owner of what it has written.
func AsOwner(inst *v1alpha1.Installation) job.Owner {
	return job.Owner{Kind: "Installation", Object: inst}
}
