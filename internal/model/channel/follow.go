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
	name := inst.Annotations[fleetv1alpha1.ChannelAnnotation]
	refuse := func(format string, args ...any) Verdict {
		return Verdict{Refused: fmt.Sprintf("it does not follow Channel %s: ", name) + fmt.Sprintf(format, args...)}
	}
	switch {
	case predicates.BeingDeleted(inst):
		return Verdict{}
	case inst.Labels[fleetv1alpha1.FleetLabel] != "":
		return refuse("it belongs to Fleet %s, which decides about its version", inst.Labels[fleetv1alpha1.FleetLabel])
	case !predicates.IsRoot(inst):
		return refuse("it is a part of another Installation, whose blueprint decides about its version")
	case ch == nil:
		return refuse("there is no such Channel in this namespace: create it, or correct the annotation")
	}
	at := inst.Spec.ComponentDescriptor
	if at == nil || at.Reference == nil {
		return refuse("spec.componentDescriptor.ref is missing: only a reference has a version that can be set")
	}
	if at.Reference.ComponentName != ch.Spec.Component {
		return refuse("it is of component %s, and the Channel finds versions of %s: correct one of them", at.Reference.ComponentName, ch.Spec.Component)
	}
	if mine, its := predicates.ContextOf(inst), cmp.Or(ch.Spec.Context, v1alpha1.DefaultContextName); mine != its {
		return refuse("it has Context %s, and the Channel has %s, which may lead to another registry: use one of them for both", mine, its)
	}
	if ch.Status.Version == "" || ch.Status.ObservedGeneration != ch.Generation {
		return Verdict{} // the Channel has found nothing yet
	}
	newer, err := Newer(ch.Status.Version, at.Reference.Version)
	switch {
	case err != nil:
		return refuse("%s: set a version that can be compared", err)
	case newer && inst.Annotations[fleetv1alpha1.FollowedAnnotation] == ch.Status.Version:
		return refuse("it had %s before, and has gone back to %s: it waits for a newer version, or for the removal of the annotation %s", ch.Status.Version, at.Reference.Version, fleetv1alpha1.FollowedAnnotation)
	case newer && inst.Annotations[v1alpha1.OperationAnnotation] != "":
		return Verdict{} // its turn is when the request was picked up
	case newer:
		return Verdict{Version: ch.Status.Version}
	case ch.Status.Version != at.Reference.Version:
		return refuse("it has %s, which is newer than %s of the Channel, and nothing goes back by itself: set the version if that is what you want", at.Reference.Version, ch.Status.Version)
	}
	return Verdict{}
}
