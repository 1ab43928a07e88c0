package release

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// late reports whether the time for the operation is over. What undoes it has the rest
// of the job's time.
func (o *Operation) late() bool {
	return o.job.Expired() || (!o.undoing && o.limit.Reached())
}

// tooLate says what was waited for when the time was over.
func (o *Operation) tooLate(waiting []string) error {
	return job.NewError(o.operation(), reasons.ProgressingTimeout,
		fmt.Sprintf("timeout at: %q: it waited for %s", "helm deployer: before "+o.stage()+" release", strings.Join(waiting[:min(len(waiting), 3)], ", ")), v1alpha1.ErrorTimeout)
}

// operation names what is done as upstream names it.
func (o *Operation) operation() string {
	switch o.doing {
	case string(Upgrade), cleanup:
		return published.UpgradeHelmRelease
	case uninstall:
		return published.DeleteHelmRelease
	}
	return published.InstallHelmRelease
}

// ends reports whether an error ends the operation. What may go better next time lets
// the step be taken again, as long as there is time.
func (o *Operation) ends(err error) bool {
	var failed *failedHook
	var foreign *foreignObject
	var hopeless *unreadyObject
	switch {
	case errors.As(err, &failed), errors.As(err, &foreign), errors.As(err, &hopeless), job.OutcomeOf(err) == job.Terminal:
		return true
	case cluster.IsUnserved(err):
		// The next operation looks up the places of its objects again.
		return true
	case apierrors.IsUnauthorized(err):
		return false
	}
	return job.IsRefusal(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsAlreadyExists(err) || o.job.Expired()
}

// fail ends the operation, after it is undone where that is asked for.
func (o *Operation) fail(err error) {
	undo := !o.undoing && o.stored && o.desiredState.Atomic && o.doing != uninstall
	if o.failure == nil {
		o.failure = job.Wrap(err, o.operation(), o.reason(), fmt.Sprintf("%s release %s/%s", o.doing, o.desiredState.Namespace, o.desiredState.Name))
	} else {
		o.failure = fmt.Errorf("%w (and it could not be undone: %s)", o.failure, err.Error())
	}
	var steps []step
	if o.stored {
		steps = append(steps, o.recordFailure(err))
	}
	switch {
	case undo && o.base == nil:
		steps = append(steps, o.undoInstall)
	case undo:
		steps = append(steps, o.undoUpgrade)
	}
	o.undoing, o.stored, o.steps, o.at = true, false, steps, 0
}

func (o *Operation) reason() reasons.Reason {
	switch o.doing {
	case string(Upgrade), cleanup:
		return reasons.Update
	case uninstall:
		return reasons.Uninstall
	}
	return reasons.Install
}
