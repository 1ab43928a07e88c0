package release

import (
	"context"
	"fmt"
	"slices"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// unreadyObject says that objects will not become ready by themselves.
type unreadyObject struct{ error }

// awaitReady waits until all objects are ready. Those that another client deletes meanwhile are
// created again.
func (o *Operation) awaitReady(ctx context.Context) ([]string, error) {
	for {
		// What was lost may still have to be created, also after an error.
		if waiting, err := o.apply(ctx); err != nil || len(waiting) > 0 {
			return waiting, err
		}
		unready, err := o.lookAtReadiness(ctx)
		if err != nil {
			return nil, err
		}
		isHopeless := slices.ContainsFunc(unready, func(object readiness.Unfinished) bool { return object.Hopeless })
		if isHopeless || o.late() || !o.lose(unready) {
			return o.unready(ctx, unready, isHopeless || o.late())
		}
	}
}

func (o *Operation) lookAtReadiness(ctx context.Context) ([]readiness.Unfinished, error) {
	if o.check == nil {
		o.check = readiness.NewCheck(o.store.Cluster, o.desiredState.Rule, o.job.Requeue)
		o.check.ReportDeleted()
		for _, result := range o.results {
			o.check.AddJudged(result.Mapping, result.stored, result.ready)
		}
	}
	return o.check.Look(ctx)
}

// unready says what is waited for, unless waiting does not help. Last says that the wait is
// over.
func (o *Operation) unready(ctx context.Context, unready []readiness.Unfinished, last bool) ([]string, error) {
	for i := range unready {
		if about := o.losses.About(unready[i].Named()); about != "" {
			unready[i].Why += "; " + about
		}
	}
	unready = o.causes.Explain(ctx, o.store.Cluster, unready, last)
	for _, object := range unready {
		if object.Hopeless {
			return nil, &unreadyObject{job.NewError(published.WaitForObjectsReady, reasons.ObjectFailed,
				fmt.Sprintf("%s will not become ready by itself: %s", apply.Describe(object.Kind, object.Namespace, object.Name), object.Why))}
		}
	}
	return readiness.Names(unready), nil
}

// lose notes which objects are missing and have to be created again now, and reports whether there
// are any. All are checked again then.
func (o *Operation) lose(unready []readiness.Unfinished) (again bool) {
	o.results = slices.DeleteFunc(o.results, func(result applied) bool {
		misses := func(found readiness.Unfinished) bool { return found.Misses(result.stored) }
		if !slices.ContainsFunc(unready, misses) || readiness.EndsByItself(result.stored) || !o.losses.Due(result.stored) {
			return false
		}
		delete(o.applied, keyOf(result.Object.Object))
		again = true
		return true
	})
	if again {
		o.check.Close()
		o.check = nil
	}
	return again
}
