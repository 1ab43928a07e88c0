package helm

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// mayHaveRelease reports whether an item has deployed a release, as far as its status shows: what
// belongs to a release is recorded without a policy, and of a release without workloads nothing is but
// its name.
func mayHaveRelease(item *deployer.Item) (inStatus, possible bool, err error) {
	status, err := parseStatus(item.Status.ProviderStatus)
	if err != nil || item.Status.ProviderStatus == nil {
		return false, false, err
	}
	inStatus = slices.ContainsFunc(status.ManagedResources, func(entry apideployer.ManagedResourceStatus) bool { return entry.Policy == "" })
	return inStatus, inStatus || len(status.ManagedResources) == 0 || status.Release != nil, nil
}

// leaveReleases removes what an item without a release has of one: that of its last job becomes
// objects of their own, and those of earlier names are removed.
func (d Deployer) leaveReleases(ctx context.Context, item *deployer.Item, config *config) ([]string, error) {
	if waiting, err := d.deleteEarlier(ctx, item, config); err != nil || len(waiting) > 0 {
		return waiting, err
	}
	switch item.Remembered().(type) {
	case nil:
	case *work:
		item.Remember(nil)
	default:
		// The roll-out is under way.
		return nil, nil
	}
	return nil, d.templates(config).dissolve(ctx, item)
}

// dissolve makes objects of their own of what an item has deployed as a release: the objects stay,
// and the records of the release are deleted. What is to happen with the objects is for the
// roll-out, which knows them then.
func (t templates) dissolve(ctx context.Context, item *deployer.Item) error {
	if _, possible, err := mayHaveRelease(item); err != nil || !possible {
		return err
	}
	connection, err := rollout.Connect(ctx, item)
	if err != nil {
		return err
	}
	if t.config, err = t.config.asDeployed(item); err != nil {
		return err
	}
	found, history, err := t.releasedBefore(ctx, item, connection)
	if err != nil || len(history) == 0 {
		return err
	}
	if err := t.recordDissolved(ctx, item, found, history[len(history)-1].Revision); err != nil {
		return err
	}
	store := &storage.Store{Cluster: rollout.On(item, connection), Namespace: t.config.Namespace, Now: t.Now}
	if err := release.Unmark(ctx, store, found, t.config.Name, ItemLabel, item.Name); err != nil {
		return err
	}
	if err := store.Forget(ctx, t.config.Name, history); err != nil {
		return err
	}
	return releases{}.set(item)
}

// releasedBefore returns what an item has deployed as a release, and the records of that;
// nothing if it has no release.
func (t templates) releasedBefore(ctx context.Context, item *deployer.Item, connection *cluster.Connection) (apply.Inventory, []*storage.Record, error) {
	inStatus, possible, err := mayHaveRelease(item)
	if err != nil || !possible {
		return nil, nil, err
	}
	if t.config, err = t.config.asDeployed(item); err != nil {
		return nil, nil, err
	}
	store := &storage.Store{Cluster: target.On(connection), Namespace: t.config.Namespace, Now: t.Now}
	history, err := store.History(ctx, t.config.Name)
	if !inStatus && apierrors.IsForbidden(err) {
		// An item without the right to read records has not written any.
		return nil, nil, nil
	}
	if err != nil || len(history) == 0 {
		return nil, nil, err
	}
	last := history[len(history)-1]
	if !belongs(last, item, inStatus) {
		return nil, nil, nil
	}
	if release.Decide(situationOf(history, storage.Marks{Owner: string(item.UID)}, t.Now())) == release.Await {
		return nil, nil, job.NewError(published.GetHelmRelease, reasons.GetRelease, fmt.Sprintf("another client is changing release %s/%s (revision %d is %s)", t.config.Namespace, t.config.Name, last.Revision, last.Status))
	}
	found, err := release.Inventory(ctx, store, t.config.Name, item.Name, history)
	if err != nil {
		return nil, nil, fmt.Errorf("take over the objects of release %s/%s: %w", t.config.Namespace, t.config.Name, err)
	}
	return found, history, nil
}

// belongs reports whether a release belongs to an item. If the status does not say so, the record
// must: another client may have given its release the same name.
func belongs(last *storage.Record, item *deployer.Item, inStatus bool) bool {
	return last.Owner == string(item.UID) || (inStatus && last.Owner == "")
}

// recordDissolved records the objects of a release. As long as its records may exist, the status
// has one of them.
func (t templates) recordDissolved(ctx context.Context, item *deployer.Item, found apply.Inventory, revision int) error {
	recorded, err := t.Recorded(item)
	if err != nil {
		return err
	}
	recorded = append(recorded.Without(found.References()...), found...)
	record := apideployer.ManagedResourceStatus{Resource: recordOf(t.config, revision)}
	return item.Record(ctx, t.Status(item, append(recorded, record)))
}

// recordOf is the record of a revision of a release.
func recordOf(config *config, revision int) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: config.Namespace, Name: storage.Name(config.Name, revision)}
}
