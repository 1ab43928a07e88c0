package inspect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Reach is the last that items have shown of the cluster of a Target: no object says whether it can be
// reached.
type Reach struct {
	// State is Ready if an item has succeeded there, Failed if one could not work with the cluster,
	// and empty if no item has done either.
	State State
	// At is when, Item which one, and Message what it says about a cluster that does not answer.
	At      *metav1.Time
	Item    *Node
	Message string
}

// ReachOf returns what items of one Target show of its cluster. The newest word counts.
func ReachOf(items []*Node) Reach {
	var newest Reach
	for _, item := range items {
		found := item.reach()
		if found.At == nil || newest.At != nil && found.At.Before(newest.At) || newest.At.Equal(found.At) && newest.State == Failed {
			continue
		}
		newest = found
	}
	return newest
}

func (n *Node) reach() Reach {
	switch {
	case n.DeployItem == nil, n.DeployItem.Spec.Type == v1alpha1.MockDeployItemType:
		return Reach{} // it asks no cluster
	case reasons.IsAboutCluster(n.LastError):
		return Reach{State: Failed, At: &n.LastError.LastUpdateTime, Item: n, Message: n.LastError.Message}
	case n.JobID == n.JobIDFinished && n.Phase == string(v1alpha1.DeployItemPhases.Succeeded):
		return Reach{State: Ready, At: n.FinishTime, Item: n}
	}
	return Reach{}
}
