package helm

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/model/ownership"
)

// operationJob is the job of an item, as far as an operation on its release has to do with
// it.
type operationJob struct {
	*deployer.Item
	of     released
	newest *newest
}

func (s released) job(item *deployer.Item) operationJob {
	return operationJob{item, s, &newest{store: s.store(s.work.connection)}}
}

// Yields implements release.Others.
func (j operationJob) Yields(ctx context.Context, live *unstructured.Unstructured) (bool, string, error) {
	return yields(ctx, live, j.Item, j.newest, ownersInJob{j.Item})
}

// Keep implements release.Others.
func (j operationJob) Keep(ctx context.Context, kept apply.Inventory) error {
	status, err := parseStatus(j.Status.ProviderStatus)
	if err != nil {
		return err
	}
	workloads := apply.Inventory(status.ManagedResources).Without(kept.References()...)
	return j.Record(ctx, withReleases(j.Item, j.of.withBefore(statusOf(nil), append(workloads, kept...))))
}

// owners answer for other items of the namespace, which may own objects and releases.
type owners interface {
	// yields reports whether an item gives an object up.
	yields(ctx context.Context, item string, object corev1.ObjectReference) (bool, error)
	// isTerminating reports whether an item is being deleted.
	isTerminating(ctx context.Context, item string) (bool, error)
	// invites reports whether an item has released an object for this item.
	invites(ctx context.Context, item string, object corev1.ObjectReference) (bool, error)
}

// ownersInJob are the other items as a job of an item sees them.
type ownersInJob struct{ *deployer.Item }

func (o ownersInJob) yields(ctx context.Context, item string, object corev1.ObjectReference) (bool, error) {
	return o.Yields(ctx, item, object)
}

func (o ownersInJob) isTerminating(ctx context.Context, item string) (bool, error) {
	// What an item of a chart wants is not known, so such an item gives up objects only when it is deleted.
	return o.Yields(ctx, item, corev1.ObjectReference{})
}

func (o ownersInJob) invites(ctx context.Context, item string, _ corev1.ObjectReference) (bool, error) {
	return o.IsNeighbor(ctx, item)
}

// ownersInPlan are the other items as a plan sees them.
type ownersInPlan struct{ rollout.Outlook }

func (o ownersInPlan) yields(_ context.Context, item string, object corev1.ObjectReference) (bool, error) {
	return o.Yields(item, object), nil
}

func (o ownersInPlan) isTerminating(_ context.Context, item string) (bool, error) {
	return o.IsTerminating(item), nil
}

func (o ownersInPlan) invites(_ context.Context, item string, object corev1.ObjectReference) (bool, error) {
	return o.Yields(item, object), nil
}

// planned is what a plan knows of other items.
type planned struct {
	release.Alone
	item   *deployer.Item
	ask    owners
	newest *newest
}

// Yields implements release.Others.
func (p planned) Yields(ctx context.Context, live *unstructured.Unstructured) (bool, string, error) {
	return yields(ctx, live, p.item, p.newest, p.ask)
}

// yields reports whether the owners of an object give it up: those whose labels it has, or that of
// the release whose marks it has. The labels come first: not every item that takes an object over
// removes the marks of its release.
//
// A released object is free for items of the same namespace and cluster. Any client of the cluster
// can write the annotation, and items of other namespaces and Landscapers do not count.
func yields(ctx context.Context, live *unstructured.Unstructured, self *deployer.Item, of *newest, ask owners) (bool, string, error) {
	if by := live.GetAnnotations()[v1alpha1.ReleasedByAnnotation]; by == self.Name && by != "" {
		return true, "", nil
	} else if by != "" {
		if invited, err := ask.invites(ctx, by, referenceTo(live)); invited || err != nil {
			return invited, "", err
		}
	}
	labelled := ownership.Others(live, self.Name)
	for _, item := range labelled {
		if yields, err := ask.yields(ctx, item, referenceTo(live)); !yields || err != nil {
			return false, "DeployItem " + item, err
		}
	}
	if len(labelled) > 0 {
		return true, "", nil
	}
	return yieldsRelease(ctx, live, self, of, ask)
}

// yieldsRelease asks the owner of the release whose marks an object has.
func yieldsRelease(ctx context.Context, live *unstructured.Unstructured, self *deployer.Item, of *newest, ask owners) (bool, string, error) {
	name := ownership.ReleaseOf(live)
	if name == (ownership.HelmRelease{}) {
		return false, "", nil
	}
	described := "release " + name.Namespace + "/" + name.Name
	last, err := of.record(ctx, name)
	if err != nil {
		return false, "", err
	}
	if last == nil {
		return false, described, nil
	}
	if last.Owner == "" {
		return false, described, nil
	}
	if last.Owner == string(self.UID) {
		return true, "", nil
	}
	item, same := strings.CutPrefix(last.OwnerName, self.Namespace+"/")
	if !same {
		return false, fmt.Sprintf("DeployItem %s (%s)", last.OwnerName, described), nil
	}
	yields, err := ask.yields(ctx, item, referenceTo(live))
	return yields, fmt.Sprintf("DeployItem %s (%s)", item, described), err
}

// newest are the newest records of releases. Each release is asked for once, however many of
// its objects are looked at.
type newest struct {
	store *storage.Store
	mutex sync.Mutex
	found map[ownership.HelmRelease]*storage.Record
}

// record returns the newest record of a release, or nil without one that may be read.
func (n *newest) record(ctx context.Context, of ownership.HelmRelease) (*storage.Record, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if last, known := n.found[of]; known {
		return last, nil
	}
	history, err := (&storage.Store{Cluster: n.store.Cluster, Namespace: of.Namespace, Now: n.store.Now}).History(ctx, of.Name)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	if n.found == nil {
		n.found = map[ownership.HelmRelease]*storage.Record{}
	}
	if len(history) > 0 {
		n.found[of] = history[len(history)-1]
	} else {
		n.found[of] = nil
	}
	return n.found[of], nil
}

// ownerTerminating reports whether the item that has written a record is being deleted.
func ownerTerminating(ctx context.Context, last *storage.Record, self *deployer.Item, ask owners) (bool, error) {
	item, same := strings.CutPrefix(last.OwnerName, self.Namespace+"/")
	if !same {
		return false, nil
	}
	return ask.isTerminating(ctx, item)
}

func referenceTo(object *unstructured.Unstructured) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

// earlierClusterJob is the job of an item on an earlier cluster. The item has left that cluster for the
// items that deploy there, as if it were deleted.
type earlierClusterJob struct {
	release.Alone
	item    *deployer.Item
	cluster apideployer.ClusterIdentity
}

// Others implements release.Job.
func (j earlierClusterJob) Others(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	return j.item.OthersOn(ctx, j.cluster)
}

// Stays implements release.Job.
func (j earlierClusterJob) Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error) {
	return j.item.Stays(ctx, other)
}

// Moved implements release.Job.
func (j earlierClusterJob) Moved(ctx context.Context, object string, to *v1alpha1.DeployItem) {
	j.item.Moved(ctx, object, to)
}

// Bequeath implements release.Job.
func (j earlierClusterJob) Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry apideployer.ManagedResourceStatus) error {
	return j.item.Bequeath(ctx, heir, entry)
}

// Checkpoint implements release.Job.
func (j earlierClusterJob) Checkpoint(ctx context.Context, name string) error {
	return j.item.Checkpoint(ctx, name)
}

// Expired implements release.Job.
func (j earlierClusterJob) Expired() bool { return j.item.Expired() }

// Requeue implements release.Job.
func (j earlierClusterJob) Requeue() { j.item.Requeue() }
