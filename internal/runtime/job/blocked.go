package job

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// underWay is what a job says that nothing keeps from going on.
const underWay = "the job is under way"

const (
	// Settling is how long a child has to be in its phase before its parent shows what the
	// child waits for: most waits are over by then, and cost no write of the parent.
	Settling = 5 * time.Second
	// longestSettling bounds the pause between two messages about children.
	longestSettling = time.Minute
)

// Removed says of children that the job has written and that do not exist any more what to
// do about that.
func Removed(children string) string {
	return children + " was deleted by another client during the job: start another job with the annotation " + v1alpha1.OperationAnnotation + ": reconcile"
}

// Obstacle returns what keeps a job from going on, as its conditions say it: a wait, another
// attempt, or what a child says. It is empty if nothing does.
func Obstacle(conditions []v1alpha1.Condition) string {
	found := GetCondition(conditions, v1alpha1.ReconcilingCondition)
	if !reasons.IsWait(found) && !reasons.IsRetry(found) && !reasons.IsBlocked(found) || found.Status != v1alpha1.ConditionTrue {
		return ""
	}
	return found.Message
}

// SaysWait reports whether the last error of an object says that something has to happen first.
func SaysWait(last *v1alpha1.Error) bool {
	return last != nil && slices.Contains(last.Codes, v1alpha1.ErrorUnfinished)
}

// IsBlocked reports whether the conditions of a job say what its children wait for.
func IsBlocked(conditions []v1alpha1.Condition) bool {
	return reasons.IsBlocked(GetCondition(conditions, v1alpha1.ReconcilingCondition))
}

// SettledAt is when a state that began at a time has lasted long enough to be shown by the
// parent.
func SettledAt(since *metav1.Time) time.Time {
	if since == nil {
		return time.Time{}
	}
	return since.Add(Settling)
}

// Showing is what a job shows about its children.
type Showing struct {
	conditions *[]v1alpha1.Condition
	phase      string
	generation int64
	since      *metav1.Time
}

// ShowingOf returns what a job shows about its children. Since is when it has entered its
// phase.
func ShowingOf(conditions *[]v1alpha1.Condition, phase string, generation int64, since *metav1.Time) Showing {
	return Showing{conditions, phase, generation, since}
}

// Due reports whether a message about the children is to be written now, and else when to
// look again; zero if there is nothing to write.
//
// Writes are bounded. The first one comes when the job has been in its phase for Settling;
// each pause after it is half as long as the time before, and a minute at most: a job of ten
// minutes writes 16 times at most, whatever its children do, and one that is not blocked
// never. Once it has been in its phase for 10 seconds, what it shows is never older than a third of
// that time.
func (s Showing) Due(message string, now time.Time) (due bool, again time.Time) {
	if s.Shown() == message {
		return false, time.Time{}
	}
	next := s.next()
	if next.After(now) {
		return false, next
	}
	return true, time.Time{}
}

// Shown is the message about the children.
func (s Showing) Shown() string {
	if !IsBlocked(*s.conditions) {
		return ""
	}
	return Obstacle(*s.conditions)
}

// next is when a message may be written. That of the condition Ready was written last.
func (s Showing) next() time.Time {
	if s.since == nil {
		return time.Time{}
	}
	begin := s.since.Time
	last := begin
	if ready := GetCondition(*s.conditions, v1alpha1.ReadyCondition); ready != nil && ready.LastUpdateTime.After(begin) {
		last = ready.LastUpdateTime.Time
	}
	return last.Add(min(max(last.Sub(begin)/2, Settling), longestSettling))
}

// Write writes a message about the children into the conditions; an empty one says that
// the job is under way.
func (s Showing) Write(message string, now metav1.Time) {
	reason := string(reasons.ChildrenBlocked)
	if message == "" {
		message, reason = underWay, s.phase
	}
	message = truncate(message)
	SetCondition(s.conditions, v1alpha1.Condition{
		Type: v1alpha1.ReadyCondition, Status: v1alpha1.ConditionFalse, Reason: s.phase, Message: message, ObservedGeneration: s.generation,
	}, now)
	SetCondition(s.conditions, v1alpha1.Condition{
		Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: s.generation,
	}, now)
}
