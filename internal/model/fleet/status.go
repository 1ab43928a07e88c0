package fleet

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// maxMessage is the length of the longest message in a status, in bytes.
const maxMessage = 1024

// countsOf counts Targets and their Installations.
func countsOf(members []*Member) fleetv1alpha1.FleetCounts {
	counts := fleetv1alpha1.FleetCounts{}
	for _, m := range members {
		counts.Targets++
		switch m.state {
		case running:
			counts.Updated++
			counts.Running++
		case succeeded:
			counts.Updated++
			counts.Succeeded++
		case failed, changed:
			counts.Updated++
			counts.Failed++
		case wentBack:
			counts.Failed++
		case blocked:
			counts.Blocked++
		}
	}
	return counts
}

// count sums up.
func (d *decider) count() {
	status := &d.out.Status
	status.Counts, status.Departed = countsOf(d.members), int32(len(d.departed)) //nolint:gosec // a namespace has fewer
	for i := range status.Waves {
		status.Waves[i].Message = bounded(status.Waves[i].Message)
	}
}

func bounded(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), maxMessage)], "")
}

// ready says in one condition how the Fleet is.
func (d *decider) ready() {
	status, message := metav1.ConditionFalse, ""
	reason, counts := d.reason, d.out.Status.Counts
	wave := d.presentWave()
	switch {
	case d.halt != "":
		message = d.halt
	case d.Fleet.Spec.Rollout != nil && d.Fleet.Spec.Rollout.Paused != nil && d.out.Status.Wave != "":
		reason, message = reasons.Paused, "the roll-out is paused"
		if said := d.Fleet.Spec.Rollout.Paused.Reason; said != "" {
			message += ": " + said
		}
	case wave != nil && (wave.State == fleetv1alpha1.WaveStopped || wave.State == fleetv1alpha1.WaveGoingBack):
		reason, message = reasons.RolloutStopped, "wave "+wave.Name+": "+wave.Message
	case wave != nil:
		reason, message = reasons.RollingOut, fmt.Sprintf("wave %s is %s: %d of %d Targets have revision %s, and %d have succeeded", wave.Name, wave.State, counts.Updated, counts.Targets, d.out.Status.Revision, counts.Succeeded)
	case counts.Failed > 0:
		reason, message = reasons.ItemsFailed, fmt.Sprintf("%d of %d have failed: %s", counts.Failed, counts.Targets, d.whys((*Member).fails))
	case counts.Blocked > 0:
		reason, message = reasons.Blocked, fmt.Sprintf("%d of %d have no Installation of this Fleet: %s", counts.Blocked, counts.Targets, d.whys(func(m *Member) bool { return m.state == blocked }))
	case counts.Succeeded < counts.Targets:
		reason, message = reasons.RollingOut, fmt.Sprintf("%d of %d have succeeded", counts.Succeeded, counts.Targets)
	default:
		status, reason, message = metav1.ConditionTrue, reasons.UpToDate, fmt.Sprintf("%d Targets have revision %s", counts.Targets, d.out.Status.Revision)
	}
	d.set(fleetv1alpha1.ReadyCondition, status, reason, message)
}

// presentWave is the present wave; nil at the end.
func (d *decider) presentWave() *fleetv1alpha1.WaveStatus {
	for i := range d.out.Status.Waves {
		if wave := &d.out.Status.Waves[i]; wave.Name == d.out.Status.Wave {
			return wave
		}
	}
	return nil
}

// whys are the reasons of some members.
func (d *decider) whys(which func(*Member) bool) string {
	var said []string
	for _, m := range d.members {
		if which(m) && m.why != "" {
			said = append(said, m.why)
		}
	}
	return named(said)
}

// present says whether all Installations have a Target.
func (d *decider) present(is bool, reason reasons.Reason, message string) {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	d.set(fleetv1alpha1.TargetsPresentCondition, status, reason, message)
}

func (d *decider) set(kind string, status metav1.ConditionStatus, reason reasons.Reason, message string) {
	meta.SetStatusCondition(&d.out.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: string(reason), Message: bounded(message),
		ObservedGeneration: d.Fleet.Generation, LastTransitionTime: metav1.NewTime(d.now),
	})
}
