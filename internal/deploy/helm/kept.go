package helm

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/job"
)

// An upgrade keeps objects that it does not want any more if another item may still take them over.
// They are recorded with a policy, as objects without a release are, and are deleted in the removal
// round.

// removalRound removes objects that earlier jobs have kept and no item has taken over. The release
// stays as it is: no chart is loaded, no hook runs, and no revision is made.
func (s released) removalRound(ctx context.Context, item *deployer.Item) ([]string, error) {
	w := s.work
	if !w.done && w.operation == nil {
		if err := s.beginCleanup(ctx, item); err != nil {
			return nil, err
		}
	}
	if w.operation != nil {
		if waiting, err := s.operate(ctx, item); err != nil || len(waiting) > 0 {
			return waiting, err
		}
	}
	return nil, s.recordKept(item)
}

// beginCleanup plans the removal of what earlier jobs have kept, if there is anything.
func (s released) beginCleanup(ctx context.Context, item *deployer.Item) error {
	store := s.store(s.work.connection)
	history, err := store.History(ctx, s.config.Name)
	if err != nil {
		return err
	}
	operation, err := s.cleanup(ctx, item, store, history)
	if err != nil {
		return err
	}
	if operation == nil {
		s.work.settle(false)
		return nil
	}
	s.work.operation, s.work.cleaning = operation, true
	return nil
}

// cleanup returns the operation that removes what earlier jobs have kept; nil if there is
// nothing.
func (s released) cleanup(ctx context.Context, item *deployer.Item, store *storage.Store, history []*storage.Record) (*release.Operation, error) {
	kept, err := s.templates.Recorded(item)
	if err != nil {
		return nil, err
	}
	desiredState := s.desiredFor(item)
	if desiredState.Former, err = former(item); err != nil {
		return nil, err
	}
	desiredState.Before, desiredState.ReleasedOnly = kept, len(history) > 0 && !belongs(history[len(history)-1], item, true)
	if desiredState.Contested, err = s.contested(ctx, item, history); err != nil || len(kept)+len(desiredState.Contested) == 0 {
		return nil, err
	}
	return release.PlanCleanup(ctx, store, s.job(item), desiredState, history)
}

// former are the releases that the status of an item names.
func former(item *deployer.Item) (found []ownership.HelmRelease, err error) {
	known, err := releasesOf(item)
	if known.current != nil {
		known.earlier = append(known.earlier, *known.current)
	}
	for _, release := range known.earlier {
		found = append(found, ownership.HelmRelease{Name: release.Name, Namespace: release.Namespace})
	}
	return found, err
}

// contested are the objects of the release that another item of the namespace has recorded, too: it
// has taken them over, and may have dropped them since. Items of no tree are not read, and no item
// is asked.
func (s released) contested(ctx context.Context, item *deployer.Item, history []*storage.Record) ([]corev1.ObjectReference, error) {
	if len(history) == 0 || !belongs(history[len(history)-1], item, true) || item.Labels[v1alpha1.ExecutionManagedByLabel] == "" {
		return nil, nil
	}
	deployed, err := history[len(history)-1].Release()
	if err != nil {
		return nil, job.AsTerminal(err)
	}
	entries, err := release.Entries(deployed.Manifest, deployed.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read revision %d: %w", deployed.Version, err)
	}
	objects := make([]corev1.ObjectReference, 0, len(entries))
	for _, entry := range entries {
		object := referenceTo(entry.Object)
		objects = append(objects, object)
		// Whether its kind has namespaces was not looked up.
		object.Namespace = ""
		objects = append(objects, object)
	}
	return item.RecordedByOthers(ctx, objects)
}

// desiredFor is what an operation of an item has to know that deploys nothing.
func (s released) desiredFor(item *deployer.Item) release.DesiredState {
	return release.DesiredState{Name: s.config.Name, Namespace: s.config.Namespace, Item: item.Name, Ours: oursOf(item.Name)}
}

// oursOf reports the objects that an item has deployed without a release.
func oursOf(item string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return object.GetLabels()[ItemLabel] == item }
}

// ofRelease are the entries of a record that belong to a release.
func ofRelease(entries apideployer.ManagedResourceStatusList) (found apideployer.ManagedResourceStatusList) {
	for _, entry := range entries {
		if entry.Policy == "" {
			found = append(found, entry)
		}
	}
	return found
}

// recordKept writes what was kept into the status, with the workloads of the release.
func (s released) recordKept(item *deployer.Item) error {
	status, err := parseStatus(item.Status.ProviderStatus)
	if err != nil {
		return err
	}
	return item.SetProviderStatus(withReleases(item, s.withBefore(statusOf(ofRelease(status.ManagedResources)), s.work.kept)))
}

// keep notes what an operation has kept.
func (w *work) keep(by *release.Operation) {
	w.kept, w.open, w.used = nil, nil, nil
	w.alsoKeep(by)
}

// alsoKeep adds what another operation has kept.
func (w *work) alsoKeep(by *release.Operation) {
	for _, entry := range by.Kept() {
		w.kept = append(w.kept.Without(entry.Resource), entry)
		name := apply.Describe(entry.Resource.Kind, entry.Resource.Namespace, entry.Resource.Name)
		if reason := by.Reason(entry.Resource); reason != "" {
			w.used = append(w.used, name+" stays "+reason)
			continue
		}
		w.open = append(w.open, name)
	}
}
