package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/state"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// work is a run whose configuration is known.
type work struct {
	*Reconciler
	*run
	config      *config.Config
	before      state.State
	after       state.State
	asked       string
	plan        plan
	credentials *credentials
	pieces      pieces
	// fresh are the Secrets that the shoot has not got yet, and written says that they are on the way.
	// Taken is the first of them that the shoot has from another owner; unseen is why that cannot be
	// seen yet.
	fresh         []*unstructured.Unstructured
	written       bool
	taken, unseen string
	// installed, configured and data are the states of the pieces.
	installed, configured, data managed.Standing
	// unready is why Flux is not ready in the shoot, looked says that the shoot could be read, and
	// took is how long that took.
	unready *access.Unready
	looked  bool
	took    time.Duration
	// news emit events after the state is stored, so that each event is emitted once.
	news []func()
}

// configure returns the effective configuration of a shoot.
func (r *Reconciler) configure(ctx context.Context, now *run) (*config.Config, error) {
	request := config.Request{Resources: resources(now.shoot), RequireConfig: r.RequireConfig}
	if now.e.Spec.ProviderConfig != nil {
		request.ProviderConfig = now.e.Spec.ProviderConfig.Raw
	}
	found, err := config.Load(ctx, request, access.ConfigMaps{
		Seed: r.Client, Namespace: now.e.Namespace, Garden: r.Systems.Garden, Project: now.shoot.Namespace,
	})
	if err != nil {
		return nil, err
	}
	return found.Resolve(config.Surroundings{DefaultVersion: r.Flux.DefaultVersion, Allowed: r.Flux.Allowed, Resources: request.Resources})
}

// prepare finds out what a run has to do. It writes nothing.
func (r *Reconciler) prepare(ctx context.Context, now *run) (*work, error) {
	w := &work{Reconciler: r, run: now}
	var err error
	if w.config, err = r.configure(ctx, now); err != nil {
		return nil, err
	}
	if w.before, err = state.Read(now.e); err != nil {
		return nil, err
	}
	if err := w.config.CheckBootstrapped(w.before.Namespace); w.before.Bootstrapped && err != nil {
		return nil, err
	}
	if err := w.stand(ctx); err != nil {
		return nil, err
	}
	w.after = w.before
	if err := w.inherit(ctx); err != nil {
		return nil, err
	}
	w.asked = request(now.shoot, w.after)
	if knownRequest(now.shoot.Annotations[RequestAnnotation]) != w.after.HandledOperation {
		w.after.HandledOperation = "" // the request was removed, and may be repeated before the shoot is up
	}
	w.plan = newPlan(w.config, w.after, w.asked, w.installed, w.configured)
	if w.config, err = w.config.AsRead(w.plan.version); err != nil {
		return nil, err
	}
	if w.credentials, err = r.credentials(ctx, now, w.config, w.before, w.asked); err != nil {
		return nil, err
	}
	return w, nil
}

// collect makes the pieces, of what is read here.
func (w *work) collect(ctx context.Context) (err error) {
	w.after.CredentialsIn, w.after.GeneratedSecretName = "", ""
	if found := w.credentials; found != nil {
		w.after.CredentialsIn = string(found.place)
		if found.place == sourcesecret.Seed {
			w.after.GeneratedSecretName = sourcesecret.SeedName
		}
	}
	if w.pieces, err = w.fill(ctx, w.run, w.config, w.plan.config.handle(), w.forShoot()); err != nil {
		return err
	}
	w.pieces.config.Objects = append(w.pieces.config.Objects, moved(w.pieces.data, w.configured)...)
	w.fresh = newcomers(w.pieces.data, w.data)
	return nil
}

// writeManifests writes what installs Flux.
func (w *work) writeManifests(ctx context.Context) error {
	piece, err := w.flux(ctx, w.config, w.plan)
	if err != nil {
		return err
	}
	return w.write(ctx, piece, &w.installed)
}

func (w *work) write(ctx context.Context, piece managed.Piece, standing *managed.Standing) error {
	found, changed, err := w.writer.Ensure(ctx, w.e.Namespace, piece)
	if err != nil {
		return err
	}
	if *standing = found; changed {
		w.after.WaitingSince = nil
	}
	if found.Going {
		return fmt.Errorf("the ManagedResource %s/%s is being deleted by another client: wait until it is deleted, or remove its finalizers", w.e.Namespace, piece.Name)
	}
	return nil
}

// missing returns a pause for what is not in the shoot yet.
func (w *work) missing(configured bool) *pause {
	switch {
	case !w.installed.Applied && w.plan.install.handle() != leave:
		return &pause{why: "waiting for the manifests of Flux: " + w.installed.Message, progress: 20, again: lookAgain}
	case !configured:
		return &pause{why: "waiting for Flux to run: " + w.installed.Message + needsNode, progress: 40, again: lookAgain}
	case !w.data.Applied:
		// The message about a Secret may quote it.
		return &pause{why: "waiting for the Secrets and ConfigMaps of the shoot: " + w.data.Reason, progress: 60, again: lookAgain}
	case !w.configured.Applied && w.plan.config.handle() != leave:
		return &pause{why: "waiting for source and kustomization to be written: " + w.configured.Message, progress: 70, again: lookAgain}
	}
	return nil
}

// needsNode is a hint at a common cause.
const needsNode = " (Flux needs a node that takes its pods, and its images)"

// look reads the health of Flux in the shoot.
func (w *work) look(ctx context.Context) error {
	since := w.Now()
	unready, notYet, err := w.Systems.Shoots.Look(ctx, w.e.Namespace, w.kubeconfig, readiness(w.config)...)
	w.took = w.Now().Sub(since)
	if notYet != "" {
		unready = &access.Unready{Object: "Flux", Message: notYet}
	}
	w.unready, w.looked = unready, err == nil && notYet == ""
	return err
}

// unreadiness returns a pause for what is not ready in the shoot.
func (w *work) unreadiness() *pause {
	waits := w.config.WaitForReady && (!w.before.Bootstrapped || w.asked == RequestRebootstrap)
	if w.unready == nil || !waits {
		return nil
	}
	why := "waiting for Flux in the shoot: " + w.unready.String()
	if w.credentials != nil && w.credentials.publicKey != "" {
		why += "; the repository must accept the key " + w.credentials.publicKey
	}
	return &pause{why: why, progress: 80, again: notBefore(lookAtShoot, w.took), code: gardener.RetryableConfigurationProblem}
}

// advances reports whether the shoot has come up for the first time, or what was asked for is done.
func (w *work) advances() bool {
	return !w.after.Bootstrapped || w.asked == RequestUpgrade || w.asked == RequestRebootstrap
}

// progress notes what was reached. Events about it are emitted when that is stored.
func (w *work) progress() {
	first := !w.after.Bootstrapped
	done := w.asked == RequestUpgrade || w.asked == RequestRebootstrap
	w.after.HandledOperation = knownRequest(w.shoot.Annotations[RequestAnnotation])
	if first || done || w.plan.install.continuous {
		w.after.BootstrappedVersion, w.after.BootstrappedBy = w.config.Flux.Version, string(w.config.Origin)
	}
	if first {
		moment := w.now().Time.UTC()
		w.after.Bootstrapped, w.after.BootstrapTime = true, &moment
		w.news = append(w.news, func() {
			w.Bootstrapped(moment.Sub(w.e.CreationTimestamp.Time))
			w.emit(w.run, reasons.BootstrapFinished, "Flux "+w.config.Flux.Version+" runs in the shoot, configured by "+string(w.config.Origin))
		})
	}
	if done {
		w.news = append(w.news, func() {
			w.emit(w.run, reasons.RequestHandled, "the operation "+w.asked+" is done, Flux is "+w.config.Flux.Version)
		})
	}
}

// freeze leaves the pieces that are not kept up to date to the owner of the shoot.
//
// It comes last: a frozen ManagedResource is not observed any more, so the recorded state must be right by
// then.
func (w *work) freeze(ctx context.Context) error {
	for _, piece := range []struct {
		name string
		situation
	}{{InstallName, w.plan.install}, {ConfigName, w.plan.config}} {
		if piece.continuous || !piece.standing.Exists && piece.handle() == leave {
			continue
		}
		if err := w.writer.Freeze(ctx, w.e.Namespace, piece.name); err != nil {
			return err
		}
	}
	return nil
}

// errNotKept is the error of a seed that forgets what a run has recorded.
var errNotKept = errors.New("what was reached is stored, and the run begins anew")

// record stores what was reached before the attempt begins anew.
func (w *work) record(ctx context.Context) error {
	err := w.report(ctx, w.e, func(status *gardener.ExtensionStatus) {
		w.processing(status, w.kind, 90, "Flux runs in the shoot; leaving to the owner of the shoot what is not kept up to date")
		status.State = w.after.Encode()
	})
	if err != nil {
		return err
	}
	w.publish()
	return nil
}

func (w *work) publish() {
	for _, tell := range w.news {
		tell()
	}
}

// await reports what the shoot waits for.
func (w *work) await(ctx context.Context, on pause) error {
	return w.report(ctx, w.e, func(status *gardener.ExtensionStatus) {
		w.remember(status)
		w.processing(status, w.kind, on.progress, on.why)
	})
}

// remember notes in a status since when a shoot waits, and how far it has come.
func (w *work) remember(status *gardener.ExtensionStatus) {
	wait(&w.after, w.config.Checksum(), w.now().Time)
	status.State, status.Resources = w.after.Encode(), w.moving()
	status.ProviderStatus = w.provider()
	w.describe(status)
}

// finish reports the success. It returns the wake for the next resync, which depends on what was reported.
func (w *work) finish(ctx context.Context) (job.Wake, error) {
	w.after.WaitingSince, w.after.ConfigChecksum = nil, w.config.Checksum()
	w.after.Namespace, w.after.DeletionPolicy = w.config.Flux.Namespace, string(w.config.DeletionPolicy)
	err := w.report(ctx, w.e, func(status *gardener.ExtensionStatus) {
		status.State, status.Resources = w.after.Encode(), w.moving()
		status.ProviderStatus = w.provider()
		w.describe(status)
		w.succeeded(status, w.e, w.kind)
	})
	if err != nil {
		return job.Wake{}, err
	}
	w.publish()
	if w.e.Annotations[gardener.OperationAnnotation] == gardener.OperationRestore {
		err = w.edit(ctx, w.e, func(meta *metav1.ObjectMeta) { delete(meta.Annotations, gardener.OperationAnnotation) })
	}
	wake := job.OnChange("Extension", w.e.Name)
	if pause := w.next(); pause > 0 {
		wake = wake.By(w.Now().Add(pause))
	}
	return wake, err
}

// next is the interval until the next resync of the shoot. It grows while the shoot is not ready.
func (w *work) next() time.Duration {
	resync := time.Duration((1 - 0.1*w.Schedule.Random()) * float64(w.Schedule.Resync))
	condition := gardener.FindCondition(w.e.Status.Conditions, conditionConfigured)
	if w.unready == nil || condition == nil {
		return resync
	}
	const soonest = 15 * time.Second
	return min(resync, notBefore(max(soonest, w.Now().Sub(condition.LastTransitionTime.Time)), w.took))
}
