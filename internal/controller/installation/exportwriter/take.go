package exportwriter

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
)

// takeoverCheck reports whether to write over an object that is there, now. It returns an error if that
// must not be done at all. The kind is for messages.
type takeoverCheck func(kind string, live client.Object) (bool, error)

// mayTakeOver reports whether a subinstallation may overwrite an object that a sibling or its parent
// has left: they exported the name in an earlier job, and in this one the subinstallation is the
// only one that does.
func (h Writer) mayTakeOver(ctx context.Context, f siblings.Family, live client.Object) (bool, error) {
	reference, ok := job.OwnerOf(live, "Installation")
	if f.Parent == nil || !ok || live.GetLabels()[v1alpha1.DataObjectJobIDLabel] == f.Inst.Status.JobID {
		return false, nil
	}
	owner, err := ancestor.Parent(ctx, h.Client, f.Inst.Namespace, reference)
	if err != nil || owner == nil {
		return err == nil, err // names the object
	}
	return owner.UID == f.Parent.UID || predicates.AsOwner(f.Parent).Owns(owner), nil
}

// OfOtherAttempt reports whether an object is of a job that is neither that of an Installation nor the
// one before it.
func OfOtherAttempt(inst *v1alpha1.Installation, live client.Object) bool {
	jobID := live.GetLabels()[v1alpha1.DataObjectJobIDLabel]
	return jobID != "" && jobID != inst.Status.JobID && jobID != job.BaseOf(inst.Status.JobIDFinished)
}

// takeForExport refuses to overwrite an object of another owner with an export: of another
// Installation, or of a controller that would write it back. An object without an owner is taken
// over.
func takeForExport(inst *v1alpha1.Installation, kind string, live client.Object) error {
	if predicates.AsOwner(inst).MayReplace(live) {
		return nil
	}
	if err := dataflow.CheckOwner(inst, live.GetName(), live); err != nil {
		return job.AsTerminal(err)
	}
	if owner := metav1.GetControllerOf(live); owner != nil {
		return job.AsTerminal(fmt.Errorf("%s %s belongs to %s %s and is not overwritten: choose another name in spec.exports", kind, live.GetName(), owner.Kind, owner.Name))
	}
	return nil
}

// OwnsWriter reports whether an object was exported by a subinstallation, in an earlier
// job that did not import it.
func OwnsWriter(f siblings.Family, live client.Object) bool {
	return slices.ContainsFunc(f.Subs, func(sub *v1alpha1.Installation) bool { return predicates.AsOwner(sub).Owns(live) })
}

// Foreign is the error about an object that has the name of ours.
func Foreign(kind string, object client.Object) error {
	return job.AsTerminal(fmt.Errorf("%s %s does not belong to this Installation and is not overwritten: delete it, or choose another name for the Installation", kind, object.GetName()))
}
