package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/render"
	"go.landscaper.dev/internal/seniority"
	"go.landscaper.dev/internal/sources"
)

// Reconciler drives Installations.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// Reader reads from the API server where a cache must not be mistaken.
	Reader client.Reader
	// Events tells users what happened.
	Events events.EventRecorder
	// Order lets older jobs go first.
	Order *seniority.Order
	// Now is the clock.
	Now func() time.Time
	// NewJobID makes the IDs of jobs.
	NewJobID func() string
	// Sources reads where component versions come from.
	Sources *sources.Reader
	// Components is what all readers of component versions have in common.
	Components *component.Shared
	// Verification says when signatures are checked.
	Verification VerificationPolicy
	// Functions returns those functions of templates that reach clusters, for the
	// Installations of a namespace.
	Functions func(namespace string) map[string]render.Function
	// Blueprints keeps blueprints that were read.
	Blueprints *blueprint.Cache

	written job.Written
	outages outages
}

// Reconcile brings an Installation as far as it comes without waiting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := r.observe(ctx, request)
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	for {
		next := decide(*s)
		if next == rest {
			if !job.Unfinished(s.inst.Status.JobID, s.inst.Status.JobIDFinished) {
				r.Order.Done(request.NamespacedName)
			}
			return ctrl.Result{}, nil
		}
		log.FromContext(ctx).V(1).Info("step", "step", next, "phase", s.inst.Status.InstallationPhase, "job", s.inst.Status.JobID)
		err := r.apply(ctx, s, next)
		if errors.Is(err, errGone) || job.IsShutdown(ctx, err) {
			return ctrl.Result{}, nil
		}
		if err != nil {
			return r.report(ctx, s, next, err)
		}
	}
}

// errGone says that the object has disappeared while we worked on it.
var errGone = errors.New("the object is gone")

// observe reads the snapshot. It returns none if the object is gone, or if the
// cache is behind what we wrote ourselves; the newer version wakes us again.
func (r *Reconciler) observe(ctx context.Context, request ctrl.Request) (*snapshot, error) {
	inst := &v1alpha1.Installation{}
	if err := r.Client.Get(ctx, request.NamespacedName, inst); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !r.written.Fresh(inst) {
		return nil, nil
	}
	s := &snapshot{inst: inst.DeepCopy()}
	exec := &v1alpha1.Execution{}
	switch err := r.Client.Get(ctx, request.NamespacedName, exec); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, fmt.Errorf("read Execution %s: %w", request, err)
	case owns(inst, exec):
		if !r.written.Fresh(exec) {
			return nil, nil
		}
		s.exec = exec
	}
	return s, nil
}

// owns reports whether an Execution belongs to an Installation, and not to one of
// the same name that was deleted before.
func owns(inst *v1alpha1.Installation, exec *v1alpha1.Execution) bool {
	return slices.ContainsFunc(exec.OwnerReferences, ownedBy(inst))
}

func isOurGroup(apiVersion string) bool {
	return strings.HasPrefix(apiVersion, v1alpha1.GroupName+"/")
}

// apply carries a step out.
func (r *Reconciler) apply(ctx context.Context, s *snapshot, next step) error {
	switch next {
	case admit:
		return r.admit(ctx, s)
	case accept:
		return r.accept(ctx, s)
	case dismiss:
		return r.dismiss(ctx, s)
	case interrupt:
		return r.interrupt(ctx, s)
	case begin:
		return r.begin(ctx, s)
	case bringUp:
		return r.bringUp(ctx, s)
	case complete:
		return r.complete(ctx, s)
	case fail:
		return job.Terminally(failedChild(s))
	case abandon:
		return job.Terminally(job.NewError("handlePhaseInit", "Deleted", "the Installation is being deleted"))
	case remove:
		return r.remove(ctx, s)
	case failDelete:
		return job.Terminally(job.Wrap(childError(s), "handlePhaseDeleting", "UndeletedSubobjects", "not all sub objects were deleted"))
	case release:
		return r.release(ctx, s)
	}
	return fmt.Errorf("there is no way to carry out step %q", next)
}
