package helm

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apideployer "go.landscaper.dev/api/deployer"
	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// A release is known by its name and its namespace. An item whose configuration has another of
// both gets another release: that is deployed first, takes over what both have, and then the
// earlier one is removed. The status names all of them before anything is deployed.

// releases are those of an item on the cluster of its Target, as its status names them.
type releases struct {
	// current is nil if none is recorded.
	current *apideployer.ReleaseReference
	earlier []apideployer.ReleaseReference
	// definitions are what the folders crds of the chart of the current one have.
	definitions []corev1.ObjectReference
}

func releasesOf(item *deployer.Item) (releases, error) {
	status, err := parseStatus(item.Status.ProviderStatus)
	if err != nil {
		return releases{}, err
	}
	return releases{status.Release, status.EarlierReleases, status.Definitions}, nil
}

// deploys returns the releases of an item that deploys one of them from now on.
func (r releases) deploys(wanted apideployer.ReleaseReference) releases {
	earlier := r.without(wanted).earlier
	if r.current != nil && *r.current != wanted && !slices.Contains(earlier, *r.current) {
		earlier = append(earlier, *r.current)
	}
	return releases{&wanted, earlier, r.definitions}
}

// without returns the releases when an earlier one is deleted.
func (r releases) without(gone apideployer.ReleaseReference) releases {
	r.earlier = slices.DeleteFunc(slices.Clone(r.earlier), func(earlier apideployer.ReleaseReference) bool { return earlier == gone })
	return r
}

// set keeps the releases for the next write of the status.
func (r releases) set(item *deployer.Item) error {
	status, err := parseStatus(item.Status.ProviderStatus)
	if err != nil {
		return err
	}
	if item.Status.ProviderStatus == nil {
		status = statusOf(nil)
	}
	status.Release, status.EarlierReleases, status.Definitions = r.current, r.earlier, r.definitions
	return item.SetProviderStatus(status)
}

// withReleases adds to a status which releases the item has.
func withReleases(item *deployer.Item, status *helmv1alpha1.ProviderStatus) *helmv1alpha1.ProviderStatus {
	// A status that cannot be read ends an attempt before it writes one.
	known, _ := releasesOf(item)
	status.Release, status.EarlierReleases, status.Definitions = known.current, known.earlier, known.definitions
	return status
}

// reference names the release of a configuration.
func (c *config) reference() apideployer.ReleaseReference {
	return apideployer.ReleaseReference{Name: c.Name, Namespace: c.Namespace}
}

// named is the configuration with another name of the release.
func (c *config) named(reference apideployer.ReleaseReference) *config {
	named, provider := *c, *c.ProviderConfiguration
	provider.Name, provider.Namespace = reference.Name, reference.Namespace
	named.ProviderConfiguration = &provider
	return &named
}

// asDeployed is the configuration with the name under which the item has its release.
func (c *config) asDeployed(item *deployer.Item) (*config, error) {
	known, err := releasesOf(item)
	if err != nil || known.current == nil {
		return c, err
	}
	return c.named(*known.current), nil
}

// rename notes that the item deploys the release of its configuration from now on, and what the
// folders crds of its chart have.
func (s released) rename(item *deployer.Item, definitions []corev1.ObjectReference) error {
	known, err := releasesOf(item)
	if err != nil {
		return err
	}
	if wanted := s.config.reference(); known.current != nil && *known.current != wanted {
		item.Warn(string(reasons.ReleaseChanged), fmt.Sprintf("release %s becomes %s: the earlier one is removed once that is deployed", describeRelease(*known.current), describeRelease(wanted)))
	}
	known.definitions = definitions
	return known.deploys(s.config.reference()).set(item)
}

// definitionsOf are the objects in the folders crds of a chart. A file that cannot be read fails the
// installation of the chart, and has no other effect.
func definitionsOf(rendered *render.Result) (found []corev1.ObjectReference) {
	for _, file := range rendered.Definitions {
		entries, _ := release.Entries(file.Text, "")
		for _, entry := range entries {
			found = append(found, referenceTo(entry.Object))
		}
	}
	return found
}

func describeRelease(reference apideployer.ReleaseReference) string {
	return reference.Namespace + "/" + reference.Name
}

// removeEarlier removes the earlier releases of an item, or continues to. Those from which another
// item may still take objects over stay until the removal round, unless the item itself is being
// deleted.
func (s released) removeEarlier(ctx context.Context, item *deployer.Item, leaving bool) (waiting []string, err error) {
	known, err := releasesOf(item)
	if err != nil || len(known.earlier) == 0 {
		return nil, err
	}
	s.work.held = nil
	for _, earlier := range known.earlier {
		if holds, err := s.holds(ctx, item, leaving); err != nil || holds {
			s.work.held = append(s.work.held, "release "+describeRelease(earlier))
			if err != nil {
				return nil, err
			}
			continue
		}
		waiting, err := s.uninstallEarlier(ctx, item, earlier, leaving)
		if err != nil {
			return nil, job.Wrap(err, published.DeleteItem, reasons.DeleteWithUninstall, "remove the earlier release "+describeRelease(earlier))
		}
		if len(waiting) > 0 {
			return waiting, nil
		}
		known = known.without(earlier)
		if err := known.set(item); err != nil {
			return nil, err
		}
		if !leaving {
			if err := s.recordKept(item); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// holds reports whether another item may still take over objects of an earlier release.
func (s released) holds(ctx context.Context, item *deployer.Item, leaving bool) (bool, error) {
	if leaving || s.work.earlier != nil {
		return false, nil
	}
	return item.MayMove(ctx)
}

// uninstallEarlier removes an earlier release, or continues to. What is in use stays, as an object
// that the item has without a release.
func (s released) uninstallEarlier(ctx context.Context, item *deployer.Item, earlier apideployer.ReleaseReference, leaving bool) (waiting []string, err error) {
	s.config = s.config.named(earlier)
	w := s.work
	if w.earlier == nil {
		if w.earlier, err = s.planEarlier(ctx, item, earlier, leaving); err != nil || w.earlier == nil {
			return nil, err
		}
	}
	w.earlier.SetJob(s.job(item))
	waiting, err = w.earlier.Continue(ctx)
	if w.earlier.Over() || err != nil && !w.earlier.Stored() {
		_ = w.earlier.Close()
		w.alsoKeep(w.earlier)
		w.earlier = nil
	}
	return waiting, err
}

// planEarlier returns the operation that removes an earlier release, nil without one. A release with
// the mark of another item, or without a mark, is not that of the item.
func (s released) planEarlier(ctx context.Context, item *deployer.Item, earlier apideployer.ReleaseReference, leaving bool) (*release.Operation, error) {
	store := s.store(s.work.connection)
	history, err := store.History(ctx, earlier.Name)
	if err != nil || len(history) == 0 || history[len(history)-1].Owner != string(item.UID) {
		return nil, err
	}
	within, err := s.config.uninstall.limit(item.Remaining())
	if err != nil {
		return nil, configError(reasons.ValidateProviderConfiguration, err)
	}
	desiredState := s.desiredFor(item)
	desiredState.Options = release.Options{Wait: s.config.uninstall.Wait, Limit: within}
	if !leaving {
		if desiredState.Remaining, err = s.remaining(ctx, item); err != nil {
			return nil, err
		}
	}
	return release.PlanRemoval(ctx, store, s.job(item), desiredState, history)
}

// remaining is what an item has besides the earlier releases that it gives up.
func (s released) remaining(ctx context.Context, item *deployer.Item) (*release.Remaining, error) {
	found := &release.Remaining{Expected: ownership.Expected(item.DeployItem)}
	known, err := releasesOf(item)
	if err != nil || known.current == nil {
		return found, err
	}
	s.config = s.config.named(*known.current)
	history, err := s.store(s.work.connection).History(ctx, known.current.Name)
	if err != nil || len(history) == 0 || !belongs(history[len(history)-1], item, true) {
		return found, err
	}
	deployed, err := history[len(history)-1].Release()
	if err != nil {
		return nil, job.AsTerminal(err)
	}
	entries, err := release.Entries(deployed.Manifest, deployed.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read revision %d of release %s: %w", deployed.Version, describeRelease(*known.current), err)
	}
	found.Content = []ownership.Content{{Release: ownership.HelmRelease{Name: known.current.Name, Namespace: known.current.Namespace}}}
	for _, entry := range entries {
		found.Content = append(found.Content, ownership.Content{Object: referenceTo(entry.Object)})
	}
	return found, nil
}

// previewEarlier adds what becomes of releases with earlier names: what the release has, too,
// is taken over.
func (s released) previewEarlier(ctx context.Context, item *deployer.Item, earlier []apideployer.ReleaseReference, forecast rollout.Forecast) (rollout.Forecast, error) {
	for _, reference := range earlier {
		gone, err := s.previewUninstall(ctx, item, reference)
		if err != nil {
			return forecast, err
		}
		for _, object := range gone {
			if !slices.ContainsFunc(forecast.Objects, func(other diff.Object) bool { return sameObject(object, other) }) {
				forecast.Objects = append(forecast.Objects, object)
			}
		}
	}
	return forecast, nil
}

// previewUninstall is what the removal of an earlier release would make of its objects.
func (s released) previewUninstall(ctx context.Context, item *deployer.Item, earlier apideployer.ReleaseReference) ([]diff.Object, error) {
	s.config = s.config.named(earlier)
	store := s.store(s.work.connection)
	history, err := store.History(ctx, earlier.Name)
	if err != nil || len(history) == 0 || history[len(history)-1].Owner != string(item.UID) {
		return nil, err
	}
	return release.PreviewRemoval(ctx, store, earlier.Name, item.Name, history)
}

// sameObject reports whether two objects have the same name, whatever the version of their
// API.
func sameObject(a, b diff.Object) bool {
	group := func(object diff.Object) string {
		return schema.FromAPIVersionAndKind(object.APIVersion, object.Kind).Group
	}
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name && group(a) == group(b)
}
