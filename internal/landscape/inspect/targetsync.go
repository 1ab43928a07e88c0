package inspect

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TargetSyncState says how a TargetSync stands, and why if it is not ready.
func TargetSyncState(sync *v1alpha1.TargetSync) (State, string) {
	ready := job.GetCondition(sync.Status.Conditions, v1alpha1.TargetSyncReady)
	switch {
	case sync.DeletionTimestamp != nil:
		return Running, "it is being deleted"
	case ready == nil:
		return Waiting, "it was not synchronised yet (" + ask + ")"
	case sync.Status.ObservedGeneration != sync.Generation:
		return Waiting, "the spec has changed since it was synchronised"
	case ready.Status != v1alpha1.ConditionTrue:
		return Failed, ready.Message
	}
	return Ready, ""
}
