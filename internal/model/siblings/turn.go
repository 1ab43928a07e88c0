package siblings

import (
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Turn says whether it is the turn of an Installation among its siblings.
type Turn struct {
	// Err is why it will not be in this job.
	Err error
	// WaitsFor are the siblings that come first, by their names.
	WaitsFor []string
}

// Ready reports whether it is the turn.
func (t Turn) Ready() bool { return t.Err == nil && len(t.WaitsFor) == 0 }

// TurnToDeploy says whether a subinstallation can begin: all siblings whose exports it imports must
// have succeeded in the job. The siblings include the subinstallation.
func TurnToDeploy(self, parent *v1alpha1.Installation, siblings []*v1alpha1.Installation, among *relations) Turn {
	if cycle, ok := among.CycleOf(self.Name); ok {
		return Turn{Err: job.NewError(published.Init, reasons.FetchPredecessors,
			"the subinstallations wait for each other in a cycle: "+cycle.String()+": "+cycle.Explanation()+": change the imports or exports of one of them in the blueprint", v1alpha1.ErrorCyclicDependencies)}
	}
	for _, collision := range among.collisions {
		if collision.First.Unit == self.Name || collision.Second.Unit == self.Name {
			return Turn{Err: job.NewError(published.Init, reasons.FetchPredecessors, fmt.Sprintf(
				"%s is exported by Installation %s and by Installation %s: choose another name for one of them in the blueprint", collision.Second.Name, collision.First.Unit, collision.Second.Unit), v1alpha1.ErrorForInfoOnly)}
		}
	}
	var now Turn
	var failed []string
	for _, name := range DeployedBefore(self, among) {
		switch progressOf(byName(siblings, name), parent, self.Status.JobID) {
		case stillRuns:
			now.WaitsFor = append(now.WaitsFor, name)
		case hasFailed:
			failed = append(failed, name)
		}
	}
	if len(failed) > 0 {
		now.Err = job.NewError(published.Init, reasons.AllPredecessorsSucceeded, Phrase(failed, "depending on Installation %s, which has not succeeded", "depending on Installations %s, which have not succeeded"), v1alpha1.ErrorForInfoOnly)
	}
	return now
}

// progress is how far a sibling is with the job.
type progress int

const (
	stillRuns progress = iota
	hasSucceeded
	hasFailed
)

// progressOf returns the progress of a sibling in a job. One that has not got the job, and will not get
// it any more, counts as failed.
func progressOf(sibling, parent *v1alpha1.Installation, jobID string) progress {
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

// TurnToDelete says whether an Installation can be deleted: all siblings that import its exports must
// be deleted first. It does not wait for members of a cycle with it, nor for siblings that have
// ended the job and stay. If only some subinstallations of a parent are deleted, they do not wait
// for the others: those may import the same from another sibling now.
func TurnToDelete(self, parent *v1alpha1.Installation, siblings []*v1alpha1.Installation, among *relations) Turn {
	var now Turn
	var failed []string
	for _, name := range DeletedBefore(self, among) {
		sibling := byName(siblings, name)
		switch {
		case parent != nil && !parent.Status.InstallationPhase.IsDeletion() && !predicates.BeingDeleted(sibling):
		case parent != nil && IsRemoving(parent) && !job.HasDropped(parent, name):
			// Another client has deleted it meanwhile: its deletion comes with the next job.
		case parent != nil && sibling.Status.JobIDFinished == self.Status.JobID:
			if sibling.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed {
				failed = append(failed, name)
			}
		default:
			now.WaitsFor = append(now.WaitsFor, name)
		}
	}
	if len(failed) > 0 {
		now.Err = job.NewError(published.CheckSuccessorSibling, reasons.SiblingDeleteError, "deletion of a sibling failed: "+Phrase(failed, "Installation %s imports what this one exports", "Installations %s import what this one exports"), v1alpha1.ErrorForInfoOnly)
	}
	return now
}

// Before returns the siblings that come before an Installation in its present job, as far as that
// follows from their specifications, by their names.
func Before(self *v1alpha1.Installation, among *relations) []string {
	if self.Status.InstallationPhase.Current().IsDeletion() {
		return DeletedBefore(self, among)
	}
	return DeployedBefore(self, among)
}

// DeployedBefore returns the siblings that have to succeed before an Installation begins: those whose
// exports it imports.
func DeployedBefore(self *v1alpha1.Installation, among *relations) []string {
	if self.Spec.Optimization != nil && self.Spec.Optimization.HasNoSiblingImports {
		return nil
	}
	return among.Graph.Predecessors(self.Name)
}

// DeletedBefore returns the siblings that have to be deleted before an Installation, as far as that
// follows from their specifications: those that import its exports. Members of a cycle with it do
// not come first.
func DeletedBefore(self *v1alpha1.Installation, among *relations) []string {
	if !MustAwaitImporters(self) {
		return nil
	}
	cycle, _ := among.CycleOf(self.Name)
	return slices.DeleteFunc(among.Graph.Importers(self.Name), func(name string) bool {
		return name == self.Name || slices.Contains(cycle.Members, name)
	})
}

// MustAwaitImporters reports whether an Installation has to wait for siblings before it is deleted.
func MustAwaitImporters(self *v1alpha1.Installation) bool {
	exports := &self.Spec.Exports
	return len(exports.Data)+len(exports.Targets) > 0 && self.Annotations[v1alpha1.DeleteIgnoreSuccessorsAnnotation] != "true" &&
		!HasNoImporters(self)
}

// HasNoImporters reports whether an Installation promises that no sibling imports its exports, so that its
// siblings need not be looked at.
func HasNoImporters(self *v1alpha1.Installation) bool {
	return self.Spec.Optimization != nil && self.Spec.Optimization.HasNoSiblingExports
}

// ImportersFirst orders siblings that are to be deleted so that each comes after those of them that import
// its exports.
func ImportersFirst(deleted []*v1alpha1.Installation, among *relations) []*v1alpha1.Installation {
	ordered, seen := make([]*v1alpha1.Installation, 0, len(deleted)), map[string]bool{}
	var add func(name string)
	add = func(name string) {
		at := slices.IndexFunc(deleted, func(inst *v1alpha1.Installation) bool { return inst.Name == name })
		if at < 0 || seen[name] {
			return
		}
		seen[name] = true
		for _, importer := range among.Graph.Importers(name) {
			add(importer)
		}
		ordered = append(ordered, deleted[at])
	}
	for _, inst := range deleted {
		add(inst.Name)
	}
	return ordered
}

// maxNames is how many names a message lists.
const maxNames = 20

// JoinNames puts names into a message.
func JoinNames(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// Phrase puts names into a phrase about one Installation, or else into one about several.
func Phrase(names []string, one, several string) string {
	if len(names) == 1 {
		return fmt.Sprintf(one, names[0])
	}
	return fmt.Sprintf(several, JoinNames(names))
}
