package preview

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/deploy/rollout"
)

// Comparers are those of the deployers that can tell what they would do.
func Comparers() map[v1alpha1.DeployItemType]Comparer {
	return map[v1alpha1.DeployItemType]Comparer{
		manifest.Type: manifest.New(rollout.Options{}),
	}
}
