package placement

import (
	"cmp"
	"context"
	"slices"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
)

// Clusters lead from Targets to clusters.
type Clusters[C Reached] interface {
	Connect(ctx context.Context, target *v1alpha1.Target) (C, error)
	AddressOf(ctx context.Context, target *v1alpha1.Target) (string, error)
}

// Reached is a cluster that may not answer.
type Reached interface {
	Cluster
	// Contact makes the first contact; if the cluster does not answer soon, wake is called later.
	Contact(ctx context.Context, wake func()) error
}

// Find returns the connection to a cluster by one of the Targets that lead there, or nil if
// none does. The Target that led there last may have got another address of the cluster.
func Find[C Reached](ctx context.Context, clusters Clusters[C], targets []v1alpha1.Target, wanted deployer.ClusterIdentity, wake func()) (none C, err error) {
	slices.SortStableFunc(targets, func(a, b v1alpha1.Target) int {
		return cmp.Or(rank(a, wanted)-rank(b, wanted), cmp.Compare(a.Name, b.Name))
	})
	var last *v1alpha1.Target
	var failed error
	for i := range targets {
		if targets[i].Spec.Type != v1alpha1.KubernetesClusterTargetType {
			continue
		}
		named := targets[i].Name == wanted.Target
		address, err := clusters.AddressOf(ctx, &targets[i])
		switch {
		case err == nil && address == wanted.Address:
			return reach(ctx, clusters, &targets[i], wanted, wake)
		case err == nil && named && wanted.ID != "":
			last = &targets[i]
		case named:
			failed = err
		}
	}
	if last != nil {
		return reach(ctx, clusters, last, wanted, wake)
	}
	return none, failed
}

// reach returns the connection of a Target if it leads to a cluster: another one may have
// got the address.
func reach[C Reached](ctx context.Context, clusters Clusters[C], target *v1alpha1.Target, wanted deployer.ClusterIdentity, wake func()) (none C, err error) {
	found, err := clusters.Connect(ctx, target)
	if err != nil {
		return none, err
	}
	if err := found.Contact(ctx, wake); err != nil {
		return none, err
	}
	id, err := found.ID(ctx)
	if err != nil {
		return none, err
	}
	if id != wanted.ID && (wanted.ID != "" && id != "" || found.Address() != wanted.Address) {
		return none, nil
	}
	return found, nil
}

func rank(target v1alpha1.Target, wanted deployer.ClusterIdentity) int {
	if target.Name == wanted.Target {
		return 0
	}
	return 1
}
