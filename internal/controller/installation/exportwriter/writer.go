package exportwriter

import (
	"context"
	"fmt"
	"slices"

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

// WriteCopies writes the copies of imports for the children. Stored says that the job is stored. Two
// processes that lead one after the other may each have a job of their own until one of them stores it:
// the other one must not write its job into the copies any more, or they would count as stale. So it
// returns whether the job has to be stored first, because of a copy that another attempt has written.
func (h Writer) WriteCopies(ctx context.Context, f siblings.Family, copies dataflow.Exports, stored bool, failed onError) (jobFirst bool, err error) {
	own := func(kind string, live client.Object) (bool, error) {
		if !predicates.AsOwner(f.Inst).MayReplace(live) && !OwnsWriter(f, live) {
			return false, Foreign(kind, live)
		}
		return stored || !OfOtherAttempt(f.Inst, live), nil
	}
	return h.write(ctx, f.Inst, copies, own, failed)
}

// WriteExports writes what the Installation exports.
func (h Writer) WriteExports(ctx context.Context, f siblings.Family, exports dataflow.Exports, failed onError) error {
	take := func(kind string, live client.Object) (bool, error) {
		if inherits, err := h.mayTakeOver(ctx, f, live); inherits || err != nil {
			return inherits, err
		}
		return true, takeForExport(f.Inst, kind, live)
	}
	_, err := h.write(ctx, f.Inst, exports, take, failed)
	return err
}

// pendingWrite is an object that is to be written.
type pendingWrite struct {
	object client.Object
	reason reasons.Reason
	write  func() (result, error)
}

// result is what became of an object that is to be written.
type result int

const (
	// written: the object is there as wanted.
	written result = iota
	// taken: there is one that is to be changed.
	taken
	// held: there is one that must stay as it is for now.
	held
)

// write writes objects. It reports whether one of them is held; those that follow are not written
// then.
func (h Writer) write(ctx context.Context, inst *v1alpha1.Installation, all dataflow.Exports, take takeoverCheck, failed onError) (isHeld bool, err error) {
	secrets, others := make([]pendingWrite, 0, len(all.Secrets)), make([]pendingWrite, 0, len(all.DataObjects)+len(all.Targets))
	for _, secret := range all.Secrets {
		secrets = append(secrets, pendingWrite{secret, reasons.CreateDataObjects, func() (result, error) { return h.ensureValue(ctx, inst, secret, take) }})
	}
	for _, object := range all.DataObjects {
		others = append(others, pendingWrite{object, reasons.CreateDataObjects, func() (result, error) { return h.ensureData(ctx, inst, object, take) }})
	}
	for _, target := range all.Targets {
		others = append(others, pendingWrite{target, reasons.CreateTargets, func() (result, error) { return h.ensureTarget(ctx, inst, target, take) }})
	}
	// An object that refers to a Secret is written after it.
	if isHeld, err := h.writeParallel(secrets, failed); isHeld || err != nil {
		return isHeld, err
	}
	return h.writeParallel(others, failed)
}

// writeParallel writes objects that do not need each other.
func (h Writer) writeParallel(all []pendingWrite, failed onError) (bool, error) {
	results, errs := make([]result, len(all)), make([]error, len(all))
	_ = parallelize.Until(h.Parallelizer, len(all), func(i int) error {
		results[i], errs[i] = all[i].write()
		return errs[i]
	}) // each error is looked at
	for i, err := range errs {
		if err != nil {
			return false, failed(all[i].object, all[i].reason, err)
		}
	}
	return slices.Contains(results, held), nil
}

// ensureValue writes the Secret with the value of a DataObject, if it is not there yet.
func (h Writer) ensureValue(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, take takeoverCheck) (result, error) {
	live := &corev1.Secret{}
	found, err := h.createOrTake(ctx, take, "Secret", secret, live)
	if err != nil || found != taken {
		return found, err
	}
	if live.Type != secret.Type {
		return held, Foreign("Secret", live)
	}
	changed, change, err := desired.ValueCopy(inst, secret, live)
	if err != nil || change == desired.None {
		return written, err // the caller says what is stored
	}
	return written, h.Client.Update(ctx, changed) // the caller says what is stored
}

// ensureData writes a value that was imported or is exported, if it is not there yet.
func (h Writer) ensureData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject, take takeoverCheck) (result, error) {
	live := &v1alpha1.DataObject{}
	found, err := h.createOrTake(ctx, take, "DataObject", object, live)
	if err != nil || found != taken {
		return found, err
	}
	changed, change, err := desired.DataCopy(inst, object, live)
	if err != nil || change == desired.None {
		return written, err // the caller says what is stored
	}
	if name := valueobject.SecretOf(live); name != valueobject.SecretOf(changed) {
		if err := h.dropValue(ctx, inst, name); err != nil {
			return held, err
		}
	}
	return written, h.Client.Update(ctx, changed) // the caller says what is stored
}

// ensureTarget writes a Target that was imported or is exported, if it is not there
// yet.
func (h Writer) ensureTarget(ctx context.Context, inst *v1alpha1.Installation, target *v1alpha1.Target, take takeoverCheck) (result, error) {
	live := &v1alpha1.Target{}
	found, err := h.createOrTake(ctx, take, "Target", target, live)
	if err != nil || found != taken {
		return found, err
	}
	changed, change, err := desired.TargetCopy(inst, target, live)
	if err != nil || change == desired.None {
		return written, err // the caller says what is stored
	}
	return written, h.Client.Update(ctx, changed) // the caller says what is stored
}

// createOrTake creates the wanted object, or reads the one that an earlier job has written. An object
// that must not be taken over is not changed.
func (h Writer) createOrTake(ctx context.Context, take takeoverCheck, kind string, object, live client.Object) (result, error) {
	key := client.ObjectKeyFromObject(object)
	err := h.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		if err = h.Client.Create(ctx, object); !apierrors.IsAlreadyExists(err) {
			return written, err // the caller says what is stored
		}
		// The cache is behind.
		err = h.Reader.Get(ctx, key, live)
	}
	may := false
	if err == nil {
		may, err = take(kind, live)
	}
	switch {
	case err != nil:
		return held, err // the caller says what is stored
	case !may:
		return held, nil
	case live.GetDeletionTimestamp() != nil:
		return held, fmt.Errorf("%s %s is being deleted", kind, live.GetName())
	}
	return taken, nil
}
