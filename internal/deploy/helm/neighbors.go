package helm

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/records"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/ownership"
)

// operationJob is the job of an item, as far as an operation on its release has to do with
// it.
type operationJob struct {
	*deployer.Item
	of released
}

// Yields implements release.Others.
func (j operationJob) Yields(ctx context.Context, live *unstructured.Unstructured) (bool, string, error) {
	return yields(ctx, live, j.Name, j.of.store(j.of.work.connection), itemOwner{j.Item})
}

// Keep implements release.Others.
func (j operationJob) Keep(ctx context.Context, kept apply.Inventory) error {
	status, err := parseStatus(j.Status.ProviderStatus)
	if err != nil {
		return err
	}
	workloads := apply.Inventory(status.ManagedResources)
	for _, entry := range kept {
		workloads = workloads.Without(entry.Resource)
	}
	return j.Record(ctx, j.of.withBefore(statusOf(nil), append(workloads, kept...)))
}

// owners tell of the owner of an object whether it lets the object go.
type owners interface {
	yields(ctx context.Context, item string, object corev1.ObjectReference) (bool, error)
	// isOwn reports whether an owner is the item that asks.
	isOwn(uid, namespacedName string) bool
	// inNamespace returns the name of an item of the same namespace.
	inNamespace(namespacedName string) (name string, same bool)
}

// itemOwner answers for an item with a job.
type itemOwner struct{ *deployer.Item }

func (o itemOwner) yields(ctx context.Context, item string, object corev1.ObjectReference) (bool, error) {
	return o.Yields(ctx, item, object)
}

func (o itemOwner) isOwn(uid, _ string) bool { return uid == string(o.UID) }

func (o itemOwner) inNamespace(namespacedName string) (string, bool) {
	return strings.CutPrefix(namespacedName, o.Namespace+"/")
}

// yields reports whether the owners of an object let it go: those whose labels it bears, or
// the one of the release whose marks it bears. The labels come first: not everybody who takes
// an object over takes the marks of its release away.
func yields(ctx context.Context, live *unstructured.Unstructured, self string, store *records.Store, ask owners) (bool, string, error) {
	object := corev1.ObjectReference{APIVersion: live.GetAPIVersion(), Kind: live.GetKind(), Namespace: live.GetNamespace(), Name: live.GetName()}
	labelled := ownership.Others(live, self)
	for _, item := range labelled {
		if yields, err := ask.yields(ctx, item, object); !yields || err != nil {
			return false, "DeployItem " + item, err
		}
	}
	if len(labelled) > 0 {
		return true, "", nil
	}
	return yieldsRelease(ctx, live, object, store, ask)
}

// yieldsRelease asks the owner of the release whose marks an object bears.
func yieldsRelease(ctx context.Context, live *unstructured.Unstructured, object corev1.ObjectReference, store *records.Store, ask owners) (bool, string, error) {
	name, namespace, marked := release.Of(live)
	if !marked {
		return false, "", nil
	}
	described := "release " + namespace + "/" + name
	history, err := (&records.Store{Cluster: store.Cluster, Namespace: namespace, Now: store.Now}).History(ctx, name)
	if apierrors.IsForbidden(err) || err == nil && len(history) == 0 {
		return false, described, nil
	}
	if err != nil {
		return false, "", err
	}
	last := history[len(history)-1]
	if last.Owner == "" {
		return false, described, nil
	}
	if ask.isOwn(last.Owner, last.OwnerName) {
		return true, "", nil
	}
	item, same := ask.inNamespace(last.OwnerName)
	if !same {
		return false, fmt.Sprintf("DeployItem %s (%s)", last.OwnerName, described), nil
	}
	yields, err := ask.yields(ctx, item, object)
	return yields, fmt.Sprintf("DeployItem %s (%s)", item, described), err
}

// leaves reports whether the item that has written a record is on its way out.
func leaves(ctx context.Context, last *records.Record, ask owners) (bool, error) {
	item, same := ask.inNamespace(last.OwnerName)
	if !same {
		return false, nil
	}
	// What an item of a chart wants is not known, so it lets only then anything go.
	return ask.yields(ctx, item, corev1.ObjectReference{})
}

// awayJob is the job of an item on an earlier cluster, where nobody takes anything over.
type awayJob struct {
	release.Alone
	item *deployer.Item
}

// Checkpoint implements release.Job.
func (j awayJob) Checkpoint(ctx context.Context, name string) error {
	return j.item.Checkpoint(ctx, name)
}

// Expired implements release.Job.
func (j awayJob) Expired() bool { return j.item.Expired() }

// Wake implements release.Job.
func (j awayJob) Wake() { j.item.Wake() }
