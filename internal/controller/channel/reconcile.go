package channel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/controller/channel/taglists"
	"go.landscaper.dev/internal/model/channel"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/workpool"
)

// Reconciler keeps the status of Channels up to date.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster, Reader reads from its API server.
	Client client.Client
	Reader client.Reader
	// Events emits events about what was found.
	Events events.EventRecorder
	// Poller asks registries.
	Poller *Poller
	// Now is the clock.
	Now func() time.Time

	memories memories
	polls    *workpool.Pool[*outcome]
	// wake enqueues a Channel.
	wake func(types.NamespacedName)
}

// Reconcile begins a poll if one is due, and reports the one that has ended.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return engine.Drive(ctx, &attempt{r: r, key: request.NamespacedName}, r.Now)
}

// attempt drives one Channel.
type attempt struct {
	r       *Reconciler
	key     types.NamespacedName
	channel *fleetv1alpha1.Channel
	known   *memory
	rules   channel.Rules
	// invalid is what is wrong with the specification.
	invalid   error
	followers int32
	next      step
}

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (job.Wake, error) {
	r, ch := a.r, &fleetv1alpha1.Channel{}
	if err := r.Client.Get(ctx, a.key, ch); err != nil {
		return job.Deleted(), client.IgnoreNotFound(err)
	}
	a.channel, a.known = ch, r.memories.of(a.key, ch)
	err := a.known.written.Await(ctx, r.Reader, ch)
	if pause, behind := expectations.RetryAfter(err); behind {
		// A status write triggers no reconcile.
		return job.Wake{}.By(r.Now().Add(min(pause, reporter.ConflictBackoff))), nil
	}
	if err != nil {
		return job.Wake{}, err // says what was read
	}
	a.known.observe(ch, r.Now())
	if a.rules, a.invalid = channel.Read(&ch.Spec); a.invalid == nil {
		if err := descriptor.CheckName(ch.Spec.Component); err != nil {
			a.invalid = fmt.Errorf("spec.component: %w", err)
		}
	}
	a.followers, err = r.followers(ctx, ch)
	return job.Continues(), err
}

// followers counts the single Installations that follow a Channel.
func (r *Reconciler) followers(ctx context.Context, ch *fleetv1alpha1.Channel) (int32, error) {
	all := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, all, client.InNamespace(ch.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("list the Installations of namespace %s: %w", ch.Namespace, err)
	}
	count := int32(0)
	for i := range all.Items {
		inst := &all.Items[i]
		if inst.Annotations[fleetv1alpha1.ChannelAnnotation] == ch.Name && predicates.IsRoot(inst) && !predicates.BeingDeleted(inst) && inst.Labels[fleetv1alpha1.FleetLabel] == "" {
			count++
		}
	}
	return count, nil
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	now := a.r.Now()
	due := a.known.due(a.channel)
	a.next = decide(situation{
		deleted: a.channel.DeletionTimestamp != nil, invalid: a.invalid != nil, suspended: a.channel.Spec.Suspended,
		busy: a.r.polls.Busy(a.key), current: a.r.polls.Has(a.key, versionOf(a.channel)), due: !now.Before(due),
		reported: a.reported(),
	})
	wake := job.OnChange("Channel", a.key.Name)
	if a.next == rest && a.invalid == nil && !a.channel.Spec.Suspended {
		wake = wake.By(due)
	}
	return string(a.next), wake
}

// reported reports whether the status says what needs no poll.
func (a *attempt) reported() bool {
	if a.channel.Status.Followers != a.followers {
		return false
	}
	settled := a.settledCondition()
	return settled == nil || isShown(a.channel.Status.Conditions, *settled)
}

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	switch a.next {
	case cancel:
		a.r.polls.Forget(a.key)
		return job.Continues(), nil
	case report:
		return job.Continues(), a.report(ctx, nil)
	}
	return a.fetch(ctx)
}

// versionOf is the state that a poll is for.
func versionOf(ch *fleetv1alpha1.Channel) workpool.Version {
	return workpool.Version{UID: ch.UID, Generation: ch.Generation}
}

// fetch begins a poll in the work pool, or reports the one that has ended.
func (a *attempt) fetch(ctx context.Context) (job.Wake, error) {
	known, own, now := a.known, a.channel.DeepCopy(), a.r.Now()
	if !a.r.polls.Has(a.key, versionOf(a.channel)) {
		known.begins(a.channel, now)
	}
	poller, rules, before, logger := a.r.Poller, a.rules, known.found.clone(), log.FromContext(ctx)
	need := request{again: known.serves}
	if known.serves {
		need.since = known.requestedAt
	}
	o, how, err := a.r.polls.Fetch(a.key, versionOf(a.channel), func(ctx context.Context) (*outcome, error) {
		var done *outcome
		err := job.RecoverPanic(func() error {
			done = poller.Poll(log.IntoContext(ctx, logger), own, rules, before, need)
			return ctx.Err()
		})
		return done, err
	})
	switch {
	case how == workpool.Working:
		return job.OnChange("Channel", a.key.Name), nil // its end enqueues the Channel
	case how == workpool.Preempted:
		known.next = time.Time{}
		return a.within(0), nil // it is due, and has its turn after the others
	case o == nil:
		if broken, is := errors.AsType[*job.Panic](err); is {
			logger.Error(err, "a poll panicked", "stack", broken.Stack)
		}
		o = &outcome{found: known.found, err: err, at: now}
		o.settled = channel.Settled{Versions: own.Status.Versions, Refused: own.Status.Refused, Digests: known.found.known.Digests}
	}
	o.count()
	known.ends(o, a.rules, now)
	if err := a.report(ctx, o); err != nil {
		return job.Wake{}, err
	}
	return job.Continues(), nil
}

// begins notes that a poll begins.
func (m *memory) begins(ch *fleetv1alpha1.Channel, now time.Time) {
	m.generation, m.began = ch.Generation, now
	m.serves, m.pending = m.pending, false
}

// ends notes what a poll has found out, and when the next one is due.
func (m *memory) ends(o *outcome, rules channel.Rules, now time.Time) {
	m.found, m.serves = o.found, false
	pause := pauseOf(rules, o.key)
	switch {
	case o.err == nil && o.more:
		m.next = now
	case o.err == nil:
		m.failures, m.next = 0, o.at.Add(pause)
	default:
		m.failures++
		if m.next = o.retry; !m.next.After(now) {
			m.next = now.Add(taglists.Pause(o.key, m.failures))
		}
		if latest := now.Add(pause); m.next.After(latest) {
			m.next = latest
		}
	}
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any { return []any{"generation", a.channel.Generation} }

// Forget implements engine.Attempt.
func (a *attempt) Forget() {
	a.r.polls.Forget(a.key)
	a.r.memories.forget(a.key)
}

// Report implements engine.Attempt. What a poll fails with is a part of its outcome.
func (a *attempt) Report(ctx context.Context, _ string, err error) (ctrl.Result, error) {
	if broken, is := errors.AsType[*job.Panic](err); is {
		log.FromContext(ctx).Error(err, "a step panicked", "stack", broken.Stack)
	}
	if job.OutcomeOf(err) == job.Conflict {
		return ctrl.Result{RequeueAfter: reporter.ConflictBackoff}, nil
	}
	return ctrl.Result{}, err
}

// within is the wake of a Channel that is looked at again after a time.
func (a *attempt) within(pause time.Duration) job.Wake {
	return job.OnChange("Channel", a.key.Name).By(a.r.Now().Add(pause))
}
