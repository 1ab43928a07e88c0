package deployer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/exportwatch"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
)

// propagation is all that the next step for changed exports depends on.
type propagation struct {
	exportwatch.Changed
	// lastJob is when the last job of the item began.
	lastJob time.Time
	// tree says that the Installations above the item were read: above are they, the root last, and
	// busy says that one of them, or the Execution, has a job already.
	tree  bool
	above []*v1alpha1.Installation
	busy  bool
	// requested says that this attempt has asked for a job of the root.
	requested bool
	now       time.Time
}

// propagationStep is what to do next about changed exports.
type propagationStep string

const (
	// restPropagation means that there is nothing to do until the values change, or for a time.
	restPropagation propagationStep = engine.Rest
	// readTree reads the Installations above the item.
	readTree propagationStep = "read the tree"
	// dropChange forgets a change of an item that is about to be deleted.
	dropChange propagationStep = "drop the change"
	// deployAgain starts a job of an item without a tree.
	deployAgain propagationStep = "deploy again"
	// storeValues stores the values, with a note that they are to be propagated.
	storeValues propagationStep = "store the values"
	// requestPropagation asks for a job of the root.
	requestPropagation propagationStep = "request propagation"
	// completePropagation removes the note.
	completePropagation propagationStep = "complete propagation"
)

// decidePropagation says how a changed value gets to all that import it: by a job of the tree of the
// item, which deploys only what imports the value, or, for an item without a tree, by a job of the item.
//
// The values are stored before the job is requested, with a note that the request is pending: so neither
// is lost when this process ends.
func decidePropagation(p propagation) (propagationStep, job.Wake) {
	if len(p.Names) == 0 {
		return restPropagation, job.Settled() // a change enqueues the item
	}
	if !p.lastJob.IsZero() && p.now.Before(p.lastJob.Add(exportwatch.PropagationInterval)) {
		return restPropagation, job.Wake{}.By(p.lastJob.Add(exportwatch.PropagationInterval))
	}
	if pause := p.Backoff.Left(p.now); pause > 0 {
		return restPropagation, job.Wake{}.By(p.now.Add(pause))
	}
	later := job.Wake{}.By(p.now.Add(exportwatch.PropagationInterval))
	switch {
	case !p.tree:
		return readTree, job.Continues()
	case p.busy:
		return restPropagation, later
	case slices.ContainsFunc(p.above, func(inst *v1alpha1.Installation) bool { return inst.DeletionTimestamp != nil }):
		// The item is deleted, too, however long that takes.
		return dropChange, later
	case len(p.above) == 0:
		return deployAgain, later
	case !p.Stored:
		return storeValues, job.Continues()
	case p.Settles.After(p.now):
		return restPropagation, job.Wake{}.By(p.Settles)
	case !p.requested && !exportwatch.Propagated(p.above, p.After):
		return requestPropagation, job.Continues()
	default:
		return completePropagation, later
	}
}

// propagationAttempt propagates what has changed of the exports of a finished item.
type propagationAttempt struct {
	r    *reconciler
	seen *snapshot
	item *Item
	held *exportWatch
	now  propagation
	next propagationStep
	wake job.Wake
}

// Observe implements engine.Attempt.
func (a *propagationAttempt) Observe(ctx context.Context) (job.Wake, error) {
	r, seen := a.r, a.seen
	a.item = &Item{DeployItem: seen.item.DeepCopy(), Target: seen.target, reconciler: r, run: &run{}, key: keyOf(seen.item), stored: seen.item}
	known := r.memory.of(seen.item)
	if known.exports == nil || known.exports.jobID != seen.item.Status.JobID {
		repeating, _ := r.options.Deployer.(Repeating) // only then an item has an export watch
		watcher, err := repeating.ExportWatcher(ctx, a.item)
		if err != nil {
			return job.Wake{}, err
		}
		r.memory.dropExportWatch(a.item.key)
		known.exports = &exportWatch{jobID: seen.item.Status.JobID, watcher: watcher}
	}
	a.held = known.exports
	values, err := a.held.watcher.Values(ctx)
	if err != nil {
		return job.Wake{}, err
	}
	if values != nil {
		since := a.held.Since
		if a.held.Changed, err = a.item.differs(ctx, values); err != nil {
			return job.Wake{}, err
		}
		if len(a.held.Names) > 0 {
			a.held.Since = since
		}
	}
	a.now = propagation{now: seen.now}
	if last := seen.item.Status.LastReconcileTime; last != nil {
		a.now.lastJob = last.Time
	}
	return job.Continues(), nil
}

// Decide implements engine.Attempt.
func (a *propagationAttempt) Decide(context.Context) (string, job.Wake) {
	a.now.Changed = a.held.Changed
	a.next, a.wake = decidePropagation(a.now)
	return string(a.next), a.wake
}

// Apply implements engine.Attempt.
func (a *propagationAttempt) Apply(ctx context.Context) (wake job.Wake, err error) {
	changed, past := &a.held.Changed, a.held.Backoff.After(a.now.now)
	switch a.next {
	case readTree:
		a.now.tree = true
		a.now.above, a.now.busy, err = a.r.ancestors(ctx, a.seen.item)
	case dropChange:
		changed.Names, changed.Now = nil, nil
	case deployAgain:
		err = a.deployAgain(ctx, past)
	case storeValues:
		after := a.now.above[len(a.now.above)-1].Status.JobID
		err = a.item.noteExport(ctx, changed.Now, map[string]string{toPropagateAnnotation: strings.Join(changed.Names, ","), propagateAfterAnnotation: after})
		if err == nil {
			changed.Settle(after, a.now.now)
		}
	case requestPropagation:
		a.now.requested = true
		err = a.r.requestUpdate(ctx, a.now.above, fmt.Sprintf("DeployItem %s/%s: %s", a.item.Namespace, a.item.Name, a.what()))
	case completePropagation:
		a.r.reportPropagated(a.seen, a.what(), past)
		changed.Done(past)
		err = a.item.noteExport(ctx, nil, map[string]string{toPropagateAnnotation: "", propagateAfterAnnotation: "", changesAnnotation: past.String()})
	}
	return a.wake, err
}

// deployAgain starts a job of the item.
func (a *propagationAttempt) deployAgain(ctx context.Context, past exportwatch.ChangeBackoff) error {
	if err := a.item.noteExport(ctx, nil, map[string]string{changesAnnotation: past.String()}); err != nil {
		return err
	}
	a.r.reportPropagated(a.seen, a.what(), past)
	own := *a.seen
	_, err := a.r.attempt(ctx, &own, decision{do: work, start: true, ownJob: true})
	return err
}

// what says what has changed.
func (a *propagationAttempt) what() string {
	return job.EventMessage("what is exported as " + strings.Join(a.held.Names, ", ") + " has changed")
}

// LogValues implements engine.Attempt.
func (a *propagationAttempt) LogValues() []any { return []any{"exports", a.held.Names} }

// Forget implements engine.Attempt. The attempt on the item forgets.
func (a *propagationAttempt) Forget() {}

// Report implements engine.Attempt. Another client has changed the root when a request meets a conflict:
// the change is propagated with the next look.
func (a *propagationAttempt) Report(_ context.Context, step string, err error) (ctrl.Result, error) {
	if step == string(requestPropagation) && apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: exportwatch.PropagationInterval}, nil
	}
	return ctrl.Result{}, err
}
