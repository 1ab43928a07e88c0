package fleet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// action is that of all events of Fleets.
const action = "RollOutFleet"

func (r *Reconciler) emit(about *fleetv1alpha1.Fleet, inst *v1alpha1.Installation, kind string, reason reasons.Reason, message string) {
	if r.Events == nil {
		return
	}
	var related runtime.Object
	if inst != nil {
		related = inst
	}
	r.Events.Eventf(about, related, kind, string(reason), action, "%s", message)
}

// emitProgress says what a status says that the one before did not.
func (r *Reconciler) emitProgress(about *fleetv1alpha1.Fleet, before, after *fleetv1alpha1.FleetStatus) {
	was := map[string]fleetv1alpha1.WaveState{}
	if before.Revision == after.Revision {
		for _, wave := range before.Waves {
			was[wave.Name] = wave.State
		}
	} else {
		r.emit(about, nil, corev1.EventTypeNormal, reasons.RolloutStarted, fmt.Sprintf("revision %s with version %q is rolled out to %d Targets", after.Revision, after.Version, after.Counts.Targets))
	}
	for _, wave := range after.Waves {
		switch {
		case was[wave.Name] == wave.State:
		case wave.State == fleetv1alpha1.WaveDone && was[wave.Name] != "":
			r.emit(about, nil, corev1.EventTypeNormal, reasons.WaveDone, fmt.Sprintf("wave %s is done: %d Targets", wave.Name, wave.Counts.Targets))
		case wave.State == fleetv1alpha1.WaveStopped:
			r.emit(about, nil, corev1.EventTypeWarning, reasons.RolloutStopped, "wave "+wave.Name+" has stopped: "+wave.Message)
		}
	}
	if before.LastRevision != after.LastRevision {
		r.emit(about, nil, corev1.EventTypeNormal, reasons.RolledOut, fmt.Sprintf("%d Targets have revision %s", after.Counts.Targets, after.LastRevision))
	}
	if after.Counts.Blocked > before.Counts.Blocked {
		r.emit(about, nil, corev1.EventTypeWarning, reasons.Blocked, fmt.Sprintf("%d Targets have no Installation of this Fleet: status says why", after.Counts.Blocked))
	}
	if present := meta.FindStatusCondition(after.Conditions, fleetv1alpha1.TargetsPresentCondition); present != nil && present.Reason == string(reasons.TooManyRemovals) {
		if earlier := meta.FindStatusCondition(before.Conditions, fleetv1alpha1.TargetsPresentCondition); earlier == nil || earlier.Reason != present.Reason {
			r.emit(about, nil, corev1.EventTypeWarning, reasons.TooManyRemovals, present.Message)
		}
	}
}
