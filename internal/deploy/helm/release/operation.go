package release

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/deploy/loss"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Job is the job of an item, as far as an operation has to do with it.
type Job interface {
	// Checkpoint names the stage of the work; its error ends the attempt.
	Checkpoint(ctx context.Context, name string) error
	// Expired reports whether the time of the job is over.
	Expired() bool
	// Requeue triggers the next attempt. It may be called from any goroutine.
	Requeue()
	Others
}

// historyLimit is how many revisions of a release are kept.
const historyLimit = 10

// step is a part of an operation. It may be taken again after an error and after each wake, and
// continues where it stopped.
type step func(ctx context.Context) (waiting []string, err error)

// Operation is an installation, an upgrade or a removal under way. It never waits itself. When it
// is lost, the next one sees its record.
type Operation struct {
	store        *storage.Store
	desiredState DesiredState
	job          Job
	// others are those of the job.
	others Others
	doing  string

	steps []step
	at    int
	// stored says that the record of the new revision exists, asked that its creation was
	// asked for without an answer.
	stored, asked bool
	// undoing is set while a failure is undone, failure is what is undone.
	undoing bool
	failure error

	release *helmrelease.Release
	// earlier are the revisions before.
	earlier []*storage.Record
	// base is the last revision that was deployed completely, or nil.
	base *helmrelease.Release
	// previous are the objects of earlier revisions that may exist.
	previous []apply.Object
	original map[key]*unstructured.Unstructured
	// complete are the objects of revisions that were deployed completely: those of other revisions
	// may have another owner by now.
	complete map[key]bool
	// before are those that were deployed without a release, or kept by an earlier
	// operation, with their identities.
	before map[key]types.UID
	// absent are objects of the new revision that did not exist before the operation, taken
	// are those that did and belonged to others.
	absent, taken map[key]bool
	// early says that others may have what the release does not want any more, but that
	// nothing is removed yet. Kept is what stays because others may still want it.
	early bool
	kept  apply.Inventory
	// reasons say why something stays beyond the end of the job.
	reasons map[key]string
	// recorded are all that the item has recorded beside its release, without those of them that have
	// no marks of a release.
	recorded map[key]bool
	without  apply.Inventory
	claims   *ownership.Claims

	objects     []apply.Object
	definitions []apply.Object
	// defined are the objects in the folders crds, also of an upgrade, which does not install them, and
	// the namespace of createNamespace.
	defined map[key]bool
	live    map[key]*unstructured.Unstructured
	applied map[key]bool
	results []applied
	check   *readiness.Check
	causes  *readiness.Causes
	// losses are objects that another client has deleted while they were awaited.
	losses *loss.Losses
	going  *deletion.Deletion
	pruned bool
	// leftovers are objects that hooks of failed revisions may have left, tidied says that they are
	// deleted.
	leftovers map[key][]leftover
	tidied    bool
	hooks     map[helmrelease.HookEvent]*hookRun
	limit     *limit.Limit
}

// Plan returns the operation that deploys a desired state. Nothing is changed yet.
func Plan(ctx context.Context, store *storage.Store, job Job, desiredState DesiredState, history []*storage.Record, action Action) (*Operation, error) {
	o, err := begin(ctx, store, job, desiredState, history, string(action))
	if err != nil {
		return nil, err
	}
	if err := o.deployedBefore(ctx); err != nil {
		return nil, err
	}
	revision := 1
	if len(history) > 0 {
		revision = history[len(history)-1].Revision + 1
	}
	now := store.Now()
	o.release = &helmrelease.Release{
		Name: desiredState.Name, Namespace: desiredState.Namespace, Version: revision, Chart: desiredState.Chart, Config: desiredState.Values, Manifest: desiredState.Manifest, Hooks: desiredState.Hooks,
		Info: &helmrelease.Info{FirstDeployed: now, LastDeployed: now, Notes: desiredState.Notes}, ApplyMethod: string(helmrelease.ApplyMethodClientSideApply),
	}
	before, after, event := helmrelease.HookPreInstall, helmrelease.HookPostInstall, common.StatusPendingInstall
	description := "Initial install underway"
	if action == Upgrade {
		before, after, event = helmrelease.HookPreUpgrade, helmrelease.HookPostUpgrade, common.StatusPendingUpgrade
		description = "Preparing upgrade"
	}
	if o.base != nil {
		o.release.Labels, o.release.Info.FirstDeployed = o.base.Labels, o.base.Info.FirstDeployed
	}
	o.release.SetStatus(event, description)
	if err := o.place(ctx, action == Install); err != nil {
		return nil, err
	}
	o.steps = o.deployment(action, before, after)
	o.limit = limit.New(desiredState.Limit, job.Requeue)
	return o, nil
}

// begin returns an operation that knows what earlier revisions have deployed.
func begin(ctx context.Context, store *storage.Store, job Job, desiredState DesiredState, history []*storage.Record, doing string) (*Operation, error) {
	o := &Operation{store: store, desiredState: desiredState, earlier: history, doing: doing, causes: readiness.NewCauses(job.Requeue), losses: loss.New(job.Requeue)}
	o.absent, o.taken, o.reasons = map[key]bool{}, map[key]bool{}, map[key]string{}
	o.SetJob(job)
	o.reset()
	return o, o.look(ctx)
}

// deployment are the steps that deploy the new revision.
func (o *Operation) deployment(action Action, before, after helmrelease.HookEvent) []step {
	steps := []step{o.clearLeftovers, o.checkOwners}
	if action == Install {
		steps = append(steps, o.makeNamespace, o.makeDefinitions)
	}
	steps = append(steps, o.settleEarlier, o.storeRecord, o.runHooks(before), o.apply, o.prune)
	if o.desiredState.Wait || o.desiredState.Atomic {
		steps = append(steps, o.awaitReady)
	}
	done := "Install complete"
	if action == Upgrade {
		done = "Upgrade complete"
	}
	return append(steps, o.runHooks(after), o.finish(done))
}

// reset forgets what was found out about objects, for the next set of them.
func (o *Operation) reset() {
	if o.check != nil {
		o.check.Close()
	}
	if o.going != nil {
		o.going.Close()
	}
	for _, run := range o.hooks {
		run.close()
	}
	o.live, o.applied, o.results, o.check, o.pruned = map[key]*unstructured.Unstructured{}, map[key]bool{}, nil, nil, false
	o.going, o.hooks = deletion.Awaiting(o.store.Cluster, o.job.Requeue), map[helmrelease.HookEvent]*hookRun{}
}

// look finds the last complete revision, and what earlier ones have deployed.
func (o *Operation) look(ctx context.Context) error {
	from := 0
	for i, record := range o.earlier {
		if record.Status == common.StatusDeployed || (record.Status == common.StatusSuperseded && !deployedAfter(o.earlier[i+1:])) {
			from = i
		}
	}
	o.original, o.complete, o.leftovers = map[key]*unstructured.Unstructured{}, map[key]bool{}, map[key][]leftover{}
	for _, record := range o.earlier[min(from, len(o.earlier)):] {
		release, err := record.Release()
		if err != nil {
			return job.AsTerminal(err)
		}
		objects, err := placed(ctx, o.store.Cluster, release)
		if err != nil {
			return err
		}
		o.previous = append(o.previous, objects...)
		if failed(record) {
			if err := o.addLeftovers(ctx, release); err != nil {
				return err
			}
		}
		if record.Deployed() {
			o.base = release
		}
		for _, object := range objects {
			if record.Deployed() {
				o.complete[keyOf(object.Object)] = true
			}
			if _, known := o.original[keyOf(object.Object)]; !known || o.base == release {
				o.original[keyOf(object.Object)] = object.Object
			}
		}
	}
	return nil
}

func deployedAfter(records []*storage.Record) bool {
	for _, record := range records {
		if record.Status == common.StatusDeployed {
			return true
		}
	}
	return false
}

// place finds the places of the objects of the new revision.
func (o *Operation) place(ctx context.Context, withDefinitions bool) error {
	var reader Reader
	entries, err := reader.Entries(o.desiredState.Manifest, o.desiredState.Namespace)
	if err != nil {
		return job.Wrap(err, published.TemplateChart, reasons.RenderHelmValues, "", v1alpha1.ErrorConfigurationProblem)
	}
	var definitions []apply.Entry
	o.defined = map[key]bool{}
	if o.desiredState.CreateNamespace {
		o.defined[keyOf(namespaceOf(o.desiredState))] = true
	}
	for _, text := range o.desiredState.Definitions {
		found, err := reader.Entries(text, "")
		for _, entry := range found {
			o.defined[keyOf(entry.Object)] = true
		}
		switch {
		case !withDefinitions:
		case err != nil:
			return job.Wrap(err, published.TemplateChart, reasons.RenderHelmValues, "folder crds of the chart", v1alpha1.ErrorConfigurationProblem)
		default:
			definitions = append(definitions, found...)
		}
	}
	all, err := apply.Prepare(ctx, o.store.Cluster, append(definitions, entries...), nil)
	if err != nil {
		return err
	}
	o.definitions, o.objects = all[:len(definitions)], all[len(definitions):]
	seen := map[key]string{}
	for i := range o.objects {
		object := &o.objects[i]
		if at, twice := seen[keyOf(object.Object)]; twice {
			return job.NewError(published.TemplateChart, reasons.RenderHelmValues, fmt.Sprintf("%s is there twice, in %s and in %s",
				apply.Describe(object.Object.GetKind(), object.Object.GetNamespace(), object.Object.GetName()), at, object.Position), v1alpha1.ErrorConfigurationProblem)
		}
		seen[keyOf(object.Object)] = object.Position
		object.Object = Marked(object.Object, o.desiredState.Name, o.desiredState.Namespace)
	}
	return nil
}

// SetJob says under which job the work continues: each attempt has its own view of it.
func (o *Operation) SetJob(job Job) { o.job, o.others = job, job }

// Stored reports whether the operation has left anything on the cluster that only it can continue.
// Before, it can be planned again. What is being undone is not: there may be no time for another
// attempt.
func (o *Operation) Stored() bool { return o.stored || (o.undoing && !o.Over()) }

// Continue proceeds as far as possible and returns what it waits for. An error after which Over
// reports true is how the operation has ended.
func (o *Operation) Continue(ctx context.Context) ([]string, error) {
	for o.at < len(o.steps) {
		if !o.undoing {
			if err := o.job.Checkpoint(ctx, "helm deployer: before "+o.stage()+" release"); err != nil && !o.job.Expired() {
				return nil, err
			}
		}
		waiting, err := o.steps[o.at](ctx)
		if err == nil && len(waiting) > 0 && o.late() {
			err = o.tooLate(waiting)
		}
		switch {
		case err != nil && o.ends(err):
			o.fail(err)
		case err != nil:
			return nil, err
		case len(waiting) > 0:
			return waiting, nil
		default:
			o.at++
		}
	}
	return nil, o.failure
}

// stage names the operation in checkpoints.
func (o *Operation) stage() string {
	switch o.doing {
	case string(Upgrade):
		return "upgrading"
	case uninstall:
		return "deleting"
	case cleanup:
		return "cleaning up"
	}
	return "installing"
}

// Over reports whether nothing is left to do, be it that all is done or that it has
// failed and is undone.
func (o *Operation) Over() bool { return o.at >= len(o.steps) }

// Close ends all watches.
func (o *Operation) Close() error {
	o.limit.End()
	if o.check != nil {
		o.check.Close()
	}
	o.causes.Close()
	o.losses.Close()
	o.going.Close()
	for _, run := range o.hooks {
		run.close()
	}
	return nil
}
