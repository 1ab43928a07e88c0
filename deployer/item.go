package deployer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/responsibility"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/model/dataflow/targets"
	"go.landscaper.dev/internal/model/given"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Item is a DeployItem whose job is running.
type Item struct {
	// DeployItem is a copy of the object. The status is ahead of the stored one.
	*v1alpha1.DeployItem
	// Target is the Target of the item, or nil if it has none. An item is deployed only when its
	// Target exists, but may be deleted without it; Cluster says what is missing then.
	Target *v1alpha1.Target

	reconciler *reconciler
	run        *run
	// key is the name of the object. Triggers of the item use it at any time.
	key types.NamespacedName
	// stored is the stored object.
	stored *v1alpha1.DeployItem
	// outdated says that a write was refused because the stored item is newer than the one of this
	// attempt, which then ends without a report, whatever the deployer makes of the error.
	outdated bool
	// interrupted says that Checkpoint has found that another client has ended the job.
	interrupted bool
	// clusters has the clusters of the recorded objects, once it was read.
	clusters *apideployer.ClusterRecord
	// parents are the Executions that this attempt has read, by name. The mutex guards them:
	// objects are looked at in parallel.
	mutex   sync.Mutex
	parents map[string]*parent
	// deadline is when the time of the job is over; zero if it has no limit.
	deadline time.Time
}

// Cluster returns the connection to the cluster of the item's Target. If the cluster does not
// answer, or the Target or its Secret does not exist, the item waits, and the wait ends by itself.
// An item that is deleted may use any other Target of the namespace for the recorded cluster.
func (i *Item) Cluster(ctx context.Context) (Connection, error) {
	if !hasTarget(i.DeployItem) {
		return nil, job.NewError(i.operation(), reasons.ValidateTarget, "the item has no target, but its deployer works on a cluster: set spec.target", v1alpha1.ErrorConfigurationProblem)
	}
	connection, err := i.byTarget(ctx)
	if err == nil || i.Target != nil && !cluster.IsIncomplete(err) {
		return connection, err
	}
	substitute, failed := i.bySubstitute(ctx)
	if failed != nil {
		return nil, failed
	}
	if substitute != nil {
		return substitute, nil
	}
	return nil, err
}

// byTarget returns the connection to the cluster by the Target of the item.
func (i *Item) byTarget(ctx context.Context) (Connection, error) {
	if i.Target == nil {
		return nil, i.noTarget()
	}
	return i.connect(ctx, i.Target)
}

func (i *Item) connect(ctx context.Context, target *v1alpha1.Target) (Connection, error) {
	connection, err := i.reconciler.options.Clusters.Connect(ctx, target)
	if err != nil {
		return nil, i.validation(err)
	}
	return connection, connection.Contact(ctx, i.Requeue)
}

// noTarget returns the error that the Target of the item is missing. The item waits for it until
// the time of the job is over.
func (i *Item) noTarget() error {
	const operation, reason = published.ReconcilePrivate, reasons.NoTargetFound
	missing := fmt.Sprintf("Target %s/%s does not exist", i.Namespace, i.Spec.Target.Name)
	remedy := "create it"
	if i.DeletionTimestamp != nil {
		if record := recordOf(i.DeployItem); record.Cluster != nil {
			remedy += ", or another one that leads to " + placement.Describe(*record.Cluster)
		}
		remedy += ", or annotate the item with " + v1alpha1.DeleteWithoutUninstallAnnotation + "=true to leave what it has deployed"
	}
	if i.Expired() {
		return job.AsTerminal(job.NewError(operation, reason, "the time is over and "+missing+": "+remedy+", and start the job again", v1alpha1.ErrorTimeout))
	}
	return job.NewWaiting(operation, reason, missing+": "+remedy)
}

// validation gives an error about a Target that cannot work its established operation.
func (i *Item) validation(err error) error {
	if !cluster.IsInvalidTarget(err) {
		return err
	}
	return job.Wrap(err, i.operation(), reasons.ValidateTarget, "")
}

// operation is the current operation on the item.
func (i *Item) operation() string {
	if i.Status.Phase.IsDeletion() {
		return published.DeleteItem
	}
	return published.ReconcileItem
}

// ClusterOf returns the connection to the cluster of another Target in the namespace of the item;
// it may be the same cluster. If the Target does not exist, the item waits for it. An item of an
// Installation may only name what the Installation imports.
func (i *Item) ClusterOf(ctx context.Context, targetName string) (Connection, error) {
	if err := given.CheckTarget(i.DeployItem, targetName); err != nil {
		return nil, job.NewError(i.operation(), reasons.TargetNotGiven, err.Error(), v1alpha1.ErrorConfigurationProblem)
	}
	key := types.NamespacedName{Namespace: i.Namespace, Name: targetName}
	i.reconciler.memory.uses(i.key, need{targetKind, key})
	target, err := i.reconciler.target(ctx, key)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, job.NewWaiting(i.operation(), reasons.NoTargetFound, fmt.Sprintf("Target %s does not exist: create it, or correct targetName", key))
	}
	if !responsibility.Of(i.reconciler.selectors, target) {
		return nil, job.NewError(i.operation(), reasons.TargetNotSelected,
			fmt.Sprintf("Target %s is not for this deployer, whose administrator limits its Targets: name another one in targetName, or let the targetSelector choose it", key), v1alpha1.ErrorConfigurationProblem)
	}
	return i.connect(ctx, target)
}

// NameOfTarget returns the name by which users know another Target of the item's namespace. An
// imported Target has a copy there whose name is generated; it stays beside the name, because the
// Installations above find the name of the original by it.
func (i *Item) NameOfTarget(ctx context.Context, targetName string) string {
	found := &v1alpha1.Target{}
	key := types.NamespacedName{Namespace: i.Namespace, Name: targetName}
	if err := i.reconciler.client.Get(ctx, key, found); err != nil || found.Labels[v1alpha1.DataObjectKeyLabel] == "" {
		return targetName
	}
	name := found.Labels[v1alpha1.DataObjectKeyLabel]
	if element := cmp.Or(found.Labels[v1alpha1.DataObjectIndexLabel], found.Labels[v1alpha1.DataObjectTargetMapKeyLabel]); element != "" {
		name += "[" + element + "]"
	}
	if targets.IsCopy(targetName) {
		name += " (" + targetName + ")"
	}
	return name
}

// Context returns the Context of the item. It is read on demand: an item that needs no Context
// works without. If the Context does not exist, the item waits for it.
func (i *Item) Context(ctx context.Context) (*v1alpha1.Context, error) {
	const reason = reasons.GetLandscaperContext
	key := types.NamespacedName{Namespace: i.Namespace, Name: cmp.Or(i.Spec.Context, v1alpha1.DefaultContextName)}
	found := &v1alpha1.Context{}
	err := i.reconciler.client.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		// Most deployers need no Contexts, so their watch starts only now; the Context may have
		// been created before that.
		i.reconciler.memory.uses(i.key, need{contextKind, key})
		if err = i.reconciler.followContexts(ctx); err == nil {
			err = i.reconciler.client.Get(ctx, key, found)
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, job.NewWaiting(i.operation(), reason, fmt.Sprintf("Context %s does not exist: create it, or name another one in spec.context", key))
	case err != nil:
		return nil, job.Wrap(err, i.operation(), reason, "read Context "+key.String())
	}
	return found, nil
}

// Record stores what the deployer wants to remember of the item, if it is not stored yet. A
// deployer does so before it writes to the target, so that what it has deployed is never lost. The
// same write picks up the item.
func (i *Item) Record(ctx context.Context, status any) error {
	if err := i.SetProviderStatus(status); err != nil {
		return err
	}
	return i.record(ctx)
}

// record stores what is remembered of the item, if it is not stored yet.
func (i *Item) record(ctx context.Context) error {
	if !i.providerStatusChanged() {
		return nil
	}
	if !i.Status.Phase.IsDeletion() {
		i.Status.Phase = v1alpha1.DeployItemPhases.Progressing
		status.Summarize(i.DeployItem, nil, i.reconciler.now())
	}
	return i.write(ctx)
}

// Warn reports what is probably not meant: by a condition, which stays until the next job, and by
// an event. For each reason it does so once in a job, not in repeated attempts. Messages repeat no
// values.
func (i *Item) Warn(reason string, messages ...string) {
	if i.run == nil || i.run.jobID == "" || len(messages) == 0 {
		// A plan, or a look at a finished item, has no job.
		return
	}
	if _, warned := i.run.warned[reason]; warned {
		return
	}
	if i.run.warned == nil {
		i.run.warned = map[string]struct{}{}
	}
	i.run.warned[reason] = struct{}{}
	i.run.warnings = append(i.run.warnings, jobWarning{reason, messages})
	i.run.noteWarnings(i.DeployItem, i.reconciler.now())
	i.reconciler.events.Eventf(i.DeployItem, nil, corev1.EventTypeWarning, reason, "ReconcileDeployItem", "%s", job.EventMessage(strings.Join(messages, "; ")))
}

// SetProviderStatus keeps what the deployer wants to remember of the item for the
// next write.
func (i *Item) SetProviderStatus(status any) error {
	encoded, err := json.Marshal(status)
	if err != nil {
		return job.Wrap(err, published.ReconcileItem, reasons.ProviderStatus, "encode the provider status", v1alpha1.ErrorInternalProblem)
	}
	if i.clusters != nil && i.clusters.Cluster != nil {
		if encoded, err = placement.Write(encoded, *i.clusters); err != nil {
			return job.Wrap(err, published.ReconcileItem, reasons.ProviderStatus, "record the clusters", v1alpha1.ErrorInternalProblem)
		}
	}
	i.Status.ProviderStatus = &runtime.RawExtension{Raw: encoded}
	return nil
}

func (i *Item) providerStatusChanged() bool {
	return !status.SameJSON(i.stored.Status.ProviderStatus, i.Status.ProviderStatus)
}

// Checkpoint names the stage of the work. It returns an error if the time is over or if another
// client has ended the job; the deployer returns that error.
func (i *Item) Checkpoint(ctx context.Context, name string) error {
	i.run.checkpoint = name
	current := &v1alpha1.DeployItem{}
	err := i.reconciler.client.Get(ctx, i.key, current)
	if apierrors.IsNotFound(err) || (err == nil && i.endedElsewhere(current)) {
		i.interrupted = true
		return ErrInterrupted
	}
	if i.Expired() {
		return timeoutError(name, i.lastProblem())
	}
	return nil
}

// lastProblem is what kept the job from ending in the last attempt.
func (i *Item) lastProblem() error {
	if i.run.history.last == "" {
		return nil
	}
	return errors.New(i.run.history.last)
}

// endedElsewhere reports whether another client has ended the job of the item.
func (i *Item) endedElsewhere(current *v1alpha1.DeployItem) bool {
	return current.UID != i.UID || (current.Status.JobID == i.Status.JobID && !unfinished(current))
}

// Expired reports whether the time for the job is over.
func (i *Item) Expired() bool {
	return !i.deadline.IsZero() && !i.reconciler.now().Before(i.deadline)
}

// Remaining is the time that the job has left; 0 if it has no limit. It is never
// negative.
func (i *Item) Remaining() time.Duration {
	if i.deadline.IsZero() {
		return 0
	}
	return max(i.deadline.Sub(i.reconciler.now()), time.Nanosecond)
}

// Requeue lets the deployer continue with the item. It may be called at any time and from any
// goroutine.
func (i *Item) Requeue() { i.reconciler.requeue(i.key) }

// Remember keeps a value in memory until the job ends or the specification
// changes; it is closed then. It is lost in a restart.
func (i *Item) Remember(memory io.Closer) {
	if i.run.memory != memory {
		i.run.forget()
	}
	i.run.memory = memory
}

// Remembered returns what was remembered last, or nil.
func (i *Item) Remembered() io.Closer { return i.run.memory }

// write stores the status if it differs from the stored one.
func (i *Item) write(ctx context.Context) error {
	if status.SameStatus(i.stored, i.DeployItem) {
		return nil
	}
	if err := i.reconciler.client.Status().Update(ctx, i.DeployItem); err != nil {
		return i.refused(err)
	}
	i.reconciler.memory.of(i.DeployItem).written.Record(i.DeployItem)
	i.stored = i.DeployItem.DeepCopy()
	return nil
}

// writeMetadata stores a change of the metadata. The status stays as it is, in memory and in the
// API.
func (i *Item) writeMetadata(ctx context.Context, change func(*v1alpha1.DeployItem)) error {
	changed := i.stored.DeepCopy()
	change(changed)
	patch := client.MergeFromWithOptions(i.stored, client.MergeFromWithOptimisticLock{})
	if err := i.reconciler.client.Patch(ctx, changed, patch); err != nil {
		return i.refused(err)
	}
	i.reconciler.memory.of(changed).written.Record(changed)
	i.ObjectMeta = *changed.ObjectMeta.DeepCopy()
	i.stored = changed
	return nil
}

// refused notes whether a write was refused because the item is outdated.
func (i *Item) refused(err error) error {
	i.outdated = i.outdated || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
	return fmt.Errorf("write the item: %w", err)
}
