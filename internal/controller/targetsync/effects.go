package targetsync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Limits of a run for requests for credentials: a garden signs a certificate for each, and has
// other clients.
const (
	requestsAtOnce    = 5
	requestsPerSecond = 20
)

// gate lets requests for credentials through, a few at the same time and not too fast.
type gate struct {
	slots chan struct{}
	pace  *rate.Limiter
}

func newGate() *gate {
	return &gate{slots: make(chan struct{}, requestsAtOnce), pace: rate.NewLimiter(requestsPerSecond, requestsPerSecond)}
}

// pass calls a function when its turn has come.
func (g *gate) pass(ctx context.Context, call func() error) error {
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.slots }()
	if err := g.pace.Wait(ctx); err != nil {
		return err // only the end of the context
	}
	return call()
}

// result is the outcome of a step.
type result struct {
	state   v1alpha1.TargetSyncItemState
	message string
	created bool
	wrote   bool
}

func failed(format string, args ...any) result {
	return result{state: v1alpha1.TargetSyncItemFailed, message: fmt.Sprintf(format, args...)}
}

// carryOut runs the steps of a plan. The failure of one step does not fail the others.
func (r *run) carryOut(ctx context.Context, w syncplan.World, p syncplan.Plan, o *outcome) {
	var mutex sync.Mutex
	_ = parallelize.Until(r.Parallelizer, len(p.Steps), func(index int) error {
		s := p.Steps[index]
		done := r.step(ctx, w, s)
		mutex.Lock()
		defer mutex.Unlock()
		o.wrote = o.wrote || done.wrote
		if done.created {
			o.created = append(o.created, s.Name)
		}
		switch done.state {
		case v1alpha1.TargetSyncItemFailed:
			o.failed++
		case v1alpha1.TargetSyncItemSkipped:
			o.skipped++
		default:
			o.synced++
			return nil
		}
		o.items = append(o.items, v1alpha1.TargetSyncItem{Name: s.Name, State: done.state, Message: done.message})
		return nil
	})
	slices.Sort(o.created)
	slices.SortFunc(o.items, func(a, b v1alpha1.TargetSyncItem) int { return strings.Compare(a.Name, b.Name) })
}

func (r *run) step(ctx context.Context, w syncplan.World, s syncplan.Step) result {
	switch s.Do {
	case syncplan.Skip:
		return result{state: v1alpha1.TargetSyncItemSkipped, message: s.Why}
	case syncplan.Refuse:
		return failed("%s", s.Why)
	case syncplan.RequestCredentials:
		return r.credentials(ctx, w, s)
	case syncplan.CopySecret:
		return r.both(ctx, w, s, s.Of.Copied.Data, time.Time{}, time.Time{})
	case syncplan.WriteTarget:
		return r.target(ctx, w, s, w.Secrets[s.Name].Issued)
	}
	return result{}
}

// credentials gets credentials for a shoot and stores them.
func (r *run) credentials(ctx context.Context, w syncplan.World, s syncplan.Step) result {
	var kubeconfig []byte
	var issued, expires time.Time
	err := r.gate.pass(ctx, func() (err error) {
		issued = r.Now()
		kubeconfig, expires, err = r.source.ShootAdminKubeconfig(ctx, r.sync.Spec.SourceNamespace, s.Name, syncplan.CredentialLifetime)
		return err
	})
	if err != nil {
		return r.notGranted(ctx, s, err)
	}
	if err := login.CheckKubeconfig(kubeconfig); err != nil {
		return failed("targetsync for shoot failed to get admin kubeconfig; target: %s, error: what the source has granted cannot be used: %v", s.Name, err)
	}
	if !expires.IsZero() && !expires.After(issued) {
		return failed("targetsync for shoot failed to get admin kubeconfig; target: %s, error: what the source has granted has expired already: check the clocks", s.Name)
	}
	return r.both(ctx, w, s, map[string][]byte{syncplan.CredentialKey: kubeconfig}, issued, expires)
}

// notGranted returns the result of a refused request for credentials.
func (r *run) notGranted(ctx context.Context, s syncplan.Step, err error) result {
	if apierrors.IsNotFound(err) {
		// The shoot may have been deleted since it was listed. An error other than NotFound says
		// nothing.
		if _, goneErr := r.source.Shoot(ctx, r.sync.Spec.SourceNamespace, s.Name); apierrors.IsNotFound(goneErr) {
			return result{state: v1alpha1.TargetSyncItemSkipped, message: "the shoot was deleted after it was listed"}
		}
	}
	if why := waits(s.Of.Shoot, err); why != "" {
		return result{state: v1alpha1.TargetSyncItemSkipped, message: why}
	}
	return failed("targetsync for shoot failed to get admin kubeconfig; target: %s, error: %v", s.Name, err)
}

// waits says why a refused request is not an error; "" if the request failed.
func waits(of *syncplan.Shoot, err error) string {
	switch {
	case of.Creating && (apierrors.IsInvalid(err) || apierrors.IsInternalError(err)):
		return "the shoot is being created"
	case of.Hibernated && !clustererror.IsConnection(err) && !apierrors.IsForbidden(err):
		return "the shoot is hibernated, and the source grants no credentials for it now"
	}
	return ""
}

// both writes the Secret and then the Target, so that a Target never names a Secret
// that is missing.
func (r *run) both(ctx context.Context, w syncplan.World, s syncplan.Step, data map[string][]byte, issued, expires time.Time) result {
	if err := r.writeSecret(ctx, w, s, data, issued, expires); err != nil {
		return failed("targetsync failed: could not create or update secret; target: %s, error: %v", s.Name, err)
	}
	done := r.target(ctx, w, s, issued)
	done.wrote = true
	return done
}

func (r *run) writeSecret(ctx context.Context, w syncplan.World, s syncplan.Step, data map[string][]byte, issued, expires time.Time) error {
	if _, exists := w.Secrets[s.Name]; !exists {
		created, err := r.createSecret(ctx, syncplan.WantedSecret(r.sync, s, nil, data, issued, expires))
		if created || err != nil {
			return err
		}
		// This controller may have made the Secret, if the cache is behind.
	}
	existing := &corev1.Secret{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: r.sync.Namespace, Name: s.Name}, existing)
	switch {
	case apierrors.IsNotFound(err):
		return r.createSecretNow(ctx, syncplan.WantedSecret(r.sync, s, nil, data, issued, expires))
	case err != nil:
		return err // the caller wraps the error
	case !syncplan.Ours(existing):
		return fmt.Errorf("%s", syncplan.Collision("Secret", r.sync.Namespace, s.Name))
	case existing.Type != corev1.SecretTypeOpaque:
		// The type of a Secret cannot be changed.
		if err := r.deleteSecret(ctx, s.Name, existing.ResourceVersion); err != nil {
			return err
		}
		return r.createSecretNow(ctx, syncplan.WantedSecret(r.sync, s, nil, data, issued, expires))
	}
	wanted := syncplan.WantedSecret(r.sync, s, existing, data, issued, expires)
	if err := r.Client.Update(ctx, wanted); err != nil {
		return refusal(err)
	}
	r.memory.wroteSecret(wanted)
	return nil
}

// createSecret creates a Secret, unless one of its name exists. It reports whether it did.
func (r *run) createSecret(ctx context.Context, wanted *corev1.Secret) (created bool, err error) {
	err = r.Client.Create(ctx, wanted)
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	if err != nil {
		return false, refusal(err)
	}
	r.memory.wroteSecret(wanted)
	return true, nil
}

// createSecretNow creates a Secret that did not exist when it was read.
func (r *run) createSecretNow(ctx context.Context, wanted *corev1.Secret) error {
	created, err := r.createSecret(ctx, wanted)
	if err == nil && !created {
		return errors.New("another client has just created a Secret of this name")
	}
	return err // says what was refused
}

// refusal says that a Secret could not be written, without anything of its data.
func refusal(err error) error {
	var said apierrors.APIStatus
	if errors.As(err, &said) {
		return fmt.Errorf("the API server answers %s (%d)", said.Status().Reason, said.Status().Code)
	}
	return err
}

// target writes the Target. A cache may be behind: then the API server has the last
// word.
func (r *run) target(ctx context.Context, w syncplan.World, s syncplan.Step, issued time.Time) result {
	existing := w.Targets[s.Name]
	done, err := r.writeTarget(ctx, s, existing, issued)
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		live := &v1alpha1.Target{}
		if err = r.Reader.Get(ctx, client.ObjectKey{Namespace: r.sync.Namespace, Name: s.Name}, live); err == nil {
			if !syncplan.Ours(live) {
				return failed("%s", syncplan.Collision("Target", r.sync.Namespace, s.Name))
			}
			done, err = r.writeTarget(ctx, s, live, issued)
		}
	}
	if err != nil {
		return failed("targetsync failed: could not create or update target; target: %s, error: %v", s.Name, err)
	}
	return done
}

func (r *run) writeTarget(ctx context.Context, s syncplan.Step, existing *v1alpha1.Target, issued time.Time) (result, error) {
	wanted, changed := syncplan.WantedTarget(r.sync, s, existing, issued)
	if !changed {
		return result{}, nil
	}
	var err error
	if existing == nil {
		err = r.Client.Create(ctx, wanted)
	} else {
		err = r.Client.Update(ctx, wanted)
	}
	if err != nil {
		return result{}, err // the caller wraps the error
	}
	r.memory.wroteTarget(wanted)
	return result{created: existing == nil, wrote: true}, nil
}

// remove removes what is no longer wanted: the Target first, so that it never names a
// Secret that is missing.
func (r *run) remove(ctx context.Context, w syncplan.World, names []string, o *outcome) {
	for _, name := range names {
		if err := r.removeOne(ctx, w, name); err != nil {
			o.removal = append(o.removal, fmt.Sprintf("remove Target %s and its Secret, which the source no longer has: %v", name, err))
			continue
		}
		o.wrote = true
		o.removed = append(o.removed, name)
	}
}

func (r *run) removeOne(ctx context.Context, w syncplan.World, name string) error {
	target := w.Targets[name]
	if target == nil && w.Secrets[name].Ours {
		// The answer to its creation may have been lost, and no cache may show it yet.
		live := &v1alpha1.Target{}
		switch err := r.Reader.Get(ctx, client.ObjectKey{Namespace: r.sync.Namespace, Name: name}, live); {
		case err == nil:
			target = live
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("read the Target: %w", err)
		}
	}
	if target != nil && syncplan.Ours(target) {
		r.memory.removes(subject{targetSubject, name})
		seen := client.Preconditions{UID: &target.UID, ResourceVersion: &target.ResourceVersion}
		if err := r.Client.Delete(ctx, target, seen); client.IgnoreNotFound(err) != nil {
			return err // the caller wraps the error
		}
	}
	if existing := w.Secrets[name]; existing.Ours && name != r.sync.Spec.SecretRef.Name {
		return r.deleteSecret(ctx, name, existing.Version)
	}
	return nil
}

// deleteSecret deletes a Secret in a version that this controller has read.
func (r *run) deleteSecret(ctx context.Context, name, version string) error {
	r.memory.removes(subject{secretSubject, name})
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.sync.Namespace, Name: name}}
	err := r.Client.Delete(ctx, object, client.Preconditions{ResourceVersion: &version})
	return client.IgnoreNotFound(err)
}
