package channel

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Ready returns the condition of a Channel whose poll has succeeded.
func Ready(spec *fleetv1alpha1.ChannelSpec, j Judgement, s Settled) metav1.Condition {
	ready := metav1.Condition{Type: fleetv1alpha1.ReadyCondition, Status: metav1.ConditionFalse, Reason: string(reasons.NoVersion)}
	if len(s.Versions) > 0 {
		ready.Status, ready.Reason = metav1.ConditionTrue, string(reasons.VersionFound)
		ready.Message = fmt.Sprintf("%s is the newest version that fits", s.Versions[0].Version)
		if newer := refusedBefore(s); newer > 0 {
			ready.Message += fmt.Sprintf("; %d newer ones are refused, status.refused says why", newer)
		}
		return ready
	}
	switch {
	case len(s.Refused) > 0:
		ready.Message = fmt.Sprintf("all %d versions that fit and were looked at are refused: status.refused says why", len(s.Refused))
	case j.Versions == 0:
		ready.Message = fmt.Sprintf("component %s has no version yet: publish one", spec.Component)
	case spec.Versions == "":
		ready.Message = fmt.Sprintf("component %s has pre-releases alone: publish a release, or take them in with spec.prereleases", spec.Component)
	default:
		ready.Message = fmt.Sprintf("none of the %d versions of component %s fits %q", j.Versions, spec.Component, spec.Versions)
		if j.Prereleases > 0 {
			ready.Message += fmt.Sprintf("; %d are pre-releases, which spec.prereleases does not take in", j.Prereleases)
		}
	}
	return ready
}

// refusedBefore counts refused versions that are newer than the offered one.
func refusedBefore(s Settled) int {
	newer := 0
	for _, refused := range s.Refused {
		if is, err := Newer(refused.Version, s.Versions[0].Version); err == nil && is && refused.Reason != string(reasons.VersionWithdrawn) {
			newer++
		}
	}
	return newer
}
