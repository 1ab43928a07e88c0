package placement

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
)

// Cluster is what has to be known of the cluster of a Target; a connection implements it.
type Cluster interface {
	Server() string
	Address() string
	ID(ctx context.Context) (string, error)
	Reader
}

// Reader reads objects of a cluster.
type Reader interface {
	Mapping(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error)
	Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error)
}

// Settle returns the record for a Target that leads to a cluster, and whether that is
// another cluster than the recorded one.
//
// The cluster is asked for its ID only if its address is not the recorded one. Where an ID cannot
// be read, the identity of a recorded object is enough.
func Settle(ctx context.Context, record Record, on Cluster, target string) (settled Record, moved bool, err error) {
	server, _, _ := strings.Cut(on.Server(), "?")
	here := deployer.ClusterIdentity{Address: on.Address(), Server: server, Target: target}
	verdict := Judge(record.Cluster, here, false)
	if verdict == First || verdict == AskID {
		if here.ID, err = on.ID(ctx); err != nil {
			return record, false, err
		}
		verdict = Judge(record.Cluster, here, true)
	}
	if verdict == AskObjects {
		there, err := HasAny(ctx, on, record.Resources)
		if err != nil {
			return record, false, err
		}
		if verdict = Other; there {
			verdict = Same
		}
	}
	if verdict == Other {
		return record.Move(here), true, nil
	}
	return record.Stay(here), false, nil
}

// HasAny reports whether one of the recorded objects is on a cluster, with its identity.
func HasAny(ctx context.Context, on Reader, recorded deployer.ManagedResourceStatusList) (bool, error) {
	for _, entry := range recorded {
		ref := entry.Resource
		if ref.UID == "" {
			continue
		}
		mapping, err := on.Mapping(ctx, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		live, err := on.Get(ctx, mapping, ref.Namespace, ref.Name)
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		case err != nil:
			return false, err
		case live.GetUID() == ref.UID:
			return true, nil
		}
	}
	return false, nil
}
