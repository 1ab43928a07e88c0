package exportwriter

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Writer writes what an Installation holds besides its children, copies of what it imports
// and what it exports, and deletes it when it is no longer held.
//
// Values that come from Secrets are copied into Secrets. The DataObject of such a copy
// refers to its Secret, see valueobject.SecretOf.
type Writer struct {
	Client client.Client
	// Reader reads from the API server where a cache is behind.
	Reader client.Reader
	// Parallelizer makes the requests for several objects; nil makes some of them at the same time.
	Parallelizer parallelize.Parallelizer
}

// onError returns the error of the job if an object could not be written.
type onError func(object client.Object, reason reasons.Reason, err error) error

// ErrJobNotStored is the error about an object that another attempt has written in another job, a copy of
// an import or the plan: the job has to be stored before it writes over the object.
var ErrJobNotStored = errors.New("the job is not stored, and another attempt has written an object of it in another job")

// WriteCopies writes the copies of imports for the children. Stored says that the job is stored. Two
// processes that lead one after the other may each have a job of their own until one of them stores it:
// the other one must not write its job into the copies any more, or they would count as stale.
func (h Writer) WriteCopies(ctx context.Context, f siblings.Family, copies dataflow.Exports, stored bool, failed onError) error {
	own := func(kind string, live client.Object) error {
		if !predicates.AsOwner(f.Inst).MayReplace(live) && !OwnsWriter(f, live) {
			return Foreign(kind, live)
		}
		if !stored && OfOtherAttempt(f.Inst, live) {
			return ErrJobNotStored
		}
		return nil
	}
	return h.write(ctx, f.Inst, copies, own, failed)
}

// WriteExports writes what the Installation exports.
func (h Writer) WriteExports(ctx context.Context, f siblings.Family, exports dataflow.Exports, failed onError) error {
	take := func(kind string, live client.Object) error {
		if inherits, err := h.mayTakeOver(ctx, f, live); inherits || err != nil {
			return err
		}
		return takeForExport(f.Inst, kind, live)
	}
	return h.write(ctx, f.Inst, exports, take, failed)
}

// pendingWrite is an object that is to be written.
type pendingWrite struct {
	object client.Object
	reason reasons.Reason
	write  func() error
}

// write writes objects.
func (h Writer) write(ctx context.Context, inst *v1alpha1.Installation, all dataflow.Exports, take takeoverCheck, failed onError) error {
	secrets, others := make([]pendingWrite, 0, len(all.Secrets)), make([]pendingWrite, 0, len(all.DataObjects)+len(all.Targets))
	for _, secret := range all.Secrets {
		secrets = append(secrets, pendingWrite{secret, reasons.CreateDataObjects, func() error { return h.ensureValue(ctx, inst, secret, take) }})
	}
	for _, object := range all.DataObjects {
		others = append(others, pendingWrite{object, reasons.CreateDataObjects, func() error { return h.ensureData(ctx, inst, object, take) }})
	}
	for _, target := range all.Targets {
		others = append(others, pendingWrite{target, reasons.CreateTargets, func() error { return h.ensureTarget(ctx, inst, target, take) }})
	}
	// An object that refers to a Secret is written after it.
	if err := h.writeParallel(secrets, failed); err != nil {
		return err
	}
	return h.writeParallel(others, failed)
}

// writeParallel writes objects that do not need each other.
func (h Writer) writeParallel(all []pendingWrite, failed onError) error {
	errs := make([]error, len(all))
	_ = parallelize.Until(h.Parallelizer, len(all), func(i int) error {
		errs[i] = all[i].write()
		return errs[i]
	}) // each error is looked at
	for i, err := range errs {
		if err != nil {
			return failed(all[i].object, all[i].reason, err)
		}
	}
	return nil
}

// ensureValue writes the Secret with the value of a DataObject, if it is not there yet.
func (h Writer) ensureValue(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, take takeoverCheck) error {
	live := &corev1.Secret{}
	exists, err := h.createOrTake(ctx, take, "Secret", secret, live)
	if err != nil || !exists {
		return err
	}
	if live.Type != secret.Type {
		return Foreign("Secret", live)
	}
	changed, change, err := desired.ValueCopy(inst, secret, live)
	if err != nil || change == desired.None {
		return err // the caller says what is stored
	}
	return h.Client.Update(ctx, changed) // the caller says what is stored
}

// ensureData writes a value that was imported or is exported, if it is not there yet.
func (h Writer) ensureData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject, take takeoverCheck) error {
	live := &v1alpha1.DataObject{}
	exists, err := h.createOrTake(ctx, take, "DataObject", object, live)
	if err != nil || !exists {
		return err
	}
	changed, change, err := desired.DataCopy(inst, object, live)
	if err != nil || change == desired.None {
		return err // the caller says what is stored
	}
	if name := valueobject.SecretOf(live); name != valueobject.SecretOf(changed) {
		if err := h.dropValue(ctx, inst, name); err != nil {
			return err
		}
	}
	return h.Client.Update(ctx, changed) // the caller says what is stored
}

// ensureTarget writes a Target that was imported or is exported, if it is not there
// yet.
func (h Writer) ensureTarget(ctx context.Context, inst *v1alpha1.Installation, target *v1alpha1.Target, take takeoverCheck) error {
	live := &v1alpha1.Target{}
	exists, err := h.createOrTake(ctx, take, "Target", target, live)
	if err != nil || !exists {
		return err
	}
	changed, change, err := desired.TargetCopy(inst, target, live)
	if err != nil || change == desired.None {
		return err // the caller says what is stored
	}
	return h.Client.Update(ctx, changed) // the caller says what is stored
}

// createOrTake creates the wanted object, or reads the one that an earlier job has written; it
// returns whether there was one. An object that must not be taken over is not changed.
func (h Writer) createOrTake(ctx context.Context, take takeoverCheck, kind string, object, live client.Object) (bool, error) {
	key := client.ObjectKeyFromObject(object)
	err := h.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		if err = h.Client.Create(ctx, object); !apierrors.IsAlreadyExists(err) {
			return false, err // the caller says what is stored
		}
		// The cache is behind.
		err = h.Reader.Get(ctx, key, live)
	}
	if err == nil {
		err = take(kind, live)
	}
	switch {
	case err != nil:
		return false, err // the caller says what is stored
	case live.GetDeletionTimestamp() != nil:
		return false, fmt.Errorf("%s %s is being deleted", kind, live.GetName())
	}
	return true, nil
}
