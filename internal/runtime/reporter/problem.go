package reporter

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

const (
	// problemsName is the name of the object that lists failures of ours.
	problemsName = "critical-problems"
	// maxProblems is how many of them it lists.
	maxProblems = 10
)

// Problems records failures of Landscaper itself, where administrators find them.
type Problems struct {
	// Client writes to the cluster that the process runs for, Reader reads from its
	// API server: no cache is kept for an object that is hardly ever there.
	Client client.Client
	Reader client.Reader
	// Namespace is where the object is, PodName who writes.
	Namespace, PodName string
	// Now is the clock.
	Now func() time.Time
}

// Record adds a failure to the list. One that is in it already is only renewed, so
// that one mistake does not push the others out.
//
// Several processes and many workers write into one object, so that conflicts are usual
// here, and repeated at once.
func (p *Problems) Record(ctx context.Context, description string) error {
	err := retry.OnError(retry.DefaultRetry, func(err error) bool { return job.OutcomeOf(err) == job.Conflict }, func() error {
		return p.record(ctx, description)
	})
	if err != nil {
		return fmt.Errorf("record a critical problem in %s/%s: %w", p.Namespace, problemsName, err)
	}
	return nil
}

func (p *Problems) record(ctx context.Context, description string) error {
	problems := &v1alpha1.CriticalProblems{}
	err := p.Reader.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: problemsName}, problems)
	if client.IgnoreNotFound(err) != nil {
		return err // the caller tells what was done
	}
	problems.Spec.CriticalProblems = withProblem(problems.Spec.CriticalProblems, v1alpha1.CriticalProblem{
		PodName: p.PodName, CreationTime: metav1.NewTime(p.Now()), Description: description,
	})
	if apierrors.IsNotFound(err) {
		problems.Namespace, problems.Name = p.Namespace, problemsName
		return p.Client.Create(ctx, problems) // the caller tells what was done
	}
	return p.Client.Update(ctx, problems) // the caller tells what was done
}

// withProblem returns a list with a problem at its end, without older entries of the
// same, and within the limit.
func withProblem(list []v1alpha1.CriticalProblem, problem v1alpha1.CriticalProblem) []v1alpha1.CriticalProblem {
	list = slices.DeleteFunc(slices.Clone(list), func(p v1alpha1.CriticalProblem) bool { return p.Description == problem.Description })
	list = append(list, problem)
	return list[max(0, len(list)-maxProblems):]
}
