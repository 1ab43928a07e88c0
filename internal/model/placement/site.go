package placement

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
)

// Site is where an item deploys, as far as that is known without a request to a cluster.
type Site struct {
	// Target is the name of the item's Target.
	Target string
	// Spec is the specification of the Target, nil if the Target does not exist.
	Spec *v1alpha1.TargetSpec
	// Address is that to which the Target leads, empty if it is not known.
	Address string
	// Record is what the item has recorded.
	Record Record
}

// Relation says whether two items deploy to the same cluster.
type Relation string

const (
	// SameCluster means that both items deploy to the same cluster.
	SameCluster Relation = "same"
	// OtherCluster means that both items deploy to different clusters.
	OtherCluster Relation = "other"
	// UnknownCluster means that neither is known: the Targets have different addresses, and one of
	// the clusters has no recorded ID.
	UnknownCluster Relation = "unknown"
)

// Compare says whether two items deploy to the same cluster. Targets with one name or one
// specification lead to the same cluster. Different specifications say nothing: they may differ in
// credentials, or in an address of the same API server. Then the identity of the clusters counts.
func (s Site) Compare(other Site) Relation {
	one, two := s.identity(), other.identity()
	switch {
	case s.Target == other.Target, s.Spec != nil && other.Spec != nil && equality.Semantic.DeepEqual(s.Spec, other.Spec):
		return SameCluster
	case sameCluster(one, two):
		return SameCluster
	case one.ID != "" && two.ID != "":
		return OtherCluster
	case haveOneObject(s.Record.Resources, other.Record.Resources):
		return SameCluster
	}
	return UnknownCluster
}

// identity is the cluster of the item's Target. The recorded cluster is that of the last job: it
// does not count if the Target leads to another address by now, or if the item has another Target
// whose address is not known.
func (s Site) identity() deployer.ClusterIdentity {
	var recorded deployer.ClusterIdentity
	if s.Record.Cluster != nil {
		recorded = *s.Record.Cluster
	}
	switch {
	case s.Address == "" && recorded.Target == s.Target, s.Address != "" && s.Address == recorded.Address:
		return recorded
	}
	return deployer.ClusterIdentity{Address: s.Address}
}

// haveOneObject reports whether two records have an object with one UID.
func haveOneObject(one, two deployer.ManagedResourceStatusList) bool {
	known := make(map[types.UID]bool, len(one))
	for _, entry := range one {
		known[entry.Resource.UID] = entry.Resource.UID != ""
	}
	return slices.ContainsFunc(two, func(entry deployer.ManagedResourceStatus) bool { return known[entry.Resource.UID] })
}

// HadCluster reports whether something is left of an item on a cluster to which its Target led
// before.
func (r Record) HadCluster(cluster deployer.ClusterIdentity) bool {
	return slices.ContainsFunc(r.EarlierClusters, func(earlier deployer.EarlierCluster) bool {
		return sameCluster(earlier.ClusterIdentity, cluster)
	})
}
