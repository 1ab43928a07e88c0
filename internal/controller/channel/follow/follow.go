// Package follow brings the version that a Channel has found to the Installations that follow it. What a
// DeliveryPolicy says about their jobs counts as for any other job.
package follow

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/channel"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Reconciler lets Installations follow Channels.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// Events emits events about what was done, and why nothing was done.
	Events events.EventRecorder

	mutex sync.Mutex
	// said is the last event that nothing was done, by Installation.
	said map[types.UID]string
}

// Reconcile sets the version of an Installation if its Channel has a newer one.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	inst := &v1alpha1.Installation{}
	if err := r.Client.Get(ctx, request.NamespacedName, inst); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	name := inst.Annotations[fleetv1alpha1.ChannelAnnotation]
	if name == "" {
		r.forget(inst.UID)
		return ctrl.Result{}, nil
	}
	ch := &fleetv1alpha1.Channel{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: inst.Namespace, Name: name}, ch)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("read Channel %s: %w", name, err)
	}
	if err != nil {
		ch = nil
	}
	verdict := channel.Follow(inst, ch)
	switch {
	case verdict.Refused != "":
		r.refuse(inst, verdict.Refused)
	case verdict.Version != "":
		return r.set(ctx, inst, ch, verdict.Version)
	default:
		r.forget(inst.UID)
	}
	return ctrl.Result{}, nil
}

// set sets the version and asks for a job, in one write of the Installation as it was read.
func (r *Reconciler) set(ctx context.Context, inst *v1alpha1.Installation, ch *fleetv1alpha1.Channel, version string) (ctrl.Result, error) {
	before := inst.Spec.ComponentDescriptor.Reference.Version
	changed := inst.DeepCopy()
	changed.Spec.ComponentDescriptor.Reference.Version = version
	changed.Annotations[fleetv1alpha1.FollowedAnnotation] = version
	changed.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.ReconcileOperation)
	err := r.Client.Patch(ctx, changed, client.MergeFromWithOptions(inst, client.MergeFromWithOptimisticLock{}))
	if job.OutcomeOf(err) == job.Conflict {
		// The cache was behind, or a user has changed it at the same time.
		return ctrl.Result{RequeueAfter: reporter.ConflictBackoff}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("set the version of Installation %s: %w", client.ObjectKeyFromObject(inst), err)
	}
	r.forget(inst.UID)
	followed.Inc()
	message := fmt.Sprintf("Channel %s has %s after %s: a job was requested", ch.Name, version, before)
	r.Events.Eventf(changed, ch, corev1.EventTypeNormal, string(reasons.VersionFollowed), "FollowChannel", "%s", job.EventMessage(message))
	return ctrl.Result{}, nil
}

// refuse says once why an Installation does not follow its Channel.
func (r *Reconciler) refuse(inst *v1alpha1.Installation, why string) {
	r.mutex.Lock()
	repeated := r.said[inst.UID] == why
	if r.said == nil {
		r.said = map[types.UID]string{}
	}
	r.said[inst.UID] = why
	r.mutex.Unlock()
	if !repeated {
		r.Events.Eventf(inst, nil, corev1.EventTypeWarning, string(reasons.NotFollowed), "FollowChannel", "%s", job.EventMessage(why))
	}
}

func (r *Reconciler) forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.said, uid)
}
