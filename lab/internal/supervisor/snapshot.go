package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"syscall"

	"go.landscaper.dev/lab/internal/report"
)

// SnapshotRequest names a copy of what is stored in a cluster.
type SnapshotRequest struct {
	Name string `json:"name"`
}

// snapshotName is what a snapshot may be called: it names a directory.
var snapshotName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,62}$`)

func (c *cluster) snapshotPath(name string) (string, error) {
	if !snapshotName.MatchString(name) {
		return "", invalid{fmt.Errorf("snapshot %q: a name has lower-case letters, digits, - and . only", name)}
	}
	return c.path("snapshots", name), nil
}

// snapshot copies the data of etcd. It hangs meanwhile, so that the copy is what a machine
// would find that lost its power in that moment; no connection ends.
func (s *Supervisor) snapshot(r *http.Request, request SnapshotRequest) (report.Component, error) {
	c, err := s.cluster(r.PathValue("cluster"))
	if err != nil {
		return report.Component{}, err
	}
	path, err := c.snapshotPath(request.Name)
	if err != nil {
		return report.Component{}, err
	}
	etcd, err := s.component(c.Name + "/etcd")
	if err != nil {
		return report.Component{}, err
	}
	if err := errors.Join(os.RemoveAll(path), etcd.signal(syscall.SIGSTOP)); err != nil {
		return report.Component{}, err
	}
	err = os.CopyFS(path, os.DirFS(c.path("etcd")))
	if err := errors.Join(err, etcd.signal(syscall.SIGCONT)); err != nil {
		return report.Component{}, fmt.Errorf("copy the data of cluster %s: %w", c.Name, err)
	}
	s.log.Info("copied the data of etcd", "cluster", c.Name, "snapshot", request.Name)
	return etcd.report(), nil
}

// restore ends the components that know what is stored, puts a copy in its place, and starts
// them again, as the documentation of Kubernetes asks for.
func (s *Supervisor) restore(r *http.Request, request SnapshotRequest) (report.Component, error) {
	c, err := s.cluster(r.PathValue("cluster"))
	if err != nil {
		return report.Component{}, err
	}
	path, err := c.snapshotPath(request.Name)
	if err != nil {
		return report.Component{}, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return report.Component{}, notFound{fmt.Errorf("cluster %s has no snapshot %q: make one with \"lab snapshot\"", c.Name, request.Name)}
	}
	parts, err := s.storing(c.Name)
	if err != nil {
		return report.Component{}, err
	}
	for i := range parts {
		if err := parts[len(parts)-1-i].signal(syscall.SIGKILL); err != nil {
			return report.Component{}, err
		}
	}
	if err := errors.Join(os.RemoveAll(c.path("etcd")), os.CopyFS(c.path("etcd"), os.DirFS(path))); err != nil {
		return report.Component{}, fmt.Errorf("put the data of cluster %s in place: %w", c.Name, err)
	}
	// The client may have disconnected; the cluster must come up all the same.
	ctx := context.WithoutCancel(r.Context())
	for _, part := range parts {
		if err := part.restart(ctx); err != nil {
			return report.Component{}, err
		}
	}
	s.log.Info("restored the data of etcd", "cluster", c.Name, "snapshot", request.Name)
	return parts[0].report(), nil
}

// storing are the components of a cluster that keep what is stored, or have read it, in the
// order in which they start.
func (s *Supervisor) storing(cluster string) ([]*component, error) {
	var parts []*component
	for _, name := range []string{"etcd", "apiserver", "controller-manager"} {
		part, err := s.component(cluster + "/" + name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, name := range []string{"scheduler", "kwok"} {
		if part, err := s.component(cluster + "/" + name); err == nil {
			parts = append(parts, part)
		}
	}
	return parts, nil
}
