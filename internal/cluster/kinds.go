package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

const mergePatch = types.MergePatchType

// kinds maps kinds to resources, as the cluster said when it was asked last.
type kinds struct {
	discovery *discovery.DiscoveryClient

	mutex   sync.Mutex
	current meta.RESTMapper
}

// lookUp finds a kind among those that are known.
func (k *kinds) lookUp(kind schema.GroupVersionKind, mapping **meta.RESTMapping) (err error) {
	k.mutex.Lock()
	current := k.current
	k.mutex.Unlock()
	if current == nil {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	*mapping, err = current.RESTMapping(kind.GroupKind(), kind.Version)
	return err
}

// find asks the cluster and finds a kind in its answer. Of those who ask at the
// same time, one makes the requests.
func (k *kinds) find(ctx context.Context, kind schema.GroupVersionKind, mapping **meta.RESTMapping) error {
	k.mutex.Lock()
	before := k.current
	k.mutex.Unlock()
	current, err := k.load(ctx, before)
	if err != nil {
		return err
	}
	*mapping, err = current.RESTMapping(kind.GroupKind(), kind.Version)
	return err
}

func (k *kinds) load(ctx context.Context, before meta.RESTMapper) (meta.RESTMapper, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.current != before {
		return k.current, nil
	}
	resources, err := restmapper.GetAPIGroupResourcesWithContext(ctx, k.discovery)
	if err != nil {
		return nil, err
	}
	k.current = restmapper.NewDiscoveryRESTMapper(resources)
	return k.current, nil
}
