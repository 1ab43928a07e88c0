package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// served are the kinds of a cluster, with the names of their versions.
type served struct {
	meta.RESTMapper
	versions []string
	// away are the group versions whose kinds the cluster does not know at present, because their
	// server does not answer.
	away map[schema.GroupVersion]error
}

// RESTMapping finds the resource of a kind. A kind is missing only if the cluster would
// know it; without a version, it is looked for in all versions.
//
// "No such kind" is an answer that deletions act on: an object of the kind counts as deleted. So
// the answer must not come from a group whose server was only unavailable during discovery.
func (s *served) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := s.RESTMapper.RESTMapping(kind, versions...)
	if !meta.IsNoMatchError(err) {
		return mapping, err // unchanged: the caller recognises the library's error
	}
	// All entries have the group of the kind, so that the versions alone are an order.
	for _, away := range slices.SortedFunc(maps.Keys(s.away), func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) }) {
		if away.Group == kind.Group && (slices.Contains(versions, away.Version) || slices.Contains(versions, "")) {
			return nil, fmt.Errorf("the cluster does not say at present which kinds there are in %s: its API server for them does not answer; see the APIService %s.%s", away, away.Version, away.Group)
		}
	}
	return nil, err // the caller recognises the error
}

// asker records which kinds a cluster does not know; the library only leaves them out.
type asker struct {
	*discovery.DiscoveryClient
	away map[schema.GroupVersion]error
}

// ServerGroupsAndResourcesWithContext implements discovery.DiscoveryInterfaceWithContext.
func (a *asker) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	groups, resources, err := a.DiscoveryClient.ServerGroupsAndResourcesWithContext(ctx)
	var failed *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &failed) {
		a.away = failed.Groups
	}
	return groups, resources, err // the library evaluates the error
}

// versionsOf returns the names of all versions and kinds.
func versionsOf(groups []*restmapper.APIGroupResources) []string {
	var versions []string
	for _, group := range groups {
		for _, served := range group.Group.Versions {
			versions = append(versions, served.GroupVersion)
			for _, resource := range group.VersionedResources[served.Version] {
				versions = append(versions, path.Join(served.GroupVersion, resource.Kind))
			}
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// release is the release of Kubernetes, once it is known.
type release struct {
	mutex sync.Mutex
	info  *version.Info
}

// Capabilities returns what the cluster can do, as charts ask for it: its release of Kubernetes,
// and all groups with their versions and all kinds in them (apps/v1, apps/v1/Deployment). Discovery
// runs once; kinds that were found later are included.
func (c *Connection) Capabilities(ctx context.Context) (kubernetes version.Info, apiVersions []string, err error) {
	known, ok := c.kinds.known().(*served)
	if !ok {
		// Most callers have made contact before; the discovery is for the others.
		if err := c.askKinds(ctx); err != nil {
			return kubernetes, nil, err
		}
		known, _ = c.kinds.known().(*served)
	}
	info, err := c.releaseInfo(ctx)
	if err != nil {
		return kubernetes, nil, fmt.Errorf("ask for the release of Kubernetes: %w", err)
	}
	if known != nil {
		apiVersions = known.versions
	}
	return *info, apiVersions, nil
}

func (c *Connection) askKinds(ctx context.Context) error {
	asked := c.kinds.ask(nil)
	if asked == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-asked.done:
		return asked.err
	}
}

func (c *Connection) releaseInfo(ctx context.Context) (*version.Info, error) {
	c.release.mutex.Lock()
	defer c.release.mutex.Unlock()
	if c.release.info != nil {
		return c.release.info, nil
	}
	var info *version.Info
	err := c.try(ctx, func(ctx context.Context) (err error) {
		info, err = c.discovery.ServerVersionWithContext(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.release.info = info
	return info, nil
}
