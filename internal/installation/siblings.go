package installation

import (
	"fmt"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/job"
)

// turn says whether it is the turn of an Installation among its siblings.
type turn struct {
	// never is why it will not be in this job.
	never error
	// waits are the siblings that go before, by their names.
	waits []string
}

// has reports whether it is the turn.
func (t turn) has() bool { return t.never == nil && len(t.waits) == 0 }

// Reasons of failures that follow from that of a sibling.
const (
	predecessorFailed = "AllPredecessorsSucceeded"
	siblingNotDeleted = "SiblingDeleteError"
)

func graphOf(self *v1alpha1.Installation, siblings []*v1alpha1.Installation) *dataflow.Graph {
	return dataflow.NewGraph(dataflow.Scope(self), dataflow.InstallationUnits(siblings))
}

// circleOf returns the circle of siblings that wait for each other which an
// Installation is a member of.
func circleOf(graph *dataflow.Graph, name string) (dataflow.Cycle, bool) {
	cycles := graph.Cycles()
	at := slices.IndexFunc(cycles, func(cycle dataflow.Cycle) bool { return slices.Contains(cycle.Members, name) })
	if at < 0 {
		return dataflow.Cycle{}, false
	}
	return cycles[at], true
}

// turnToDeploy tells whether a subinstallation can begin: all siblings whose exports it
// imports must have succeeded in the job. The siblings include the subinstallation.
func turnToDeploy(self, parent *v1alpha1.Installation, siblings []*v1alpha1.Installation) turn {
	graph := graphOf(self, siblings)
	if cycle, ok := circleOf(graph, self.Name); ok {
		return turn{never: job.NewError("init", "FetchPredecessors",
			"the subinstallations wait for each other in a circle: "+cycle.String()+": "+cycle.Explanation()+": change the imports or exports of one of them in the blueprint", v1alpha1.ErrorCyclicDependencies)}
	}
	for _, collision := range graph.Collisions() {
		if collision.First.Unit == self.Name || collision.Second.Unit == self.Name {
			return turn{never: job.NewError("init", "FetchPredecessors", fmt.Sprintf(
				"%s is exported by Installation %s and by Installation %s: choose another name for one of them in the blueprint", collision.Second.Name, collision.First.Unit, collision.Second.Unit), v1alpha1.ErrorForInfoOnly)}
		}
	}
	if self.Spec.Optimization != nil && self.Spec.Optimization.HasNoSiblingImports {
		return turn{}
	}
	var now turn
	var failed []string
	for _, name := range graph.Predecessors(self.Name) {
		switch stand(byName(siblings, name), parent, self.Status.JobID) {
		case stillRuns:
			now.waits = append(now.waits, name)
		case hasFailed:
			failed = append(failed, name)
		}
	}
	if len(failed) > 0 {
		now.never = job.NewError("init", predecessorFailed, "depending on Installations "+listed(failed)+", which have not succeeded", v1alpha1.ErrorForInfoOnly)
	}
	return now
}

// standing is how far a sibling is with the job.
type standing int

const (
	stillRuns standing = iota
	hasSucceeded
	hasFailed
)

// stand tells how far a sibling is with a job. One that has not got it, and that the
// parent will not give it to any more, counts as failed.
func stand(sibling, parent *v1alpha1.Installation, jobID string) standing {
	status := &sibling.Status
	switch {
	case status.JobIDFinished == jobID && status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded:
		return hasSucceeded
	case status.JobIDFinished == jobID:
		return hasFailed
	case status.JobID == jobID:
		return stillRuns
	case parent != nil && parent.Status.JobID == jobID && job.Unfinished(parent.Status.JobID, parent.Status.JobIDFinished):
		return stillRuns
	}
	return hasFailed
}

func byName(siblings []*v1alpha1.Installation, name string) *v1alpha1.Installation {
	return siblings[slices.IndexFunc(siblings, func(sibling *v1alpha1.Installation) bool { return sibling.Name == name })]
}

// turnToGo tells whether an Installation can be deleted: all siblings that import its
// exports must be gone. Who waits in a circle with it is not waited for, nor who has
// ended the job and stays. If only some subinstallations of a parent go, the others are
// none of their business: they may get the same from somebody else now.
func turnToGo(self, parent *v1alpha1.Installation, siblings []*v1alpha1.Installation) turn {
	if !minds(self) {
		return turn{}
	}
	graph := graphOf(self, siblings)
	cycle, _ := circleOf(graph, self.Name)
	var now turn
	var failed []string
	for _, name := range graph.Importers(self.Name) {
		sibling := byName(siblings, name)
		switch {
		case name == self.Name, slices.Contains(cycle.Members, name):
		case parent != nil && !parent.Status.InstallationPhase.IsDeletion() && !deleted(sibling):
		case parent != nil && sibling.Status.JobIDFinished == self.Status.JobID:
			if sibling.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed {
				failed = append(failed, name)
			}
		default:
			now.waits = append(now.waits, name)
		}
	}
	if len(failed) > 0 {
		now.never = job.NewError("CheckSuccessorSibling", siblingNotDeleted, "deletion of a sibling failed: Installations "+listed(failed)+" import what this one exports", v1alpha1.ErrorForInfoOnly)
	}
	return now
}

// minds reports whether an Installation has to look for siblings before it goes.
func minds(self *v1alpha1.Installation) bool {
	exports := &self.Spec.Exports
	return len(exports.Data)+len(exports.Targets) > 0 && self.Annotations[v1alpha1.DeleteIgnoreSuccessorsAnnotation] != "true" &&
		(self.Spec.Optimization == nil || !self.Spec.Optimization.HasNoSiblingExports)
}

// importsOf reports whether an Installation imports something that another one exports.
func importsOf(importer, exporter *v1alpha1.Installation) bool {
	graph := graphOf(exporter, []*v1alpha1.Installation{importer, exporter})
	return len(graph.Predecessors(importer.Name)) > 0
}
