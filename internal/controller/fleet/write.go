package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/fleet"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
	"go.landscaper.dev/internal/runtime/reporter"
)

// write carries out what was decided, and looks again.
func (a *attempt) write(ctx context.Context) (job.Wake, error) {
	var guard sync.Mutex
	var errs []error
	late := false
	parallelize.Do(len(a.out.Writes), func(i int) {
		one := a.out.Writes[i]
		err := a.carryOut(ctx, one)
		guard.Lock()
		defer guard.Unlock()
		switch {
		case err == nil:
			a.wrote(one)
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
			// The cache will show why.
			late = true
		default:
			errs = append(errs, fmt.Errorf("%s Installation %s: %w", one.Kind, one.Installation.Name, err))
		}
	})
	if len(errs) > 0 {
		return job.Wake{}, errors.Join(errs...)
	}
	if late {
		return a.out.Wake.By(a.r.Now().Add(reporter.ConflictBackoff)), nil
	}
	return job.Continues(), a.observe(ctx)
}

// carryOut makes one request. Its object becomes what the API server has answered.
func (a *attempt) carryOut(ctx context.Context, one fleet.Write) error {
	inst := one.Installation
	switch one.Kind {
	case fleet.Create:
		return a.r.Client.Create(ctx, inst)
	case fleet.Delete:
		return a.r.Client.Delete(ctx, inst, client.Preconditions{UID: &inst.UID, ResourceVersion: &inst.ResourceVersion})
	}
	return a.r.Client.Update(ctx, inst)
}

// wrote remembers a write, and says it.
func (a *attempt) wrote(one fleet.Write) {
	writes.WithLabelValues(string(one.Kind)).Inc()
	if one.Kind == fleet.Delete {
		a.known.deleting(one.Installation, a.r.Now())
	} else {
		a.known.wrote(one.Installation, a.r.Now())
	}
	inst := one.Installation
	switch one.Kind {
	case fleet.Adopt:
		a.r.emit(a.fleet, inst, corev1.EventTypeNormal, reasons.Adopted, "Installation "+inst.Name+" existed, and belongs to the Fleet now")
	case fleet.GoBack:
		a.r.emit(a.fleet, inst, corev1.EventTypeWarning, reasons.WentBack, "Installation "+inst.Name+" has version "+versionOf(inst)+" again")
	case fleet.Release:
		a.r.emit(a.fleet, inst, corev1.EventTypeNormal, reasons.Removed, "Installation "+inst.Name+" does not belong to the Fleet any more, and stays")
	case fleet.Delete:
		a.r.emit(a.fleet, inst, corev1.EventTypeNormal, reasons.Removed, "Installation "+inst.Name+" is deleted")
	}
}

func versionOf(inst *v1alpha1.Installation) string {
	if component := inst.Spec.ComponentDescriptor; component != nil && component.Reference != nil {
		return component.Reference.Version
	}
	return ""
}
