package rollout

import "go.landscaper.dev/internal/deploy/apply"

// step is the next thing to do in a roll-out.
type step string

const (
	// awaitEnd waits for the deletion of objects that another client is deleting although they are
	// wanted; then they are created again.
	awaitEnd step = "await deletions by other clients"
	// applyDefinitions, applyCluster and applyNamespaced apply the objects of a stage.
	applyDefinitions step = "apply definitions"
	applyCluster     step = "apply cluster-scoped objects"
	applyNamespaced  step = "apply objects in namespaces"
	// awaitDefinitions waits until the kinds are served that the item defines and
	// uses itself.
	awaitDefinitions step = "await definitions"
	// removeOrphans removes what was deployed before and is no longer wanted.
	removeOrphans step = "remove orphans"
	// awaitReadiness waits until all objects are ready.
	awaitReadiness step = "await readiness"
	// awaitCustom waits until the chosen objects are ready, check by check.
	awaitCustom step = "await custom checks"
	// readExports waits until all values to export are there.
	readExports step = "read exports"
	// storeExports stores the values.
	storeExports step = "store exports"
	// patchAfterwards merges patches into objects that are ready.
	patchAfterwards step = "patch afterwards"
	// finished means that there is nothing left to do.
	finished step = "finished"
)

// progress is all that the choice of the next step depends on.
type progress struct {
	// pending is how many objects of each stage are not applied yet.
	pending map[apply.Stage]int
	// ending is how many wanted objects are being deleted.
	ending int
	// served, cleaned, ready, exportsRead, exportsStored and patched say that these
	// steps are over.
	served, cleaned, ready, exportsRead, exportsStored, patched bool
	// checks is how many custom checks are not over.
	checks int
}

// next chooses the next step. Each needs those before it to be complete: an object needs its kind
// and its namespace, and what is no longer wanted is removed only when everything that is wanted is
// there.
func next(p progress) step {
	switch {
	case p.ending > 0:
		return awaitEnd
	case p.pending[apply.StageDefinitions] > 0:
		return applyDefinitions
	case !p.served:
		return awaitDefinitions
	case p.pending[apply.StageCluster] > 0:
		return applyCluster
	case p.pending[apply.StageNamespaced] > 0:
		return applyNamespaced
	case !p.cleaned:
		return removeOrphans
	case !p.ready:
		return awaitReadiness
	case p.checks > 0:
		return awaitCustom
	case !p.exportsRead:
		return readExports
	case !p.exportsStored:
		return storeExports
	case !p.patched:
		return patchAfterwards
	}
	return finished
}

// stages are the stages that the steps apply.
var stages = map[step]apply.Stage{
	applyDefinitions: apply.StageDefinitions,
	applyCluster:     apply.StageCluster,
	applyNamespaced:  apply.StageNamespaced,
}
