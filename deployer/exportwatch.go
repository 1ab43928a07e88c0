package deployer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/exportwatch"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// ExportWatcher watches the values that an item has exported, after its job. It enqueues the item
// when they may have changed.
type ExportWatcher interface {
	io.Closer
	// Values returns what would be exported now; nil if nothing has changed since the last call, or
	// if a value is missing.
	Values(ctx context.Context) (map[string]any, error)
}

const (
	// exportWatchRetry is the time after which a failed export watch is tried again.
	exportWatchRetry = time.Minute
	// maxNesting is the maximum depth of nested Installations.
	maxNesting = 50
)

// exportWatch watches the exports of a finished job.
type exportWatch struct {
	jobID   string
	watcher ExportWatcher
	exportwatch.Changed
}

// checkExports checks whether a value of a finished item has changed, and propagates it. It returns a
// wake with the time of the next check, if there is one.
func (r *reconciler) checkExports(ctx context.Context, seen *snapshot, wake job.Wake) job.Wake {
	var result ctrl.Result
	err := r.noted(ctx, &Item{DeployItem: seen.item, reconciler: r, key: keyOf(seen.item)}, func(ctx context.Context) (err error) {
		result, err = engine.Drive(ctx, &propagationAttempt{r: r, seen: seen}, r.now)
		return err
	})
	if err != nil && !job.IsShutdown(ctx, err) {
		log.FromContext(ctx).Info("the exported values cannot be watched", "reason", err.Error())
		r.memory.dropExportWatch(keyOf(seen.item))
		result.RequeueAfter = exportWatchRetry
	}
	if result.RequeueAfter > 0 {
		wake = wake.By(r.now().Add(result.RequeueAfter))
	}
	return wake
}

// differs returns what differs from the propagated values. What was stored, but not propagated
// because this process ended, still differs.
func (i *Item) differs(ctx context.Context, values map[string]any) (exportwatch.Changed, error) {
	content, err := json.Marshal(values)
	if err != nil {
		// The reason may quote a value.
		return exportwatch.Changed{}, fmt.Errorf("the values cannot be written as JSON")
	}
	ref := i.exportReference()
	stored := &corev1.Secret{}
	err = i.reconciler.live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, stored)
	if client.IgnoreNotFound(err) != nil {
		return exportwatch.Changed{}, fmt.Errorf("read Secret %s/%s with the exports: %w", ref.Namespace, ref.Name, err)
	}
	names := exportwatch.ChangedNames(stored.Data[exportKey], content)
	found := exportwatch.Changed{Names: names, Now: content, Backoff: exportwatch.ParseChangeBackoff(stored.Annotations[changesAnnotation])}
	if pending := stored.Annotations[toPropagateAnnotation]; pending != "" {
		// An earlier change is propagated and reported together with this one.
		found.Names = exportwatch.Named(append(strings.Split(pending, ","), names...))
		if len(names) == 0 {
			found.Stored, found.After = true, stored.Annotations[propagateAfterAnnotation]
		}
	}
	return found, nil
}

// requestUpdate asks the last one of some Installations, each a part of the next one, for a job
// that propagates what items of the first one export.
func (r *reconciler) requestUpdate(ctx context.Context, above []*v1alpha1.Installation, why string) error {
	names := make([]string, len(above))
	for i, inst := range above {
		names[i] = inst.Name
	}
	root := above[len(above)-1]
	patch := client.MergeFromWithOptions(root.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if root.Annotations == nil {
		root.Annotations = map[string]string{}
	}
	root.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.DataUpdateOperation)
	root.Annotations[v1alpha1.ChangedExportsAnnotation] = strings.Join(names, ",")
	if len(root.Status.History) == 0 {
		// Upstream, which keeps no history, has only jobs of the whole tree.
		root.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.ReconcileOperation)
		delete(root.Annotations, v1alpha1.ChangedExportsAnnotation)
	}
	root.Annotations[v1alpha1.ReconcileReasonAnnotation] = why
	if err := r.client.Patch(ctx, root, patch); err != nil {
		return fmt.Errorf("ask for a job of Installation %s/%s, as a value has changed: %w", root.Namespace, root.Name, err)
	}
	return nil
}

// reportPropagated emits an event about propagated values.
func (r *reconciler) reportPropagated(seen *snapshot, what string, past exportwatch.ChangeBackoff) {
	next := ""
	if pause := past.Pause(); pause > exportwatch.PropagationInterval {
		next = fmt.Sprintf("; it changes again and again, so that the next change waits for %s", pause)
	}
	r.events.Eventf(seen.item, nil, corev1.EventTypeNormal, string(reasons.ExportsChanged), "WatchExports", "%s", job.EventMessage(what+next))
}

// ancestors returns the Installations that an item is a part of, the root last, and whether one of
// them or the Execution has a job already.
func (r *reconciler) ancestors(ctx context.Context, item *v1alpha1.DeployItem) (above []*v1alpha1.Installation, busy bool, err error) {
	name := item.Labels[v1alpha1.ExecutionManagedByLabel]
	if name == "" {
		return nil, false, nil
	}
	busy, err = r.ownerBusy(ctx, item)
	for depth := 0; err == nil && !busy && name != "" && depth < maxNesting; depth++ {
		// An Execution has the name of its Installation.
		inst := &v1alpha1.Installation{}
		err = r.live.Get(ctx, client.ObjectKey{Namespace: item.Namespace, Name: name}, inst)
		if apierrors.IsNotFound(err) {
			return above, false, nil
		}
		above, name = append(above, inst), inst.Labels[v1alpha1.EncompassedByLabel]
		busy = inst.DeletionTimestamp == nil && (job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) || inst.Annotations[v1alpha1.OperationAnnotation] != "")
	}
	return above, busy, err
}
