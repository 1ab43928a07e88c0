package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

const (
	// pruning is how long a kustomization may take to remove what it has deployed.
	pruning = 10 * time.Minute
	// pruningAtEnd is the same when the whole shoot is deleted.
	pruningAtEnd = 2 * time.Minute
)

// teardown is the way in which the objects in a shoot are removed or left.
type teardown struct {
	// order are the ManagedResources, one after the other.
	order []string
	// keep leaves their objects in the shoot.
	keep bool
	// force does not wait for the resource manager.
	force bool
}

// parting returns the teardown of a shoot. Objects that need a controller for their deletion are
// deleted before the controller.
func parting(policy config.DeletionPolicy, shoot *gardener.Shoot, since time.Duration) teardown {
	way := teardown{order: []string{ConfigName, DataName, InstallName}, keep: policy != config.Delete}
	if shoot == nil {
		// The shoot does not exist in Gardener any more, so there is nothing to clean up.
		way.keep = true
		return way
	}
	way.force = shoot.Annotations[gardener.ForceDeletionAnnotation] == "true"
	if way.force || shoot.DeletionTimestamp != nil && since > pruningAtEnd {
		// The shoot is deleted with all its objects.
		way.keep = true
	}
	return way
}

// policy returns the deletion policy of the configuration, or the last known one: a project is
// deleted with its configuration.
//
// An unreadable configuration must not remove anything: then the last known policy counts, and
// without one Flux stays.
func (r *Reconciler) policy(ctx context.Context, now *run) config.DeletionPolicy {
	remembered, err := state.Read(now.e)
	policy := config.DeletionPolicy(remembered.DeletionPolicy)
	if err != nil || policy == "" {
		policy = config.Orphan
	}
	if now.shoot == nil {
		return policy
	}
	if found, err := r.configure(ctx, now); err == nil && found.Origin != config.BuiltIn {
		policy = found.DeletionPolicy
	}
	return policy
}

// leave removes the pieces of a shoot, or leaves them there. A shoot that another seed takes over keeps
// all: the status has the state for that seed already.
func (r *Reconciler) leave(ctx context.Context, now *run) (err error) {
	way := teardown{order: []string{ConfigName, DataName, InstallName}, keep: true}
	if now.kind == gardener.Delete {
		way = parting(r.policy(ctx, now), now.shoot, now.departingFor())
	}
	now.waiting, err = r.depart(ctx, now.e.Namespace, way)
	return err
}

// release reports the success, and removes the finalizer.
func (r *Reconciler) release(ctx context.Context, now *run) error {
	if err := r.report(ctx, now.e, func(status *gardener.ExtensionStatus) { r.succeeded(status, now.e, now.kind) }); err != nil {
		return err
	}
	return r.edit(ctx, now.e, func(meta *metav1.ObjectMeta) {
		if now.kind == gardener.Migrate {
			// Finalizers of others as well, as gardenlet's protocol requires.
			meta.Finalizers = nil
			delete(meta.Annotations, gardener.OperationAnnotation)
			return
		}
		meta.Finalizers = slices.DeleteFunc(slices.Clone(meta.Finalizers), func(name string) bool { return name == Finalizer })
	})
}

// removalWait is what a deletion waits for: a ManagedResource, and whether its objects have to be
// taken back before it is deleted. The name is empty if there is nothing to wait for.
type removalWait struct {
	name       string
	reclaiming bool
}

// String describes the wait.
func (p removalWait) String() string {
	switch {
	case p.reclaiming:
		return "waiting until the resource manager has taken back the objects of ManagedResource " + p.name + ", which were left to the owner of the shoot, so that it can delete them"
	case p.name == ConfigName:
		return "waiting until the ManagedResource " + p.name + " is deleted: Flux removes what it has deployed"
	}
	return "waiting until the ManagedResource " + p.name + " is deleted"
}

// depart deletes the ManagedResources and returns what the deletion waits for.
//
// ManagedResources whose objects stay in the shoot need no order, and are deleted at the same time.
// Objects that were left to the owner of the shoot are reclaimed before they are deleted: otherwise
// the resource manager would not know them.
func (r *Reconciler) depart(ctx context.Context, namespace string, way teardown) (removalWait, error) {
	waiting := removalWait{}
	for _, name := range way.order {
		if !way.keep {
			if done, err := r.writer.Reclaim(ctx, namespace, name); err != nil || !done {
				return removalWait{name: name, reclaiming: true}, err
			}
		}
		gone, err := r.writer.Remove(ctx, namespace, name, way.keep)
		if err != nil {
			return removalWait{}, err
		}
		if way.force {
			if err := r.writer.Abandon(ctx, namespace, name); err != nil {
				return removalWait{}, err
			}
		}
		if !gone && waiting.name == "" {
			waiting.name = name
		}
		if !gone && !way.keep {
			return waiting, nil
		}
	}
	return waiting, nil
}

// overdue is the error of a removal that takes too long.
func (p removalWait) overdue() error {
	look := "look for finalizers in the shoot, and whether Flux runs there"
	if p.reclaiming {
		look = "look at the conditions of the ManagedResource, and whether the resource manager of the shoot runs"
	}
	return withCode(fmt.Errorf("%s; this takes longer than %s: %s", p, pruning, look), gardener.CleanupProblem)
}

// sweep removes the objects on the seed. A generated key moves with a shoot to another seed.
func (r *Reconciler) sweep(ctx context.Context, now *run) error {
	if err := r.helpers(ctx, now.e.Namespace); err != nil || now.kind == gardener.Migrate {
		return err
	}
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: now.e.Namespace, Name: sourcesecret.SeedName}}
	if err := r.Client.Delete(ctx, key); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s/%s: %w", now.e.Namespace, key.Name, err)
	}
	return nil
}

// helpers removes the objects that only this seed needs.
func (r *Reconciler) helpers(ctx context.Context, namespace string) error {
	if err := r.Systems.Shoots.Forget(ctx, namespace); err != nil {
		return err
	}
	return r.writer.Clean(ctx, namespace, InstallName, ConfigName)
}
