package installation

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/installation/observe"
	"go.landscaper.dev/internal/job"
)

// Roots that import what a job has changed get a job of their own. Who they are is
// stored with the end of the job and removed when they were asked, so that a crash in
// between asks them again, and never none.

// noteDependents notes at the end of a job which roots it concerns.
func (r *Reconciler) noteDependents(ctx context.Context, s *snapshot, written dataflow.Exports) error {
	if s.Parent != nil || !facts.Exporting(s.Inst) || s.Inst.Spec.Optimization != nil && s.Inst.Spec.Optimization.HasNoSiblingExports {
		s.Inst.Status.DependentsToTrigger = nil
		return nil
	}
	siblings, err := r.sight().Siblings(ctx, s.Inst)
	if err != nil {
		return job.Wrap(err, "handlePhaseCompleting", "ComputeDependents", "look for the Installations that import the exports")
	}
	reader := r.sight().AfterWrites(observe.KeysOf(written))
	var concerned []v1alpha1.DependentToTrigger
	for _, dependent := range kin.Importers(s.Inst, siblings, r.relations.Of(s.Inst, siblings)) {
		if r.concerns(ctx, s.Inst, dependent, reader) {
			concerned = append(concerned, v1alpha1.DependentToTrigger{Name: dependent.Name})
		}
	}
	s.Inst.Status.DependentsToTrigger = concerned
	return nil
}

// tell asks those for a job whom the last one concerns. Who is at work is asked later,
// if it has not used the new values by then. The job has ended well, so that a failure
// here is nothing but a reason to try again.
func (r *Reconciler) tell(ctx context.Context, s *snapshot) error {
	all := s.Inst.Status.DependentsToTrigger
	var left []v1alpha1.DependentToTrigger
	s.Told = []string{}
	reader := r.sight().AfterWrites(observe.ExportsOf(s.Inst))
	for _, dependent := range all {
		done, err := r.ask(ctx, s.Inst, dependent.Name, reader)
		if err != nil {
			r.tellAgain(ctx, s, fmt.Errorf("ask Installation %s for a job: %w", dependent.Name, err))
		}
		if !done || err != nil {
			left, s.Told = append(left, dependent), append(s.Told, dependent.Name)
		}
	}
	if len(left) == len(all) {
		return nil
	}
	s.Inst.Status.DependentsToTrigger = left
	err := r.reporter().Save(ctx, s.subject)
	if err == nil || job.OutcomeOf(err) == job.Conflict || errors.Is(err, job.ErrGone) {
		return err // says what was written
	}
	s.Inst.Status.DependentsToTrigger = all
	r.tellAgain(ctx, s, err)
	return nil
}

// tellAgain notes when dependents are asked again.
func (r *Reconciler) tellAgain(ctx context.Context, s *snapshot, cause error) {
	log.FromContext(ctx).Info("dependents are not asked for a job yet", "cause", cause.Error())
	s.TellAt = r.Now().Add(tidyPause)
}

// ask asks a root for a job on behalf of another one, which has exported what the reader
// does not take from a cache. It returns false if that has to wait for a change of it.
func (r *Reconciler) ask(ctx context.Context, by *v1alpha1.Installation, name string, reader *observe.Written) (done bool, err error) {
	key := types.NamespacedName{Namespace: by.Namespace, Name: name}
	dependent := &v1alpha1.Installation{}
	switch err := r.Client.Get(ctx, key, dependent); {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, err // the caller tells what is done
	case !r.written.Fresh(dependent):
		return false, nil
	}
	verdict := toAsk(dependent)
	if verdict == compareFirst {
		verdict = askNow
		if by.Generation == by.Status.ObservedGeneration && r.hasUsed(ctx, dependent, reader) || r.hasUsed(ctx, dependent, r.Reader) {
			verdict = askNever
		}
	}
	if verdict != askNow {
		return verdict == askNever, nil
	}
	log.FromContext(ctx).V(1).Info("ask a dependent for a job", "installation", key)
	err = r.patchMetadata(ctx, dependent, func(inst *v1alpha1.Installation) {
		inst.Annotations = merged(inst.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	})
	switch {
	case job.OutcomeOf(err) == job.Conflict:
		return false, nil
	case err == nil:
		r.reporter().Tell(job.Installation(dependent), corev1.EventTypeNormal, jobRequested, "a job is asked for because Installation "+by.Name+" has exported other values than the last job has imported")
	}
	return true, ignoreGone(err)
}

// hasUsed reports whether the last job of a root has used what is there now. What a cache
// shows besides the exports that it is about may be old: then the answer is no rather than
// wrong.
func (r *Reconciler) hasUsed(ctx context.Context, dependent *v1alpha1.Installation, reader client.Reader) bool {
	hash, known := r.sight().HashOfImports(ctx, dependent, reader)
	return known && hash == dependent.Status.ImportsHash
}

// verdict is what to do about a root that a job concerns.
type verdict int

const (
	// askLater waits for a change of the root.
	askLater verdict = iota
	// askNever means that there is nothing to do any more.
	askNever
	// compareFirst looks whether it has used the new values already.
	compareFirst
	// askNow asks it.
	askNow
)

// toAsk decides about a root that a job concerns.
func toAsk(dependent *v1alpha1.Installation) verdict {
	switch operation := v1alpha1.Operation(dependent.Annotations[v1alpha1.OperationAnnotation]); {
	case !facts.Follows(dependent):
		return askNever
	case operation == v1alpha1.ReconcileOperation || operation == v1alpha1.ForceReconcileOperation || operation == v1alpha1.DataUpdateOperation:
		// It will read what is there then.
		return askNever
	case job.Unfinished(dependent.Status.JobID, dependent.Status.JobIDFinished), facts.Admitted(dependent):
		return askLater
	case operation == v1alpha1.InterruptOperation || operation == v1alpha1.AbortOperation:
		// It must not be lost.
		return askLater
	}
	return compareFirst
}

func ignoreGone(err error) error {
	if err == job.ErrGone { //nolint:errorlint // it is returned as it is
		return nil
	}
	return err
}
