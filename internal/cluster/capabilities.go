package cluster

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/restmapper"
)

// served are the kinds of a cluster, with the names of their versions.
type served struct {
	meta.RESTMapper
	versions []string
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

// Capabilities returns what the cluster can do, as charts ask for it: its release of
// Kubernetes, and all groups with their versions and all kinds in them (apps/v1,
// apps/v1/Deployment). It is asked once; kinds that were found later are among them.
func (c *Connection) Capabilities(ctx context.Context) (kubernetes version.Info, apiVersions []string, err error) {
	known, ok := c.kinds.known().(*served)
	if !ok {
		// Whoever is here has made contact before; this is for those who have not.
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
