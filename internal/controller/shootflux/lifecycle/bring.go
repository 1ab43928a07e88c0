package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/state"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// bring creates, reconciles or restores the contents of a shoot.
//
// The status says that the operation is in progress before the request is removed; see begin. The
// loop runs a second time when the state has recorded what is left to the owner of the shoot, and no
// third time: if the record was lost, a pause is due.
func (r *Reconciler) bring(ctx context.Context, now *run) (job.Wake, error) {
	e := now.e
	if isRequested(e) || behind(e) || !hasFinalizer(e) || e.Status.ObservedGeneration != e.Generation {
		if err := r.begin(ctx, e, now.kind); err != nil {
			return job.Wake{}, err
		}
	}
	if err := r.adopt(ctx, e); err != nil {
		return job.Wake{}, err
	}
	for second := false; ; second = true {
		w, err := r.prepare(ctx, now)
		if err != nil {
			return r.fail(ctx, now, err)
		}
		wait, err := w.carryOut(ctx)
		if err != nil {
			return r.fail(ctx, now, err)
		}
		if wait != nil {
			return w.rest(ctx, wait)
		}
		anew, err := w.settle(ctx)
		switch {
		case err != nil:
			return r.fail(ctx, now, err)
		case !anew:
			return w.finish(ctx)
		case second:
			return r.fail(ctx, now, errNotKept)
		}
	}
}

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

// prepare computes the work of a run. It only writes a generated key, and the record of it.
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
	if err := w.rotated(ctx); err != nil {
		return nil, err
	}
	if err := w.show(ctx, now, w.credentials); err != nil {
		return nil, err
	}
	source := w.credentials
	if source == nil {
		source = &credentials{}
	}
	w.after.CredentialsIn = string(source.place)
	w.after.GeneratedSecretName = ""
	if source.place == sourcesecret.Seed {
		w.after.GeneratedSecretName = sourcesecret.SeedName
	}
	if w.pieces, err = r.fill(ctx, now, w.config, w.plan.config.handle(), source.secret); err != nil {
		return nil, err
	}
	w.pieces.config.Objects = append(w.pieces.config.Objects, moved(w.pieces.data, w.configured)...)
	return w, nil
}

// carryOut writes what is missing, in order, and returns what it waits for. A hibernated shoot has
// no API server: it gets everything after its hibernation.
//
// A step follows only when the resource manager has applied the step before it, and existing
// contents are not written again: so a run may be repeated at any time, and continues where the
// last one ended.
func (w *work) carryOut(ctx context.Context) (*pause, error) {
	if err := w.writeInstall(ctx); err != nil {
		return nil, err
	}
	asleep := w.shoot.Hibernates()
	data, configured := w.plan.mayFollow(w.installed)
	if data || asleep {
		if wait, err := w.writeData(ctx, asleep); err != nil || wait != nil {
			return wait, err
		}
	} else if len(newcomers(w.pieces.data, w.data)) > 0 {
		if err := w.Systems.Shoots.Ask(ctx, w.e.Namespace); err != nil {
			return nil, err
		}
	}
	if (configured || asleep) && w.plan.config.handle() != leave {
		if err := w.write(ctx, w.pieces.config, &w.configured); err != nil {
			return nil, err
		}
	}
	if asleep {
		return nil, nil
	}
	if wait := w.missing(configured); wait != nil {
		return wait, nil
	}
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	return w.unreadiness(), nil
}

func (w *work) writeInstall(ctx context.Context) error {
	if w.plan.install.handle() == leave {
		return nil
	}
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

// look reads the health of Flux in the shoot, if Flux is installed.
func (w *work) look(ctx context.Context) error {
	list := readiness(w.config)
	if len(list) == 0 || w.plan.config.handle() == leave {
		return nil
	}
	since := w.Now()
	unready, err := w.Systems.Shoots.Look(ctx, w.e.Namespace, w.kubeconfig, list...)
	w.took = w.Now().Sub(since)
	switch {
	case errors.Is(err, access.ErrNotYet):
		w.unready = &access.Unready{Object: "Flux", Message: err.Error()}
		return nil
	case err != nil:
		return err
	}
	w.unready, w.looked = unready, true
	return nil
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

// settle records the progress, and freezes the pieces that belong to the owner of the shoot from
// now on. It reports whether the run begins anew, because the record is stored first. A hibernated
// shoot has made no progress.
//
// Freezing comes last: a frozen ManagedResource is not observed any more, so the recorded state
// must be right by then.
func (w *work) settle(ctx context.Context) (anew bool, err error) {
	if w.shoot.Hibernates() {
		return false, nil
	}
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
	// The state is stored before anything is frozen, and after a request the contents are written
	// once more.
	if leaves := !w.plan.install.continuous || !w.plan.config.continuous; leaves && (first || done) {
		return true, w.again(ctx)
	}
	return false, w.freeze(ctx)
}

// freeze leaves the pieces that are not kept up to date to the owner of the shoot.
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

// again stores what was reached before the run begins anew.
func (w *work) again(ctx context.Context) error {
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

// rest reports what a shoot waits for, or that it takes too long.
//
// When the timeout is over, the status is written before the error is returned: the error says
// what is wrong, and the state since when.
func (w *work) rest(ctx context.Context, on *pause) (job.Wake, error) {
	since, left := wait(&w.after, w.config.Checksum(), w.now().Time)
	remember := func(status *gardener.ExtensionStatus) {
		status.State, status.Resources = w.after.Encode(), w.moving()
		status.ProviderStatus = w.provider()
		w.describe(status)
	}
	if left > 0 {
		err := w.report(ctx, w.e, func(status *gardener.ExtensionStatus) {
			remember(status)
			w.processing(status, w.kind, on.progress, on.why)
		})
		return w.within(min(on.again, left)), err
	}
	if err := w.report(ctx, w.e, remember); err != nil {
		return job.Wake{}, err
	}
	return w.fail(ctx, w.run, on.expired(since))
}

// finish reports the success.
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
	return w.within(w.next()), err
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
