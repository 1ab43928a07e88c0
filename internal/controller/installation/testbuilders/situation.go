package testbuilders

import (
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Option changes a situation.
type Option func(*decide.Situation)

// Situation is one at noon, of an Installation without any request.
func Situation(options ...Option) decide.Situation {
	s := decide.Situation{Now: Noon, Family: siblings.Family{Inst: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n", UID: "u"}}}}
	for _, option := range options {
		option(&s)
	}
	return s
}

// Alter applies options to an Installation.
func Alter(inst *v1alpha1.Installation, options ...Option) {
	s := decide.Situation{Family: siblings.Family{Inst: inst}}
	for _, option := range options {
		option(&s)
	}
}

// Below makes it a subinstallation of a parent with a job, if that is not empty.
func Below(parentJob, finished string, phase v1alpha1.InstallationPhase) Option {
	return func(s *decide.Situation) {
		Sub(s)
		s.Parent = &v1alpha1.Installation{}
		s.Parent.Name, s.Parent.Finalizers = "parent", []string{v1alpha1.Finalizer}
		s.Parent.Status.JobID, s.Parent.Status.JobIDFinished, s.Parent.Status.InstallationPhase = parentJob, finished, phase
	}
}

// DeletionReported lets the status say what a deletion waits for.
func DeletionReported(s *decide.Situation) {
	s.Inst.Status.Conditions = append(s.Inst.Status.Conditions, siblings.DeletionCondition(s.Family))
}

// WithoutParent makes it a subinstallation whose parent no longer exists.
func WithoutParent(s *decide.Situation) { Sub(s); s.Orphaned = true }

// WithSub adds a subinstallation; one that is written like (this) is being deleted.
func WithSub(name, id, finished string, phase v1alpha1.InstallationPhase) Option {
	return func(s *decide.Situation) {
		child := &v1alpha1.Installation{}
		if child.Name = strings.Trim(name, "()"); child.Name != name {
			child.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		child.Status.JobID, child.Status.JobIDFinished, child.Status.InstallationPhase = id, finished, phase
		s.Subs = append(s.Subs, child)
	}
}

// Written notes in the status which subinstallations the job has written.
func Written(names ...string) Option {
	return func(s *decide.Situation) {
		s.Inst.Status.SubInstCache = &v1alpha1.SubInstCache{}
		for _, name := range names {
			s.Inst.Status.SubInstCache.ActiveSubs = append(s.Inst.Status.SubInstCache.ActiveSubs, v1alpha1.SubNamePair{SpecName: name, ObjectName: name})
		}
	}
}

// Triggered sets what starts jobs without a request.
func Triggered(by predicates.Triggers) Option { return func(s *decide.Situation) { s.Triggers = by } }

// Importing has had some imports in its last job, and others now.
func Importing(before, now string) Option {
	return func(s *decide.Situation) { s.Inst.Status.ImportsHash, s.CurrentImports = before, &now }
}

// WithUntriggered are the dependents that could not be triggered.
func WithUntriggered(names ...string) Option {
	return func(s *decide.Situation) { s.Untriggered = names }
}

// SiblingsChecked are siblings that have to be deleted first.
func SiblingsChecked(waits ...string) Option {
	return func(s *decide.Situation) { s.Turn = &siblings.Turn{WaitsFor: waits} }
}

// NeverReady says that it will never be its turn.
func NeverReady(s *decide.Situation) { s.Turn = &siblings.Turn{Err: errors.New("x")} }

// WithExecution adds the Execution, with a job.
func WithExecution(id, finished string, phase v1alpha1.ExecutionPhase) Option {
	return func(s *decide.Situation) {
		s.Inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
		s.Exec = &v1alpha1.Execution{Status: v1alpha1.ExecutionStatus{JobID: id, JobIDFinished: finished, ExecutionPhase: phase}}
		s.Exec.Name = "x"
	}
}

// ExecutionDeleted lets the Execution wait for its deletion.
func ExecutionDeleted(s *decide.Situation) {
	s.Exec.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
}

// WithoutReference lets the status forget the Execution.
func WithoutReference(s *decide.Situation) { s.Inst.Status.ExecutionReference = nil }

// AwaitingExecution has written an Execution that no cache shows.
func AwaitingExecution(s *decide.Situation) {
	s.Inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
}

// ExecutionAbsent says that the API server has no Execution either.
func ExecutionAbsent(s *decide.Situation) { s.ExecutionAbsent = true }

// ExecutionDeletedByUs says that this process has deleted the Execution.
func ExecutionDeletedByUs(s *decide.Situation) { s.ExecutionDeleted = true }

// PlanStored says that the plan of the last job is still stored.
func PlanStored(s *decide.Situation) { s.PlanStored = true }

// CleanUpFailed is when it could not be deleted.
func CleanUpFailed(s *decide.Situation) { s.CleanUpAt = Noon }

// PlanMissing has looked whether the plan for the exports is stored.
func PlanMissing(missing bool) Option {
	return func(s *decide.Situation) { s.PlanMissing = &missing }
}

// ExportsPending is a job whose children were written by this project, with a plan for the exports.
func ExportsPending(s *decide.Situation) {
	s.Inst.Status.Conditions = append(s.Inst.Status.Conditions, v1alpha1.Condition{Type: v1alpha1.CreateExportsCondition, Status: v1alpha1.ConditionUnknown, Reason: string(reasons.ExportsPending)})
}

// InputsRead has read the inputs, which may be changed.
func InputsRead(change func(*decide.Inputs)) Option {
	return func(s *decide.Situation) {
		s.Inputs = &decide.Inputs{Context: &v1alpha1.Context{}}
		if change != nil {
			change(s.Inputs)
		}
	}
}

// Missing are imports of data that is not there.
func Missing(names ...string) []*dataflow.MissingError {
	var list []*dataflow.MissingError
	for _, name := range names {
		list = append(list, &dataflow.MissingError{Path: "spec.imports.data[0].dataRef", Import: name, Object: dataflow.Object{Kind: dataflow.KindDataObject, Name: "hash-of-" + name, Written: name, Namespace: "n"}})
	}
	return list
}

// Updating is a job that propagates what has changed below some Installations.
func Updating(unchanged bool, installations ...string) Option {
	return func(s *decide.Situation) {
		s.Inst.Status.DataUpdate = &v1alpha1.DataUpdate{Installations: installations, Unchanged: unchanged}
	}
}

// ImportsHashed are the imports of the last job and those of now.
func ImportsHashed(before, now string) Option {
	return func(s *decide.Situation) {
		s.Inst.Status.ImportsHash = before
		InputsRead(func(in *decide.Inputs) { in.Hash = now })(s)
	}
}
