package release

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/model/ownership"
)

// Helm never deletes what hooks have made, unless their policies say so. Of a revision that was
// deployed, hooks may have made what users need. Of a revision that has failed or was given up,
// nothing is needed: the next operation runs its own hooks, or removes the release.

// hookManager is the manager of the fields of what the hooks of a revision make. It says who has made
// an object, without a mark that Helm does not set.
func hookManager(release *helmrelease.Release) string {
	return fmt.Sprintf("%s/hook-%d", storage.FieldManager, hashOf(release))
}

// hashOf identifies a revision, also among those of an earlier release of the name.
func hashOf(release *helmrelease.Release, more ...any) uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, release.Namespace, "/", release.Name, " ", release.Version, " ", release.Info.LastDeployed.UnixMilli())
	for _, part := range more {
		fmt.Fprint(sum, "\x00", part)
	}
	return sum.Sum64()
}

// hookSuffix completes the name of an object of a hook that has a prefix only. Each run has its own
// object, and who reads the record of the revision knows its name.
func hookSuffix(release *helmrelease.Release, hook *helmrelease.Hook, event helmrelease.HookEvent, position int) string {
	return strconv.FormatUint(hashOf(release, hook.Path, event, position), 36)
}

// leftover is an object that a hook of a revision may have left.
type leftover struct {
	apply.Object
	// manager is that of the revision.
	manager string
}

// failed reports whether a revision was not deployed, and is not going to be.
func failed(record *storage.Record) bool {
	return record.Status == common.StatusFailed || record.Status.IsPending()
}

// addLeftovers notes the objects that hooks of a failed revision may have made. No object is read.
func (o *Operation) addLeftovers(ctx context.Context, release *helmrelease.Release) error {
	for _, hook := range release.Hooks {
		if hook.Kind == apply.CRDKind {
			// All objects of the kind would be deleted with it.
			continue
		}
		for _, event := range hook.Events {
			objects, err := o.hookObjects(ctx, release, hook, event)
			if apply.IsUnknownKind(err) {
				continue
			}
			if err != nil {
				return err
			}
			for _, object := range objects {
				id := keyOf(object.Object)
				o.leftovers[id] = append(o.leftovers[id], leftover{object, hookManager(release)})
			}
		}
	}
	return nil
}

// clearLeftovers deletes what hooks of failed revisions have made, and waits until it is deleted.
func (o *Operation) clearLeftovers(ctx context.Context) ([]string, error) {
	if !o.tidied {
		needed, err := o.madeByBase(ctx)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.SortedFunc(maps.Keys(o.leftovers), key.compare) {
			if needed[id] {
				continue
			}
			if err := o.clearLeftover(ctx, id); err != nil {
				return nil, err
			}
		}
		o.tidied = true
	}
	return o.going.Continue(ctx)
}

// madeByBase are the objects of the hooks of the last complete revision: what is deployed may need
// them, also if a failed revision has made them anew.
func (o *Operation) madeByBase(ctx context.Context) (map[key]bool, error) {
	made := map[key]bool{}
	if o.base == nil || len(o.leftovers) == 0 {
		return made, nil
	}
	for _, hook := range o.base.Hooks {
		for _, event := range hook.Events {
			objects, err := o.hookObjects(ctx, o.base, hook, event)
			if err != nil && !apply.IsUnknownKind(err) {
				return nil, err
			}
			for _, object := range objects {
				made[keyOf(object.Object)] = true
			}
		}
	}
	return made, nil
}

// clearLeftover deletes an object if a hook of a failed revision has made it.
func (o *Operation) clearLeftover(ctx context.Context, id key) error {
	if len(o.leftovers[id]) == 0 {
		return nil
	}
	object := o.leftovers[id][0].Object
	for attempt := 1; ; attempt++ {
		live, err := o.get(ctx, object)
		if err == nil && live != nil && o.isLeftover(live, o.leftovers[id]) {
			if live.GetDeletionTimestamp() == nil {
				live, err = o.deleteLive(ctx, object, live)
			}
			if err == nil && live != nil {
				o.going.Await(object.Mapping, live)
			}
		}
		if err == nil || !apierrors.IsConflict(err) || attempt == deleteAttempts {
			if err != nil {
				return fmt.Errorf("delete %s, which a hook has left: %w", describe(object.Object), err)
			}
			return nil
		}
	}
}

// isLeftover reports whether an object says that one of these revisions has made it, and
// neither that another client has taken it over nor that it is to stay.
func (o *Operation) isLeftover(live *unstructured.Unstructured, by []leftover) bool {
	if Kept(live) || len(ownership.Others(live, o.desiredState.Item)) > 0 || ownership.ReleaseOf(live) != (ownership.HelmRelease{}) {
		return false
	}
	return slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return slices.ContainsFunc(by, func(made leftover) bool { return made.manager == entry.Manager })
	})
}
