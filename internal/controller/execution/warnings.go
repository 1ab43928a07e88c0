package execution

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// noteEnd notes what outlives the job that ends.
func (s *snapshot) noteEnd(subject *reporter.Subject, now metav1.Time) {
	s.noteWarnings(subject, now)
	s.noteRemovals(subject, now)
	job.DropCondition(subject.Status.Conditions, deliveryv1alpha1.DeferredCondition)
}

// noteWarnings says in the status of an Execution whose job ends which items have warnings.
// It is stored with the end of the job.
func (s *snapshot) noteWarnings(subject *reporter.Subject, now metav1.Time) {
	var said []string
	for _, item := range s.items {
		for _, warning := range job.WarningsOf(fmt.Sprintf("deploy item %q: ", itemorder.NameOf(item)), item.Status.Conditions) {
			said = append(said, s.causeAt(itemorder.Member{Item: item}, warning).Message)
		}
	}
	job.NoteChildWarnings(subject.Status.Conditions, said, s.exec.Status.ObservedGeneration, now)
}
