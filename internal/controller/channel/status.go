package channel

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/model/channel"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// maxMessage is the length of the message of a condition in characters.
const maxMessage = 1024

// settledCondition is the condition of a Channel that asks no registry; nil for another one.
func (a *attempt) settledCondition() *metav1.Condition {
	ready := metav1.Condition{Type: fleetv1alpha1.ReadyCondition, Status: metav1.ConditionFalse}
	switch {
	case a.invalid != nil:
		ready.Reason, ready.Message = string(reasons.InvalidSpec), a.invalid.Error()
	case a.channel.Spec.Suspended:
		ready.Reason, ready.Message = string(reasons.Suspended), "spec.suspended is set: the registry is not asked"
		if version := a.channel.Status.Version; version != "" {
			ready.Status = metav1.ConditionTrue
			ready.Message += fmt.Sprintf(", and %s stays", version)
		}
	default:
		return nil
	}
	ready.ObservedGeneration = a.channel.Generation
	return &ready
}

// isShown reports whether conditions have one, whenever it was written.
func isShown(conditions []metav1.Condition, wanted metav1.Condition) bool {
	found := meta.FindStatusCondition(conditions, wanted.Type)
	return found != nil && found.Status == wanted.Status && found.Reason == wanted.Reason && found.Message == wanted.Message && found.ObservedGeneration == wanted.ObservedGeneration
}

// report writes the status, if it is another one, and emits events about what has changed. Without an
// outcome, what was found stays.
func (a *attempt) report(ctx context.Context, o *outcome) error {
	r, before := a.r, a.channel
	after := before.DeepCopy()
	after.Status.Followers = a.followers
	if settled := a.settledCondition(); settled != nil {
		meta.SetStatusCondition(&after.Status.Conditions, *settled)
	} else if o != nil {
		describe(after, o)
	}
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	if err := r.Client.Status().Update(ctx, after); err != nil {
		// The outcome is lost: the next poll finds the same.
		a.known.found.judged, a.known.next = false, r.Now()
		return fmt.Errorf("update the status: %w", err)
	}
	a.known.written.Record(after)
	a.channel = after
	r.emit(ctx, before, after)
	return nil
}

// describe writes the outcome of a poll into the status.
func describe(ch *fleetv1alpha1.Channel, o *outcome) {
	status := &ch.Status
	status.Versions, status.Refused = o.settled.Versions, o.settled.Refused
	status.Version, status.Digest = "", ""
	if len(status.Versions) > 0 {
		status.Version, status.Digest = status.Versions[0].Version, status.Versions[0].Digest
	}
	ready := channel.Ready(&ch.Spec, o.found.judgement, o.settled)
	if o.err != nil {
		ready = failed(status.Conditions, ch.Generation, o.err)
	}
	if o.err == nil || !o.found.known.Void {
		// What was found counts for this specification.
		status.ObservedGeneration = ch.Generation
	}
	ready.ObservedGeneration = ch.Generation
	meta.SetStatusCondition(&status.Conditions, ready)
}

// failed is the condition after a poll that has failed. The message stays during an outage: errors of
// the network name ports and times, and each of them would be a write.
func failed(conditions []metav1.Condition, generation int64, err error) metav1.Condition {
	ready := metav1.Condition{Type: fleetv1alpha1.ReadyCondition, Status: metav1.ConditionFalse, Reason: string(reasonOf(err)), Message: component.Advise(err).Error()}
	if runes := []rune(ready.Message); len(runes) > maxMessage {
		ready.Message = string(runes[:maxMessage-1]) + "…"
	}
	if found := meta.FindStatusCondition(conditions, ready.Type); found != nil && found.Reason == ready.Reason && found.ObservedGeneration == generation && component.IsTemporary(err) {
		ready.Message = found.Message
	}
	return ready
}

// emit emits events about what has changed.
func (r *Reconciler) emit(ctx context.Context, before, after *fleetv1alpha1.Channel) {
	event := func(kind, reason, message string) {
		r.Events.Eventf(after, nil, kind, reason, "FindVersions", "%s", job.EventMessage(message))
	}
	if version := after.Status.Version; version != "" && version != before.Status.Version {
		event(corev1.EventTypeNormal, string(reasons.VersionFound), fmt.Sprintf("%s is the newest version that fits (%s)", version, after.Status.Digest))
	}
	for _, refused := range after.Status.Refused {
		if !wasRefused(before.Status.Refused, refused) {
			event(corev1.EventTypeWarning, refused.Reason, fmt.Sprintf("version %s is refused: %s", refused.Version, refused.Message))
		}
	}
	ready, was := meta.FindStatusCondition(after.Status.Conditions, fleetv1alpha1.ReadyCondition), meta.FindStatusCondition(before.Status.Conditions, fleetv1alpha1.ReadyCondition)
	if ready != nil && ready.Status == metav1.ConditionFalse && (was == nil || was.Reason != ready.Reason || was.Message != ready.Message) {
		event(corev1.EventTypeWarning, ready.Reason, ready.Message)
		log.FromContext(ctx).Info("the Channel is not ready", "reason", ready.Reason, "message", ready.Message)
	}
}

func wasRefused(before []fleetv1alpha1.RefusedVersion, refused fleetv1alpha1.RefusedVersion) bool {
	for _, earlier := range before {
		if earlier.Version == refused.Version && earlier.Reason == refused.Reason {
			return true
		}
	}
	return false
}
