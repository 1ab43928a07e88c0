package reporter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
)

// TestWithProblem: one mistake does not push the others out of the list.
func TestWithProblem(t *testing.T) {
	var list []v1alpha1.CriticalProblem
	for _, description := range strings.Split("a b a c d e f g h i j k", " ") {
		list = withProblem(list, v1alpha1.CriticalProblem{Description: description})
	}
	var got string
	for _, problem := range list {
		got += problem.Description
	}
	if got != "acdefghijk"[0:10] {
		t.Errorf("got %s", got)
	}
}

// TestProblemsOfTwo: two processes that record at once lose nothing.
func TestProblemsOfTwo(t *testing.T) {
	d := newBench(t)
	for _, description := range []string{"a", "b"} {
		if err := d.Problems.Record(t.Context(), description); err != nil {
			t.Fatal(err)
		}
	}
	problems := &v1alpha1.CriticalProblems{}
	if err := d.Client.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: "critical-problems"}, problems); err != nil || len(problems.Spec.CriticalProblems) != 2 {
		t.Errorf("%+v, %v", problems, err)
	}
}

// TestProblemsUnderPressure: a record is tried again when another writer was faster, and
// its error says where it wanted to write when the API server refuses.
func TestProblemsUnderPressure(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("criticalproblems"), problemsName, errors.New("raced"))
	for _, test := range []struct {
		reason string
		errs   []error
		recorded,
		fails bool
	}{
		{"a record without a conflict", nil, true, false},
		{"a record after two conflicts", []error{conflict, conflict}, true, false},
		{"a record that is forbidden", []error{apierrors.NewForbidden(v1alpha1.Resource("criticalproblems"), problemsName, errors.New("no"))}, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			left := test.errs
			refuse := func() error {
				if len(left) == 0 {
					return nil
				}
				next := left[0]
				left = left[1:]
				return next
			}
			api := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if err := refuse(); err != nil {
						return err
					}
					return c.Create(ctx, object, options...)
				},
			}).Build()
			problems := &Problems{Client: api, Reader: api, Namespace: "landscaper", PodName: "pod", Now: func() time.Time { return noon }}
			err := problems.Record(t.Context(), "panicked")
			if (err != nil) != test.fails || (err != nil && !slices.Contains([]string{
				`record a critical problem in landscaper/critical-problems: criticalproblems.landscaper.gardener.cloud "critical-problems" is forbidden: no`,
			}, err.Error())) {
				t.Error(err)
			}
			stored := &v1alpha1.CriticalProblems{}
			err = api.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: problemsName}, stored)
			if (err == nil && len(stored.Spec.CriticalProblems) == 1) != test.recorded {
				t.Errorf("%+v, %v", stored.Spec, err)
			}
		})
	}
}
