package dependents

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Concerns reports whether the exports of a root are new to another one, which imports another
// value of them than in its last job. Its other imports may have changed as well; that alone starts
// nothing. A root that is not known to have used a value is concerned.
func (d Finder) Concerns(ctx context.Context, inst, dependent *v1alpha1.Installation, reader client.Reader) bool {
	if dependent.Status.ImportsHash == "" {
		// No job of it has used anything.
		return true
	}
	imports, known := d.Reader.Imports(ctx, dependent, reader)
	if !known {
		return true
	}
	if hash, err := dataflow.ImportsHash(imports); err == nil && hash == dependent.Status.ImportsHash {
		return false
	}
	copies, err := d.Reader.Copies(ctx, dependent)
	if err != nil {
		return true
	}
	return HasChanges(inst, dependent, imports, copies)
}

// HasChanges reports whether the imports of a root from another one differ from those that its last
// job has used: its copies show that.
func HasChanges(inst, dependent *v1alpha1.Installation, imports dataflow.Imports, copies dataflow.Exports) bool {
	exported := observe.ExportsOf(inst)
	for _, reference := range dataflow.References(dependent) {
		for _, object := range reference.Objects {
			if exported[observe.ObjectKey{Target: object.Kind == dataflow.KindTarget, Name: object.Name}] && !used(dependent, reference, imports, copies) {
				return true
			}
		}
	}
	return false
}

// Finder are the roots that may get a job because another one has exported something.
type Finder struct {
	Reader observe.Reader
	// Await returns an error if a cache is behind our own writes.
	Await func(context.Context, *v1alpha1.Installation) error
	// Request requests a job of a root on behalf of another one. A root that was deleted meanwhile
	// needs none.
	Request func(ctx context.Context, dependent, by *v1alpha1.Installation) error
}

// ConcernedBy returns the roots that the end of a job concerns.
func (d Finder) ConcernedBy(ctx context.Context, f siblings.Family, written dataflow.Exports) ([]v1alpha1.DependentToTrigger, error) {
	if f.Parent != nil || !predicates.Exporting(f.Inst) || siblings.HasNoImporters(f.Inst) {
		return nil, nil
	}
	family, err := d.Reader.Siblings(ctx, f.Inst)
	if err != nil {
		return nil, job.Wrap(err, published.HandlePhaseCompleting, reasons.ComputeDependents, "look for the Installations that import the exports")
	}
	reader := d.Reader.AfterWrites(observe.KeysOf(written))
	var concerned []v1alpha1.DependentToTrigger
	for _, dependent := range siblings.Importers(f.Inst, family, d.Reader.Relations.Get(f.Inst, family)) {
		if d.Concerns(ctx, f.Inst, dependent, reader) {
			concerned = append(concerned, v1alpha1.DependentToTrigger{Name: dependent.Name})
		}
	}
	return concerned, nil
}

// Trigger requests a job of a root on behalf of another one, which has exported the objects that the
// reader does not take from a cache. It returns false if that has to wait for a change of the root.
func (d Finder) Trigger(ctx context.Context, by *v1alpha1.Installation, name string, reader *observe.WrittenReader) (done bool, err error) {
	key := types.NamespacedName{Namespace: by.Namespace, Name: name}
	dependent := &v1alpha1.Installation{}
	switch err := d.Reader.Cached.Get(ctx, key, dependent); {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, err // the caller says what is done
	}
	if err := d.Await(ctx, dependent); err != nil {
		return false, err // the caller says what is done
	}
	verdict := Decide(dependent)
	if verdict == CompareFirst {
		verdict = TriggerNow
		if by.Generation == by.Status.ObservedGeneration && d.hasUsed(ctx, dependent, reader) || d.hasUsed(ctx, dependent, d.Reader.Live) {
			verdict = TriggerNever
		}
	}
	if verdict != TriggerNow {
		return verdict == TriggerNever, nil
	}
	log.FromContext(ctx).V(1).Info("request a job of a dependent", "installation", key)
	if err := d.Request(ctx, dependent, by); job.OutcomeOf(err) == job.Conflict {
		// A change of the dependent triggers a reconcile; if none comes, the next attempt is soon.
		return false, expectations.StaleCacheError{RetryAfter: reporter.ConflictBackoff}
	} else if err != nil {
		return true, err
	}
	return true, nil
}

// hasUsed reports whether the last job of a root has used the present values. Other objects in the
// cache may be stale: then the answer is no rather than wrong.
func (d Finder) hasUsed(ctx context.Context, dependent *v1alpha1.Installation, reader client.Reader) bool {
	hash, known := d.Reader.HashOfImports(ctx, dependent, reader)
	return known && hash == dependent.Status.ImportsHash
}

// Verdict is what to do about a root that a job concerns.
type Verdict int

const (
	// TriggerLater waits for a change of the root.
	TriggerLater Verdict = iota
	// TriggerNever means that nothing is left to do.
	TriggerNever
	// CompareFirst checks whether the root has used the new values already.
	CompareFirst
	// TriggerNow requests the job.
	TriggerNow
)

// Decide decides about a root that a job concerns.
func Decide(dependent *v1alpha1.Installation) Verdict {
	switch operation := v1alpha1.Operation(dependent.Annotations[v1alpha1.OperationAnnotation]); {
	case !predicates.Follows(dependent):
		return TriggerNever
	case operation == v1alpha1.ReconcileOperation || operation == v1alpha1.ForceReconcileOperation || operation == v1alpha1.DataUpdateOperation:
		// The next job reads the values of then.
		return TriggerNever
	case job.Unfinished(dependent.Status.JobID, dependent.Status.JobIDFinished), predicates.Admitted(dependent):
		return TriggerLater
	case operation == v1alpha1.InterruptOperation || operation == v1alpha1.AbortOperation:
		// The new value must not be lost.
		return TriggerLater
	}
	return CompareFirst
}
