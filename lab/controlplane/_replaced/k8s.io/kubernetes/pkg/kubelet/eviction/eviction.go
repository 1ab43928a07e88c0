// Package eviction is what the garbage collection of pods needs of the kubelet's evictions.
// The kubelet's package needs the kubelet, cAdvisor and the scheduler.
package eviction

import v1 "k8s.io/api/core/v1"

// Reason is the reason of the status of a pod that a kubelet has evicted.
const Reason = "Evicted"

// PodIsEvicted is true for a pod that a kubelet has evicted.
func PodIsEvicted(status v1.PodStatus) bool {
	return status.Phase == v1.PodFailed && status.Reason == Reason
}
