package helm

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apideployer "go.landscaper.dev/api/deployer"
	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func isNotFound(err error) bool { return apierrors.IsNotFound(err) }

// work is the work on a release. It is kept between attempts, so that each continues where the last
// one stopped.
type work struct {
	connection *cluster.Connection
	// counting is the cluster, on which the changes of the job are counted; nil in a plan.
	counting target.Cluster
	chart    *chart.Chart
	// operation deploys the release, or is nil when there is nothing to deploy.
	operation *release.Operation
	// after checks the deployed objects, and exports values.
	after   *rollout.Rollout
	desired rollout.DesiredState
	// kept is what the release does not want any more. Open names what others may still take over, used
	// says why the rest stays. Cleaning says that the operation removes it and deploys nothing.
	kept     apply.Inventory
	open     []string
	used     []string
	cleaning bool
	// forced deploys again although nothing has changed. done says that the release is
	// as it should be, changed that this job has made it so.
	forced, done, changed bool
	// foreseen are the owners in a plan, nil in a job.
	foreseen owners
	// foreign is the wait for an operation of another client.
	foreign     target.Watch
	foreignWait *limit.Limit
	// earlier removes a release of an earlier name, which comes after the work; held are those
	// that stay until the removal round.
	earlier *release.Operation
	held    []string
	// earlierRemovals are the removal from earlier clusters, which comes after the work.
	earlierRemovals rollout.EarlierRemovals
}

// Close implements io.Closer.
func (w *work) Close() error {
	w.endWait()
	var errs []error
	if w.operation != nil {
		errs = append(errs, w.operation.Close())
	}
	if w.after != nil {
		errs = append(errs, w.after.Close())
	}
	if w.earlier != nil {
		errs = append(errs, w.earlier.Close())
	}
	errs = append(errs, w.earlierRemovals.Close())
	return errors.Join(errs...)
}

// owners are those that know whose objects and releases are.
func (w *work) owners(item *deployer.Item) owners {
	if w.foreseen != nil {
		return w.foreseen
	}
	return ownersInJob{item}
}

// settle notes that the release is as it should be, and whether this job has made it so.
// Waiting for its objects may take long and needs no chart, which may be large: it is
// loaded again in case the release has to be deployed again.
func (w *work) settle(changed bool) { w.done, w.changed, w.chart = true, changed, nil }

func (w *work) endWait() {
	if w.foreign != nil {
		_ = w.foreign.Close()
	}
	w.foreignWait.End()
	w.foreign, w.foreignWait = nil, nil
}

// reconcileRelease deploys the release of an item, or continues to.
func (d Deployer) reconcileRelease(ctx context.Context, item *deployer.Item, config *config) (deployer.Result, error) {
	connection, err := rollout.Connect(ctx, item)
	if err != nil {
		return deployer.Result{}, err
	}
	w, ok := item.Remembered().(*work)
	if !ok || w.connection != connection {
		for _, stage := range []string{": start reconcile", ": start progressing"} {
			if err := item.Checkpoint(ctx, stageName+stage); err != nil {
				return deployer.Result{}, err
			}
		}
		w = &work{connection: connection, counting: rollout.On(item, connection), forced: mustCorrect(item)}
	}
	source := released{templates: d.templates(config), work: w}
	advance := source.advance
	if job.IsRemoval(item.Status.JobID) {
		advance = source.removalRound
	}
	waiting, err := advance(ctx, item)
	if err != nil && w.operation == nil && !w.done {
		rollout.AwaitKinds(ctx, item, connection, err)
		return deployer.Result{}, err
	}
	item.Remember(w)
	if err != nil || len(waiting) > 0 {
		return deployer.WaitFor(waiting...), err
	}
	if waiting, err := source.removeEarlier(ctx, item, false); err != nil || len(waiting) > 0 {
		return deployer.WaitFor(waiting...), err
	}
	item.Keeps(append(w.open, w.held...)...)
	item.KeepsInUse(w.used...)
	return rollout.RemoveEarlier(ctx, item, source.templates, &w.earlierRemovals)
}

// mustCorrect reports whether a job is there to undo changes of others.
func mustCorrect(item *deployer.Item) bool {
	drifted := job.GetCondition(item.Status.Conditions, v1alpha1.DriftedCondition)
	return drifted != nil && drifted.Status == v1alpha1.ConditionTrue
}

// released is an item with a release.
type released struct {
	templates
	work *work
}

// Owner implements rollout.Source. The objects of a release have the marks of Helm.
func (released) Owner(*deployer.Item) rollout.Owner { return rollout.Owner{FieldManager: fieldManager} }

// Recorded implements rollout.Source: the release has its own record.
func (released) Recorded(*deployer.Item) (apply.Inventory, error) { return nil, nil }

// Status implements rollout.Source: workloads, without policy and identity, as upstream lists them.
func (s released) Status(item *deployer.Item, inventory apply.Inventory) any {
	return withReleases(item, s.withBefore(s.status(inventory), s.work.kept))
}

func (released) status(inventory apply.Inventory) *helmv1alpha1.ProviderStatus {
	var resources apideployer.ManagedResourceStatusList
	for _, entry := range inventory {
		if readiness.IsWorkload(entry.Resource.GroupVersionKind().GroupKind()) {
			ref := entry.Resource
			ref.UID = ""
			resources = append(resources, apideployer.ManagedResourceStatus{Resource: ref})
		}
	}
	return statusOf(resources)
}

// DesiredState implements rollout.Source: the deployed objects, for callers that only read them.
func (s released) DesiredState(ctx context.Context, item *deployer.Item) (rollout.DesiredState, error) {
	connection, err := rollout.Connect(ctx, item)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	history, err := s.store(connection).History(ctx, s.config.Name)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	if len(history) == 0 {
		return rollout.DesiredState{}, fmt.Errorf("release %s/%s does not exist any more", s.config.Namespace, s.config.Name)
	}
	loaded, err := s.load(ctx, item)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	last := history[len(history)-1]
	rendered, err := s.render(ctx, item, connection, loaded, moment{revision: last.Revision, upgrade: last.Revision > 1, skipSchema: true}, false)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	deployed, err := last.Release()
	if err != nil {
		return rollout.DesiredState{}, err
	}
	return s.look(rendered, deployed.Manifest, true)
}

func (s released) store(connection *cluster.Connection) *storage.Store {
	on := target.On(connection)
	if s.work != nil && s.work.counting != nil {
		on = s.work.counting
	}
	return &storage.Store{Cluster: on, Namespace: s.config.Namespace, Now: s.Now}
}

// advance proceeds as far as possible and returns what it waits for.
func (s released) advance(ctx context.Context, item *deployer.Item) ([]string, error) {
	w := s.work
	for {
		if !w.done && w.operation == nil {
			if waiting, err := s.begin(ctx, item); err != nil || len(waiting) > 0 {
				return waiting, err
			}
		}
		if w.operation != nil {
			if waiting, err := s.operate(ctx, item); err != nil || len(waiting) > 0 {
				return waiting, err
			}
		}
		if w.after == nil {
			w.desired.JustWritten = w.changed
			begun, err := rollout.Begin(ctx, rollout.ForItem(item, s), rollout.On(item, w.connection), w.desired, nil)
			if err != nil {
				return nil, err
			}
			w.after = begun
			if err := item.SetProviderStatus(s.Status(item, begun.Inventory())); err != nil {
				return nil, err
			}
		}
		w.after.SetJob(rollout.ForItem(item, s))
		waiting, err := w.after.Continue(ctx)
		var missing *apply.Missing
		if !errors.As(err, &missing) || w.changed {
			return waiting, err
		}
		// Another client has deleted it: the release is deployed again.
		_ = w.after.Close()
		w.after, w.forced, w.done = nil, true, false
	}
}

// operate continues the operation.
func (s released) operate(ctx context.Context, item *deployer.Item) ([]string, error) {
	w := s.work
	w.operation.SetJob(s.job(item))
	waiting, err := w.operation.Continue(ctx)
	if w.operation.Over() || (err != nil && !w.operation.Stored()) {
		// What failed begins from the start, with another look at what there is.
		_ = w.operation.Close()
		w.keep(w.operation)
		w.operation = nil
		if err == nil {
			w.settle(!w.cleaning)
		}
		w.cleaning = false
	}
	return waiting, err
}

// begin decides what is to be done with the release.
func (s released) begin(ctx context.Context, item *deployer.Item) ([]string, error) {
	w := s.work
	if w.chart == nil {
		loaded, err := s.load(ctx, item)
		if err != nil {
			return nil, err
		}
		w.chart = loaded
	}
	if err := item.Checkpoint(ctx, stageName+": start apply files"); err != nil {
		return nil, err
	}
	store := s.store(w.connection)
	history, err := store.History(ctx, s.config.Name)
	if err != nil {
		return nil, err
	}
	marks := s.marks(item)
	w.endWait()
	action, err := s.decide(ctx, item, history, marks)
	if err != nil {
		return nil, err
	}
	switch action {
	case release.Await:
		return s.awaitForeign(ctx, item, store, history[len(history)-1])
	case release.Refuse:
		return nil, s.refusal(history[len(history)-1])
	case release.Nothing:
		return nil, s.beginUnchanged(ctx, item, store, history)
	default:
		return nil, s.beginOperation(ctx, item, store, history, action, marks)
	}
}

// awaitForeign waits until another client has ended its operation.
func (s released) awaitForeign(ctx context.Context, item *deployer.Item, store *storage.Store, last *storage.Record) ([]string, error) {
	watch, err := store.Watch(ctx, last, item.Requeue)
	if err != nil {
		return nil, err
	}
	s.work.foreign = watch
	s.work.foreignWait = limit.New(release.ForeignTimeoutLeft(last, s.Now()), item.Requeue)
	return []string{fmt.Sprintf("another client to finish with release %s/%s (revision %d is %s), or roll it back, or delete this revision, if no client works on it", s.config.Namespace, s.config.Name, last.Revision, last.Status)}, nil
}

// beginUnchanged looks at what is deployed already. What earlier jobs have kept is looked at
// again.
func (s released) beginUnchanged(ctx context.Context, item *deployer.Item, store *storage.Store, history []*storage.Record) error {
	look, err := s.unchangedLook(ctx, item, history[len(history)-1])
	if err != nil {
		return err
	}
	s.work.desired = look
	if err := s.rename(item, look.Expected); err != nil {
		return err
	}
	operation, err := s.cleanup(ctx, item, store, history)
	if err != nil {
		return err
	}
	if operation != nil {
		s.work.operation, s.work.cleaning = operation, true
		return nil
	}
	s.work.settle(false)
	return nil
}

// beginOperation plans the operation that deploys the release.
func (s released) beginOperation(ctx context.Context, item *deployer.Item, store *storage.Store, history []*storage.Record, action release.Action, marks storage.Marks) error {
	desiredState, look, err := s.desiredRelease(ctx, item, history, action, marks)
	if err != nil {
		return err
	}
	if desiredState.Limit, err = s.options(action).limit(item.Remaining()); err != nil {
		return configError(reasons.ValidateProviderConfiguration, err)
	}
	if desiredState.Before, err = s.templates.Recorded(item); err != nil {
		return err
	}
	if desiredState.Former, err = former(item); err != nil {
		return err
	}
	operation, err := release.Plan(ctx, store, s.job(item), desiredState, history, action)
	if err != nil {
		return err
	}
	// From here on there may be something to remove.
	if err = s.rename(item, look.Expected); err == nil {
		err = item.Record(ctx, withReleases(item, s.withBefore(s.status(workloads(look.Objects)), desiredState.Before)))
	}
	if err != nil {
		_ = operation.Close()
		return err
	}
	s.work.operation, s.work.desired = operation, look
	return nil
}

// withBefore adds to a status the objects that were deployed without a release, until they are
// deleted or a part of the release, and those that were kept. Without workloads, only a record of
// the release shows that there is one.
func (s released) withBefore(status *helmv1alpha1.ProviderStatus, before apply.Inventory) *helmv1alpha1.ProviderStatus {
	status.ManagedResources = append(status.ManagedResources, before...)
	if len(before) > 0 && len(ofRelease(status.ManagedResources)) == 0 {
		status.ManagedResources = append(status.ManagedResources, apideployer.ManagedResourceStatus{Resource: recordOf(s.config, 1)})
	}
	return status
}

// workloads are objects as they are recorded.
func workloads(entries []apply.Entry) apply.Inventory {
	var inventory apply.Inventory
	for _, entry := range entries {
		inventory = append(inventory, apideployer.ManagedResourceStatus{Resource: apply.Object{Entry: entry}.Reference()})
	}
	return inventory
}
