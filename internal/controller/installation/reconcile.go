package installation

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/repeat"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/parallelize"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/readthrough"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Reconciler drives Installations.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// Reader reads from the API server where a stale cache would be wrong.
	Reader client.Reader
	reporter.Recorders
	// Order puts older jobs first.
	Order *queue.Order
	// Now is the clock.
	Now func() time.Time
	// NewJobID makes the IDs of jobs.
	NewJobID func() string
	// Planner makes the plans of jobs.
	Planner Planner
	// Parallelizer makes requests that do not need each other; nil makes some of them at the same
	// time.
	Parallelizer parallelize.Parallelizer
	// Triggers are what starts jobs without a request.
	Triggers predicates.Triggers
	// Deliveries is what says when jobs may begin, and with which plans; empty where the feature is off.
	Deliveries
	Surroundings

	memory memory
}

// Surroundings are what other parts of the process know.
type Surroundings struct {
	// Changes counts what the jobs of roots change on clusters; nil counts nothing.
	Changes ChangeTally
	// Unsettled reports whether the history of the API server was rewound a moment ago, so that
	// caches may contradict each other; nil if that is unknown.
	Unsettled func() bool
}

// reporter returns what reports jobs of Installations.
func (r *Reconciler) reporter() *reporter.Reporter {
	return &reporter.Reporter{
		Client: r.Client, Recorders: r.Recorders, Action: "ReconcileInstallation", EmitSuccess: true, Now: r.Now,
		Known: func(uid types.UID) *reporter.Known { return &r.memory.Of(uid).Known },
	}
}

// Reconcile drives an Installation as far as possible without waiting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return engine.Drive(ctx, &attempt{r: r, key: request.NamespacedName, s: &snapshot{}}, r.Now)
}

// attempt drives one Installation.
type attempt struct {
	r    *Reconciler
	key  types.NamespacedName
	s    *snapshot
	next decide.Decision
}

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (job.Wake, error) {
	if exists, err := a.r.observe(ctx, a.key, a.s); err != nil || !exists {
		return job.Deleted(), err
	}
	if pause := a.r.reporter().PanicBackoff(a.s.subject); pause > 0 {
		return job.Wake{}.By(a.r.Now().Add(pause)), nil
	}
	return job.Continues(), nil
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	a.s.Now, a.s.Unsettled = a.r.Now(), a.r.Unsettled != nil && a.r.Unsettled()
	a.next = decide.Next(a.s.Situation)
	if !waitsForPlan[a.next.Do] {
		// The job was ended, or has what it needs.
		a.r.forgetPlan(a.key)
	}
	if a.next.Do == decide.Rest {
		a.r.forgetAhead(a.key)
		a.r.reporter().ResetPanics(a.s.subject)
	}
	return string(a.next.Do), a.next.Wake
}

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	if err := a.r.apply(ctx, a.s, a.next); err != nil {
		return job.Wake{}, err
	}
	switch {
	case a.s.released:
		return job.Deleted(), nil
	case a.s.ends:
		return job.OnChange("Installation", a.key.Name), a.r.save(ctx, a.s)
	}
	return job.Continues(), a.next.Err
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any {
	return []any{"phase", a.s.Inst.Status.InstallationPhase, "job", a.s.Inst.Status.JobID}
}

// Forget implements engine.Attempt.
func (a *attempt) Forget() {
	a.r.forgetPlan(a.key)
	a.r.forgetAhead(a.key)
	if a.s.Inst != nil {
		a.r.memory.Forget(a.s.Inst.UID)
		a.r.forgetChanges(a.s.Inst)
	}
}

// Report implements engine.Attempt.
func (a *attempt) Report(ctx context.Context, step string, err error) (ctrl.Result, error) {
	s := a.s
	err = a.r.stored(ctx, s, err)
	outcome := job.OutcomeOf(err)
	if s.subject != nil && outcome != job.Transient && outcome != job.Conflict {
		a.r.memory.Of(s.Inst.UID).outage.Over()
	}
	if s.subject != nil && outcome == job.Terminal {
		s.noteEnd(metav1.NewTime(a.r.Now()))
	}
	return a.r.reporter().Report(ctx, s.subject, step, err)
}

// observe reads the snapshot. It returns false if the object does not exist, and
// expectations.StaleCacheError if the cache is behind our own writes.
func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName, s *snapshot) (bool, error) {
	inst := &v1alpha1.Installation{}
	if err := r.Client.Get(ctx, key, inst, client.UnsafeDisableDeepCopy); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if err := r.memory.await(ctx, r.Reader, inst); err != nil {
		return false, err // says what was read
	}
	s.Inst, s.Triggers = inst.DeepCopy(), r.Triggers
	s.requester, s.overrider = readthrough.Requester(inst), readthrough.Overrider(inst)
	s.Inst.ManagedFields = nil // nothing writes them
	s.PickedUp = r.memory.Of(inst.UID).marks.has(pickedUp) && job.NeverHadJob(inst) && !predicates.BeingDeleted(inst)
	s.subject = reporter.Installation(s.Inst)
	s.subject.Status.Ended = func() { repeat.NoteEnd(s.Inst) }
	r.countChanges(s)
	if err := r.reader().Family(ctx, &s.Family); err != nil {
		return false, err
	}
	if err := r.observePolicies(ctx, s); err != nil {
		return false, err // says what was read
	}
	if err := r.observeApprovals(ctx, s); err != nil {
		return false, err // says what was read
	}
	if err := r.observeExecution(ctx, s); err != nil {
		return false, err // says what was read
	}
	known := r.memory.Of(inst.UID)
	created := known.created.Names()
	if err := known.created.Await(s.shows, r.Now()); err != nil {
		return false, err // says what is waited for
	}
	err := r.observeUnstored(ctx, s, created)
	if err != nil {
		return false, err
	}
	s.PlanStored, err = r.planStore().HasLeftover(ctx, inst)
	return err == nil, err
}

// observeExecution reads the Execution.
func (r *Reconciler) observeExecution(ctx context.Context, s *snapshot) error {
	key, exec := client.ObjectKeyFromObject(s.Inst), &v1alpha1.Execution{}
	switch err := r.Client.Get(ctx, key, exec); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("read Execution %s: %w", key, err)
	case predicates.AsOwner(s.Inst).Owns(exec):
		if err := r.awaitExecution(ctx, s.Inst, exec); err != nil {
			return err // says what was read
		}
		s.Exec = exec
		r.memory.Of(s.Inst.UID).marks.note(terminating, exec.DeletionTimestamp != nil)
		s.ExecutionDeleted = r.memory.Of(s.Inst.UID).marks.has(executionDeleted)
	}
	return nil
}

// stepFuncs are the functions that carry out steps.
var stepFuncs = map[decide.Step]func(*Reconciler, context.Context, *snapshot) error{
	decide.Admit: (*Reconciler).admit, decide.Accept: (*Reconciler).accept, decide.Dismiss: (*Reconciler).ignore,
	decide.TriggerDependents: (*Reconciler).triggerDependents, decide.Compare: (*Reconciler).compare, decide.Follow: (*Reconciler).follow, decide.Repeat: (*Reconciler).repeat,
	decide.Interrupt: (*Reconciler).interrupt, decide.Adopt: (*Reconciler).adopt, decide.Begin: (*Reconciler).begin,
	decide.Trace: (*Reconciler).trace, decide.Clear: (*Reconciler).clear, decide.ReadInputs: (*Reconciler).readInputs, decide.WriteChildren: (*Reconciler).writeChildren,
	decide.Propagate: (*Reconciler).propagate, decide.Complete: (*Reconciler).complete, decide.CleanUp: (*Reconciler).cleanUp,
	decide.CheckSiblings: (*Reconciler).checkSiblings, decide.Remove: (*Reconciler).remove, decide.Confirm: (*Reconciler).confirm,
	decide.FindPlan: (*Reconciler).findPlan, decide.Inherit: (*Reconciler).inherit,
	decide.Refresh: (*Reconciler).refresh, decide.Pass: (*Reconciler).pass,
	decide.BeginRemovals: (*Reconciler).beginRemovals, decide.DeleteHeld: (*Reconciler).deleteHeld, decide.EndRemovals: (*Reconciler).endRemovals,
	decide.GoBack: (*Reconciler).goBack, decide.PlanAhead: (*Reconciler).planAhead, decide.Release: (*Reconciler).release, decide.Explain: (*Reconciler).explain,
}

// waitsForPlan are the steps that use a plan from outside the workers, and those before them.
var waitsForPlan = map[decide.Step]bool{decide.Confirm: true, decide.ReadInputs: true, decide.WriteChildren: true, decide.Refresh: true, decide.FindPlan: true, decide.Inherit: true, decide.Complete: true}

// apply carries a step out.
func (r *Reconciler) apply(ctx context.Context, s *snapshot, next decide.Decision) error {
	s.approved = next.Verdict.Plan
	switch next.Do {
	case decide.Fail, decide.Await:
		// The report writes what follows from the reason.
		noteMissing(s)
		return nil
	case decide.Show:
		return r.show(ctx, s, next.Message)
	case decide.Defer:
		return r.deferJob(ctx, s, next.Verdict)
	}
	way, ok := stepFuncs[next.Do]
	if !ok {
		return fmt.Errorf("step %q is unknown", next.Do)
	}
	return way(r, ctx, s)
}
