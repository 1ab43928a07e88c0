package testbuilders

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// DropsSubs notes in the status which subinstallations the job does not want any more.
func DropsSubs(names ...string) Option {
	return func(s *decide.Situation) {
		if s.Inst.Status.SubInstCache == nil {
			s.Inst.Status.SubInstCache = &v1alpha1.SubInstCache{}
		}
		s.Inst.Status.SubInstCache.OrphanedSubs = names
	}
}

// Kept has kept something until the removal round.
func Kept(s *decide.Situation) { keep(&s.Inst.Status.Conditions, reasons.Kept) }

// Removing has begun the removal round of its job.
func Removing(s *decide.Situation) { keep(&s.Inst.Status.Conditions, reasons.Removing) }

// ParentRemoving has a parent that has begun the removal round of its job.
func ParentRemoving(s *decide.Situation) { keep(&s.Parent.Status.Conditions, reasons.Removing) }

// SubKept lets the last subinstallation have kept something.
func SubKept(s *decide.Situation) { keep(&s.Subs[len(s.Subs)-1].Status.Conditions, reasons.Kept) }

// ItemsKept lets the Execution have kept something.
func ItemsKept(s *decide.Situation) { keep(&s.Exec.Status.Conditions, reasons.Kept) }

// ParentDropsSubs has a parent that does not want some subinstallations any more.
func ParentDropsSubs(names ...string) Option {
	return func(s *decide.Situation) {
		s.Parent.Status.SubInstCache = &v1alpha1.SubInstCache{OrphanedSubs: names}
	}
}

func keep(conditions *[]v1alpha1.Condition, reason reasons.Reason) {
	*conditions = append(*conditions, v1alpha1.Condition{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reason), Message: "kept"})
}
