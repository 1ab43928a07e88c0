package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/Masterminds/semver/v3"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/safetext"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
	"go.landscaper.dev/internal/controller/shootflux/state"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Manifests makes the objects that install Flux.
type Manifests interface {
	Manifests(ctx context.Context, o install.Options) ([]*unstructured.Unstructured, error)
}

// Reconciler reconciles Extensions.
type Reconciler struct {
	// Client has Extensions and ManagedResources in a cache; other objects are read from the API
	// server.
	Client client.Client
	// Systems are reached besides the seed.
	Systems Systems
	Events  events.EventRecorder
	// Flux is what shoots get.
	Flux Flux
	// RequireConfig says that a shoot without a configuration is an error.
	RequireConfig bool
	// Schedule says when shoots are reconciled.
	Schedule Schedule
	Now      func() time.Time
	// Bootstrapped observes the duration of a bootstrap.
	Bootstrapped func(time.Duration)

	writer *managed.Writer
	memory
}

// Systems are what the controller reaches besides the seed.
type Systems struct {
	// Garden is nil without access to the garden.
	Garden *access.Garden
	// GardenIdentity is the name of the garden for shoots.
	GardenIdentity string
	Shoots         *access.Shoots
	// Scan asks Git servers for their host keys; nil if that is not permitted.
	Scan sshkey.Scanner
}

// Flux is what can be installed.
type Flux struct {
	Manifests Manifests
	// DefaultVersion is the default release, and Allowed are the releases that the operator allows; nil
	// for all.
	DefaultVersion string
	Allowed        *semver.Constraints
}

// Schedule says when shoots are reconciled.
type Schedule struct {
	// IgnoreOperationAnnotation reconciles at every change of a spec.
	IgnoreOperationAnnotation bool
	// Resync is the interval of reconciles without an event.
	Resync time.Duration
	// Spread is the time in which the shoots of a project follow a change of its
	// configuration.
	Spread time.Duration
	// Random is from 0 to 1.
	Random func() float64
}

// memory is what the process remembers of Extensions. A restart forgets it.
type memory struct {
	// extensionsNow reads Extensions with at least the last write of this process.
	extensionsNow *expectations.Reader
	projects      projects
	writing       writing
}

// run is one reconcile of an Extension.
type run struct {
	snapshot
	// kubeconfig is the name of the Secret with the address of the shoot.
	kubeconfig string
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	a := &attempt{r: r, key: request.NamespacedName}
	defer a.endWriting()
	return engine.Drive(ctx, a, r.Now)
}

// attempt drives one Extension.
type attempt struct {
	r    *Reconciler
	key  client.ObjectKey
	now  *run
	next decision
}

// endWriting ends what the writer has begun. An Extension without a step may share its namespace with one
// that is written.
func (a *attempt) endWriting() {
	if a.now != nil && len(a.now.done) > 0 {
		a.r.writing.end(a.now.e.Namespace)
	}
}

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (job.Wake, error) {
	e := &gardener.Extension{}
	if err := a.r.extensionsNow.Get(ctx, a.key, e); apierrors.IsNotFound(err) {
		return job.Deleted(), a.r.removeStrays(ctx, a.key.Namespace)
	} else if err != nil {
		return job.Wake{}, err
	}
	a.now = &run{snapshot: snapshot{e: e.DeepCopy(), kind: operation(e), done: map[step]bool{}}}
	if concerns(e, a.now.kind) {
		// No other Extension costs a request.
		a.r.observeShoot(ctx, a.now)
	}
	return job.Continues(), nil
}

// Forget implements engine.Attempt. Other clients may have deleted the ManagedResources.
func (a *attempt) Forget() {
	r, key := a.r, a.key
	r.projects.forget(key)
	for _, name := range []string{InstallName, ConfigName, DataName} {
		r.writer.Read.Forget(client.ObjectKey{Namespace: key.Namespace, Name: name})
	}
}

// observeShoot reads the shoot.
func (r *Reconciler) observeShoot(ctx context.Context, now *run) {
	cluster := &gardener.Cluster{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: now.e.Namespace}, cluster); err != nil {
		err := fmt.Errorf("read Cluster %s: %w", now.e.Namespace, err)
		if apierrors.IsNotFound(err) {
			now.absence = err
		} else {
			now.unread = err
		}
		return
	}
	now.kubeconfig = cluster.Annotations[gardener.GenericKubeconfigAnnotation]
	if now.shoot, now.absence = cluster.DecodeShoot(); now.absence != nil {
		now.shoot = nil
		return
	}
	// From here on, a change in the project counts, since the project may be read already.
	r.projects.enter(now.e, now.shoot.Namespace)
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	a.now.now = a.r.Now()
	a.next = decide(a.now.snapshot)
	return string(a.next.do), a.next.wake
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any { return []any{"generation", a.now.e.Generation} }

// reportOnly are the steps that only write the Extension itself: that this has failed is not said there.
var reportOnly = map[step]bool{begin: true, adopt: true, await: true, remember: true, finish: true, release: true}

// Report implements engine.Attempt.
func (a *attempt) Report(ctx context.Context, name string, err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		// A newer version is on its way to the cache, but it need not trigger a reconcile.
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	broken, panicked := errors.AsType[*job.Panic](err)
	if panicked {
		log.FromContext(ctx).Error(errors.New(broken.Problem), "an operation panicked", "step", name, "stack", broken.Stack)
	}
	if a.now == nil || reportOnly[step(name)] && !panicked {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, a.r.fail(ctx, a.now, err)
}

// fail reports an error, and returns it: the queue tries again.
func (r *Reconciler) fail(ctx context.Context, now *run, err error) error {
	before := now.e.Status.LastError
	report := r.report(ctx, now.e, func(status *gardener.ExtensionStatus) {
		r.failed(status, now.e, now.kind, err)
		if remembered := state.ReadStatus(now.e); now.shoot != nil && remembered.ProjectNamespace != now.shoot.Namespace {
			// A change in the project may fix the error.
			remembered.ProjectNamespace = now.shoot.Namespace
			status.ProviderStatus = remembered.Encode()
		}
	})
	if report != nil {
		return report
	}
	if before == nil || before.Description != err.Error() {
		r.warn(now, failedReasons[now.kind], err.Error())
	}
	return err
}

// failedReasons are the reasons of failed operations.
var failedReasons = map[gardener.OperationType]reasons.Reason{
	gardener.Create: reasons.CreateFailed, gardener.Reconcile: reasons.ReconcileFailed, gardener.Delete: reasons.DeleteFailed,
	gardener.Migrate: reasons.MigrateFailed, gardener.Restore: reasons.RestoreFailed,
}

func (r *Reconciler) warn(now *run, reason reasons.Reason, message string) {
	r.Events.Eventf(now.e, nil, "Warning", string(reason), string(now.kind), "%s", safetext.Text(message))
}

func (r *Reconciler) emit(now *run, reason reasons.Reason, message string) {
	r.Events.Eventf(now.e, nil, "Normal", string(reason), string(now.kind), "%s", safetext.Text(message))
}

// resources returns the resources of the Shoot.
func resources(shoot *gardener.Shoot) []config.Resource {
	var list []config.Resource
	for _, resource := range shoot.Spec.Resources {
		list = append(list, config.Resource{
			Name: resource.Name, APIVersion: resource.ResourceRef.APIVersion, Kind: resource.ResourceRef.Kind, Object: resource.ResourceRef.Name,
		})
	}
	return list
}
