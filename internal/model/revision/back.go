package revision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Mode is who has gone back.
type Mode string

const (
	// Requested is by a user.
	Requested Mode = "Requested"
	// OnFailure is by the server.
	OnFailure Mode = "OnFailure"
)

// Back says that a generation has the specification of an earlier one again.
type Back struct {
	// From is the generation before, To the one whose specification it is.
	From, To int64
	Mode     Mode
}

// String is the value of the annotation.
func (b Back) String() string { return fmt.Sprintf("%d %d %s", b.From, b.To, b.Mode) }

// BackOf returns the way back that has led to the present generation; nil if it is a new one. The
// annotation and the specification are written at once, so that their generations follow each other.
func BackOf(root *v1alpha1.Installation) *Back {
	words := strings.Fields(root.Annotations[deliveryv1alpha1.WentBackAnnotation])
	if len(words) != 3 {
		return nil
	}
	from, fromErr := strconv.ParseInt(words[0], 10, 64)
	to, toErr := strconv.ParseInt(words[1], 10, 64)
	if fromErr != nil || toErr != nil || from != root.Generation-1 || to >= from || to < 1 {
		return nil
	}
	switch mode := Mode(words[2]); mode {
	case Requested, OnFailure:
		return &Back{From: from, To: to, Mode: mode}
	}
	return nil
}

// Earlier returns the revision to which a user goes back: that of a job, or without one that of the last
// job that has succeeded with another specification. The error says why it cannot be done.
func Earlier(root *v1alpha1.Installation, all []*deliveryv1alpha1.DeliveryRevision, record *v1alpha1.JobRecord) (*deliveryv1alpha1.DeliveryRevision, error) {
	k := keptOf(root, all)
	present, err := Of(root, nil)
	if err != nil {
		return nil, err
	}
	if record != nil {
		switch found := k.of(record.Generation); {
		case record.Phase == "":
			return nil, fmt.Errorf("job %s has not ended", record.JobID)
		case found == nil:
			return nil, fmt.Errorf("the specification of job %s, generation %d, is not kept", record.JobID, record.Generation)
		case found.Spec.Digest == present.Spec.Digest:
			return nil, fmt.Errorf("job %s has had the specification that the Installation has", record.JobID)
		default:
			return found, nil
		}
	}
	for _, revision := range k.revisions {
		if revision.Spec.Digest != present.Spec.Digest && k.succeeded(revision.Spec.Generation) {
			return revision, nil
		}
	}
	return nil, fmt.Errorf("no specification is kept with which a job has succeeded, other than the present one")
}

// MayGoBack reports whether the server may go back from the present specification, as far as that shows
// without its revisions: its last job has failed with it and was not stopped by a user, nothing has been asked
// for since, and it was not judged before.
func MayGoBack(root *v1alpha1.Installation) bool {
	status := &root.Status
	if root.DeletionTimestamp != nil || len(status.History) == 0 || status.InstallationPhase != v1alpha1.InstallationPhases.Failed ||
		job.Unfinished(status.JobID, status.JobIDFinished) || root.Annotations[v1alpha1.OperationAnnotation] != "" {
		return false
	}
	if root.Annotations[deliveryv1alpha1.StoppedAnnotation] == status.JobID {
		return false
	}
	last := &status.History[0]
	if last.JobID != status.JobID || last.Phase != v1alpha1.InstallationPhases.Failed || last.Generation != root.Generation || status.ObservedGeneration != root.Generation {
		return false
	}
	judged := job.GetCondition(status.Conditions, deliveryv1alpha1.RolledBackCondition)
	return judged == nil || judged.ObservedGeneration != root.Generation
}

// Verdict is what the server does after a job has failed.
type Verdict struct {
	// To is the revision to which it goes back; nil if it does not.
	To *deliveryv1alpha1.DeliveryRevision
	// Reason and Message say why, or why not.
	Reason  reasons.Reason
	Message string
}

// AfterFailure judges whether the server goes back from the present specification, whose job has failed.
// It never does so from one that has succeeded before, and once from any other: what it has gone back to
// has succeeded, and what it has gone back from is recorded with each later revision.
func AfterFailure(root *v1alpha1.Installation, all []*deliveryv1alpha1.DeliveryRevision) Verdict {
	stays := func(why string) Verdict {
		return Verdict{Reason: reasons.NotRolledBack, Message: "job " + root.Status.JobID + " has failed, and the specification stays: " + why}
	}
	k := keptOf(root, all)
	present := k.of(root.Generation)
	if present == nil {
		return stays("it is not kept, so that it is not known whether it is new")
	}
	if slices.Contains(present.Spec.WentBackFrom, present.Spec.Digest) {
		return stays("it was rolled back before")
	}
	for _, revision := range k.revisions {
		if revision.Spec.Digest == present.Spec.Digest && k.succeeded(revision.Spec.Generation) {
			return stays("a job has succeeded with it before")
		}
	}
	to, err := Earlier(root, all, nil)
	if err != nil {
		return stays(err.Error())
	}
	return Verdict{To: to, Reason: reasons.RolledBack, Message: fmt.Sprintf("job %s has failed with generation %d, so the Installation has the specification of generation %d again, the last one that has succeeded", root.Status.JobID, root.Generation, to.Spec.Generation)}
}
