package installation

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// unaskedJobs is why a job begins without a request.
var unaskedJobs = map[v1alpha1.JobTrigger]string{
	v1alpha1.TriggeredByChange:   "the specification is new or has changed",
	v1alpha1.TriggeredBySchedule: "it is time for it by spec.automaticReconcile",
	v1alpha1.TriggeredByImports:  "something that is imported has changed",
	v1alpha1.TriggeredByExports:  "something that its deploy items have exported has changed",
}

// withoutFirst returns what a list has after the entries that another begins with.
func withoutFirst(list, first []string) []string { return list[min(len(first), len(list)):] }

// noteEnd notes what outlives the job that ends.
func (s *snapshot) noteEnd(now metav1.Time) {
	s.noteWarnings(now)
	s.noteRemovals(now)
}

// noteWarnings says in the status of an Installation whose job ends which objects below have
// warnings. It is stored with the end of the job.
func (s *snapshot) noteWarnings(now metav1.Time) {
	var said []string
	if s.Exec != nil {
		said = job.WarningsOf("", s.Exec.Status.Conditions)
	}
	for _, sub := range siblings.WithoutHeld(s.Family) {
		name := cmp.Or(sub.Annotations[v1alpha1.SubinstallationNameAnnotation], sub.Name)
		said = append(said, job.WarningsOf(fmt.Sprintf("subinstallation %q: ", name), sub.Status.Conditions)...)
	}
	job.NoteChildWarnings(s.subject.Status.Conditions, said, s.Inst.Status.ObservedGeneration, now)
}
