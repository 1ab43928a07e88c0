package observe

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// ConfirmingReader reads from a cache; but whether something does not exist it asks the
// API server: users create objects and the Installation that needs them at once, and
// the caches fill in any order.
//
// For a subinstallation it also asks about what the cache shows from an earlier job: the
// parent and the siblings have written all that is imported before they said so, but
// their status may have come faster. It waits for the cache for a moment before: see Arrivals.
type ConfirmingReader struct {
	client.Reader
	Live client.Reader
	// scope and jobID are those of a subinstallation.
	scope, jobID string
	// trustCache trusts the cache that an object does not exist.
	trustCache bool
	// await returns an error as long as an object is to be waited for; nil waits for none.
	await func(object client.Object, key client.ObjectKey) error
}

// Get implements client.Reader.
func (c ConfirmingReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := c.Reader.Get(ctx, key, into, options...)
	if !c.isLate(into, err) {
		return err // the caller says what was read
	}
	if c.await != nil {
		if wait := c.await(into, key); wait != nil {
			// It may have arrived before the wait began.
			if err := c.Reader.Get(ctx, key, into, options...); !c.isLate(into, err) {
				return err // the caller says what was read
			}
			return wait
		}
	}
	return c.Live.Get(ctx, key, into, options...) // the caller says what was read
}

// isLate reports whether a cache may not show yet what there is.
func (c ConfirmingReader) isLate(object client.Object, err error) bool {
	return apierrors.IsNotFound(err) && !c.trustCache || err == nil && c.isBehind(object)
}

func (c ConfirmingReader) isBehind(object client.Object) bool {
	labels := object.GetLabels()
	return c.scope != "" && labels[v1alpha1.DataObjectContextLabel] == c.scope && labels[v1alpha1.DataObjectJobIDLabel] != c.jobID
}

// List implements client.Reader. A cache does not report missing elements.
func (c ConfirmingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	from := c.Reader
	if c.scope != "" {
		from = c.Live
	}
	return from.List(ctx, list, options...) // the caller says what was read
}

// Reading returns what reads the imports of an Installation.
func Reading(cached, live client.Reader, inst *v1alpha1.Installation) ConfirmingReader {
	return ConfirmingReader{Reader: cached, Live: live, scope: dataflow.Scope(inst), jobID: inst.Status.JobID}
}
