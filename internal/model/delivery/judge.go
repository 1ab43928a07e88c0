package delivery

import (
	"cmp"
	"slices"
	"strings"
	"time"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// lookAhead bounds the search for a time at which all policies permit a job. Policies may contradict
	// each other for ever.
	lookAhead = 120
	// Recheck is how long a deferred job waits at most until it is judged again: timers do not notice
	// that the clock of a machine was set, or that the machine has slept.
	Recheck = 15 * time.Minute
	// AnyName stands for the name of an object that does not exist yet.
	AnyName = "any"
)

// Verdict says whether a job may begin.
type Verdict struct {
	// Reason is why it may not; empty if it may.
	Reason reasons.Reason
	// Policy is the name of the policy with that reason, Message what it says. The annotation of the
	// Installation has a name that no policy has.
	Policy, Message string
	// Policies are all that refuse the job at present.
	Policies []string
	// Until is when all policies permit the job, as far as is known; zero otherwise.
	Until time.Time
	// Overridden is the policy that was left out because of an override, and would have refused the job.
	Overridden string

	// Planning says that the job may not begin because of its plan: Pending that it does not exist
	// yet, Work that it is to be worked out now. Again is when it is worked out again.
	Planning, Pending, Work bool
	again                   time.Time
	// awaits says that an approval lets the job begin.
	awaits bool
	// Plan is what the job may carry out; nil if no policy asks for an approval.
	Plan *v1alpha1.ApprovedPlan
}

// Permitted reports whether the job may begin.
func (v Verdict) Permitted() bool { return v.Reason == "" }

// String is the verdict for people.
func (v Verdict) String() string {
	var text strings.Builder
	text.WriteString("deferred by " + source(v.Policy) + ": " + v.Message)
	if others := slices.DeleteFunc(slices.Clone(v.Policies), func(name string) bool { return name == v.Policy }); len(others) > 0 {
		text.WriteString("; also by " + strings.Join(others, ", "))
	}
	switch {
	case v.Planning, v.Policy == ownRule:
		// The message says what has to happen.
	case v.Until.IsZero():
		text.WriteString("; it may begin when the policy is changed")
	default:
		text.WriteString("; it may begin at " + v.Until.UTC().Format(time.RFC3339))
	}
	return text.String()
}

// Wake is what may end the wait: a change of a policy, an approval, or the time.
func (v Verdict) Wake(now time.Time) job.Wake {
	wake := job.OnChange("DeliveryPolicy", policies(v.Policies)...).By(v.Until).By(v.again).By(now.Add(Recheck))
	if v.awaits {
		wake = wake.And(job.OnChange("DeliveryApproval", AnyName))
	}
	return wake
}

// IsAutomatic reports whether a job begins without a request or a deletion by a user. A request that
// another client of Landscaper has made says so.
func IsAutomatic(inst *v1alpha1.Installation, trigger v1alpha1.JobTrigger) bool {
	switch trigger {
	case v1alpha1.TriggeredBySchedule, v1alpha1.TriggeredByImports, v1alpha1.TriggeredByExports, v1alpha1.TriggeredByExporter, v1alpha1.TriggeredByChange:
		return true
	case v1alpha1.TriggeredByReconcile:
		return inst.Annotations[v1alpha1.ReconcileReasonAnnotation] == v1alpha1.ReconcileReasonRetry
	}
	return false
}

// Judge says whether a job of a root may begin. The policies are those of its namespace.
func Judge(policies []*deliveryv1alpha1.DeliveryPolicy, inst *v1alpha1.Installation, trigger v1alpha1.JobTrigger, now time.Time) Verdict {
	automatic := IsAutomatic(inst, trigger)
	var verdict Verdict
	var selecting []Rules
	for _, policy := range policies {
		rules := Read(policy)
		switch {
		case !rules.Selects(inst):
		case rules.overriddenBy(inst):
			if rules.refuses(now, automatic) != nil {
				verdict.Overridden = rules.name
			}
		default:
			selecting = append(selecting, rules)
		}
	}
	slices.SortFunc(selecting, func(a, b Rules) int { return strings.Compare(a.name, b.name) })
	refused := refusals(selecting, now, automatic)
	if len(refused) == 0 {
		return verdict
	}
	verdict.Overridden = ""
	for _, r := range refused {
		verdict.Policies = append(verdict.Policies, r.policy)
	}
	longest := slices.MaxFunc(refused, compareUntil)
	verdict.Reason, verdict.Policy, verdict.Message = longest.reason, longest.policy, longest.message
	verdict.Until = permittedFrom(selecting, refused, automatic)
	return verdict
}

// overriddenBy reports whether an Installation overrides a policy for its next job. A pause is ended,
// not overridden: what it stops are not only beginnings of jobs.
func (r Rules) overriddenBy(inst *v1alpha1.Installation) bool {
	return inst.Annotations[deliveryv1alpha1.OverrideAnnotation] == r.name && r.policy.Spec.Paused == nil
}

// refusals are those of all policies at a time.
func refusals(all []Rules, at time.Time, automatic bool) []refusal {
	var found []refusal
	for _, rules := range all {
		if r := rules.refuses(at, automatic); r != nil {
			found = append(found, *r)
		}
	}
	return found
}

// compareUntil orders refusals by their ends; an unknown one is the last.
func compareUntil(a, b refusal) int {
	switch {
	case a.until.IsZero() || b.until.IsZero():
		return cmp.Compare(number(a.until.IsZero()), number(b.until.IsZero()))
	}
	return a.until.Compare(b.until)
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// permittedFrom returns the first time at which no policy refuses a job that some refuse now. From one
// end of a refusal to the next, nothing can permit it.
func permittedFrom(all []Rules, refused []refusal, automatic bool) time.Time {
	for range lookAhead {
		latest := slices.MaxFunc(refused, compareUntil)
		if latest.until.IsZero() {
			return time.Time{}
		}
		if refused = refusals(all, latest.until, automatic); len(refused) == 0 {
			return latest.until
		}
	}
	return time.Time{}
}

// State is what a policy does at a time.
type State struct {
	// Reason is why it does not let every job begin; empty if it does.
	Reason reasons.Reason
	// Message says it for people.
	Message string
	// NextChange is when that changes; zero if it is not known.
	NextChange time.Time
}

// StateAt returns what a policy does at a time.
func (r Rules) StateAt(now time.Time) State {
	state := r.stateAt(now)
	if r.Err != nil || r.policy.Spec.Paused != nil {
		return state
	}
	at := now
	for range lookAhead {
		if at = r.nextEdge(at); at.IsZero() {
			return state
		}
		if r.stateAt(at).Reason != state.Reason {
			state.NextChange = at
			return state
		}
	}
	return state
}

func (r Rules) stateAt(at time.Time) State {
	for _, automatic := range []bool{false, true} {
		if refused := r.refuses(at, automatic); refused != nil {
			state := State{Reason: refused.reason, Message: refused.message}
			if automatic {
				state.Message += ", for automatic jobs"
			}
			return state
		}
	}
	return State{}
}

// PausedBy returns the policy that pauses a root, and what it says; nothing if none does.
func PausedBy(policies []*deliveryv1alpha1.DeliveryPolicy, root *v1alpha1.Installation) (name, message string) {
	for _, policy := range policies {
		if policy.Spec.Paused == nil || name != "" && policy.Name > name {
			continue
		}
		if Read(policy).Selects(root) {
			name, message = policy.Name, "paused by DeliveryPolicy "+policy.Name+because(policy.Spec.Paused.Reason)
		}
	}
	return name, message
}
