package channel

import (
	"cmp"
	"fmt"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
)

// Verdict says what an Installation gets from the Channel that it follows.
type Verdict struct {
	// Version is what it gets; empty for nothing.
	Version string
	// Refused is why it does not get the version of the Channel, although it names it.
	Refused string
}

// Follow judges an Installation with the annotation of a Channel, which is nil if it does not exist. It
// never goes back: a Channel may have an older version because a newer one was withdrawn, and what that has
// changed on a cluster is not undone by an older one.
func Follow(inst *v1alpha1.Installation, ch *fleetv1alpha1.Channel) Verdict {
	if predicates.BeingDeleted(inst) {
		return Verdict{}
	}
	why, version := misfit(inst, ch), ""
	if why == "" {
		version, why = next(inst, ch)
	}
	if why != "" {
		why = fmt.Sprintf("it does not follow Channel %s: %s", inst.Annotations[fleetv1alpha1.ChannelAnnotation], why)
	}
	return Verdict{Version: version, Refused: why}
}

// misfit says why an Installation cannot follow a Channel; empty if it can.
func misfit(inst *v1alpha1.Installation, ch *fleetv1alpha1.Channel) string {
	switch {
	case inst.Labels[fleetv1alpha1.FleetLabel] != "":
		return fmt.Sprintf("it belongs to Fleet %s, which decides about its version", inst.Labels[fleetv1alpha1.FleetLabel])
	case !predicates.IsRoot(inst):
		return "it is a part of another Installation, whose blueprint decides about its version"
	case ch == nil:
		return "there is no such Channel in this namespace: create it, or correct the annotation"
	}
	at := inst.Spec.ComponentDescriptor
	if at == nil || at.Reference == nil {
		return "spec.componentDescriptor.ref is missing: only a reference has a version that can be set"
	}
	if at.Reference.ComponentName != ch.Spec.Component {
		return fmt.Sprintf("it is of component %s, and the Channel finds versions of %s: correct one of them", at.Reference.ComponentName, ch.Spec.Component)
	}
	if mine, its := predicates.ContextOf(inst), cmp.Or(ch.Spec.Context, v1alpha1.DefaultContextName); mine != its {
		return fmt.Sprintf("it has Context %s, and the Channel has %s, which may lead to another registry: use one of them for both", mine, its)
	}
	return ""
}

// next returns the version that an Installation gets, or why it does not get that of the Channel.
func next(inst *v1alpha1.Installation, ch *fleetv1alpha1.Channel) (version, why string) {
	if ch.Status.Version == "" || ch.Status.ObservedGeneration != ch.Generation {
		return "", "" // the Channel has found nothing yet
	}
	offered, present := ch.Status.Version, inst.Spec.ComponentDescriptor.Reference.Version
	newer, err := Newer(offered, present)
	switch {
	case err != nil:
		return "", fmt.Sprintf("%s: set a version that can be compared", err)
	case newer && inst.Annotations[fleetv1alpha1.FollowedAnnotation] == offered:
		return "", fmt.Sprintf("it had %s before, and has gone back to %s: it waits for a newer version, or for the removal of the annotation %s", offered, present, fleetv1alpha1.FollowedAnnotation)
	case newer && inst.Annotations[v1alpha1.OperationAnnotation] != "":
		return "", "" // its turn is when the request was picked up
	case newer:
		return offered, ""
	case offered != present:
		return "", fmt.Sprintf("it has %s, which is newer than %s of the Channel, and nothing goes back by itself: set the version if that is what you want", present, offered)
	}
	return "", ""
}
