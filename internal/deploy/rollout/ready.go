package rollout

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// wait is a check that begins when its step is reached.
type wait struct {
	check *readiness.Check
	over  bool
}

// awaitDefinitions waits until the kinds that the item defines and uses itself are
// served.
func (r *Rollout) awaitDefinitions(ctx context.Context) ([]string, error) {
	established := func(result result) (readiness.Finding, bool) { return result.established, r.uses(result.stored) }
	unready, err := r.look(ctx, &r.definitions, readiness.Established, established)
	if again, lostErr := r.applyMissing(ctx, r.cluster, unready); again || lostErr != nil {
		return nil, lostErr
	}
	return readiness.Names(r.withLosses(r.cluster, unready)), err
}

// uses reports whether one of the objects is of the kind that a definition defines.
func (r *Rollout) uses(definition *unstructured.Unstructured) bool {
	if definition.GetKind() != apply.CRDKind {
		return false
	}
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return slices.ContainsFunc(r.objects, func(object apply.Object) bool {
		of := object.Mapping.GroupVersionKind
		return of.Group == group && of.Kind == kind
	})
}

// awaitReadiness waits until Flux has done what objects ask it for, and until all objects are
// ready. A request counts also where the readiness check is switched off.
//
// Answers of Flux are looked at before the rules: an object whose request is not answered
// shows the state that an earlier request has left, which may well be ready.
func (r *Rollout) awaitReadiness(ctx context.Context) ([]string, error) {
	if r.readiness.check == nil {
		for _, name := range []string{": before readiness check", ": default readiness checks"} {
			if err := r.job.Checkpoint(ctx, r.desired.Name+name); err != nil {
				return nil, err
			}
		}
	}
	if r.answers.check == nil {
		r.answers.check = readiness.NewAnswers(r.cluster, r.changing, r.job.Requeue)
		r.answers.check.ReportDeleted()
		for _, result := range r.stored {
			if readiness.Requests(result.Object.Object) {
				r.answers.check.AddJudged(result.Mapping, result.stored, readiness.Requested)
			}
		}
	}
	unready, err := r.answers.look(ctx)
	if err != nil {
		return nil, err
	}
	ready := func(result result) (readiness.Finding, bool) { return result.ready, !r.desired.SkipReadiness }
	others, err := r.look(ctx, &r.readiness, readiness.RuleOf(r.desired.Readiness), ready)
	if err != nil {
		return nil, err
	}
	return r.waitFor(ctx, r.cluster, append(unready, others...), nil)
}

// waitFor says what is waited for, unless the time is over or waiting does not help.
func (r *Rollout) waitFor(ctx context.Context, cluster target.Cluster, unready []readiness.Unfinished, within *limit.Limit) ([]string, error) {
	isHopeless := slices.ContainsFunc(unready, func(object readiness.Unfinished) bool { return object.Hopeless })
	late := r.job.Expired() || within.Reached()
	if !isHopeless && !late {
		if again, err := r.applyMissing(ctx, cluster, unready); again || err != nil {
			return nil, err
		}
	}
	unready = r.withLosses(cluster, unready)
	unready = r.causes.Explain(ctx, cluster, unready, isHopeless || late)
	switch {
	case len(unready) == 0:
		return nil, nil
	case isHopeless:
		return nil, hopeless(unready)
	case late:
		return nil, notReadyInTime(unready)
	}
	return readiness.Names(unready), nil
}

// look looks at the objects that a wait is about, and begins it if it has not begun. About returns
// what the rule has said of a result.
func (r *Rollout) look(ctx context.Context, w *wait, rule readiness.Rule, about func(result) (readiness.Finding, bool)) ([]readiness.Unfinished, error) {
	if w.check == nil {
		w.check = readiness.NewCheck(r.cluster, rule, r.job.Requeue)
		w.check.ReportDeleted()
		for _, result := range r.stored {
			if finding, counts := about(result); counts {
				w.check.AddJudged(result.Mapping, result.stored, finding)
			}
		}
	}
	return w.look(ctx)
}

// look looks at the objects of a wait that has begun.
func (w *wait) look(ctx context.Context) ([]readiness.Unfinished, error) {
	unready, err := w.check.Look(ctx)
	w.over = err == nil && len(unready) == 0
	return unready, err
}

// notReadyInTime says which object was not ready when the time was over, and why.
func notReadyInTime(unready []readiness.Unfinished) error {
	first := unready[0]
	message := fmt.Sprintf("timeout at: %q: %s", fmt.Sprintf("deployer: during readiness check - resource %s/%s of type %s", first.Namespace, first.Name, first.Kind), notReady(first))
	if more := len(unready) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more objects are not ready)", more)
	}
	return job.NewError(published.WaitForObjectsReady, reasons.ProgressingTimeout, message, v1alpha1.ErrorTimeout, v1alpha1.ErrorForInfoOnly)
}

// notReady says why an object is not ready. The published text before it names no cluster.
func notReady(object readiness.Unfinished) string {
	if object.Place == "" {
		return object.Reason()
	}
	return "it" + object.Place + " is not ready: " + object.Reason()
}

// hopeless says which objects will not become ready by themselves, and why.
func hopeless(unready []readiness.Unfinished) error {
	var failures []string
	for _, object := range unready {
		if object.Hopeless {
			failures = append(failures, fmt.Sprintf("%s will not become ready by itself: %s", object.What(), object.Reason()))
		}
	}
	message := failures[0]
	if more := len(failures) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more objects)", more)
	}
	return job.AsTerminal(job.NewError(published.WaitForObjectsReady, reasons.ObjectFailed, message))
}

// customChecks are the checks of chosen objects.
type customChecks struct {
	// over is how many are over.
	over int
	// check is the one that is under way, or nil.
	check *readiness.CustomCheck
	// cluster is where it looks.
	cluster target.Cluster
	limit   *limit.Limit
	// held is the limit of the check with number heldFor, which was under way when all started again:
	// a client that deletes an object again and again must not extend its time.
	held    *limit.Limit
	heldFor int
}

func (c *customChecks) close() {
	c.end()
	c.held.End()
}

// end ends the check that is under way.
func (c *customChecks) end() {
	if c.check != nil {
		c.check.Close()
	}
	c.limit.End()
	c.check, c.limit = nil, nil
}

// anew starts with the first check again.
func (c *customChecks) anew() {
	if c.limit != nil {
		c.held.End()
		c.held, c.heldFor, c.limit = c.limit, c.over, nil
	}
	c.end()
	c.over = 0
}

// limitOf is the limit of the next check.
func (c *customChecks) limitOf(spec readiness.Custom, wake func()) *limit.Limit {
	if held := c.held; held != nil && c.over == c.heldFor {
		c.held = nil
		return held
	}
	return limit.New(spec.Timeout, wake)
}

// awaitCustom waits until the objects of the next custom check are ready.
func (r *Rollout) awaitCustom(ctx context.Context) ([]string, error) {
	spec := r.desired.Checks[r.custom.over]
	if r.custom.check == nil {
		if err := r.job.Checkpoint(ctx, r.desired.Name+": custom readiness checks"); err != nil {
			return nil, err
		}
		cluster, err := r.clusterOf(ctx, spec.TargetName)
		if err != nil {
			return nil, err
		}
		if r.custom.check, err = spec.Begin(ctx, cluster, r.job.Requeue); err != nil {
			r.custom.check = nil
			return nil, err
		}
		r.custom.cluster = cluster
		r.custom.limit = r.custom.limitOf(spec, r.job.Requeue)
	}
	unready, err := r.custom.check.Look(ctx)
	if err != nil {
		if again, lostErr := r.applyMissing(ctx, r.custom.cluster, unready); again || lostErr != nil {
			return nil, lostErr
		}
		return nil, err
	}
	if len(unready) == 0 {
		r.custom.end()
		r.custom.over++
		return nil, nil
	}
	return r.waitFor(ctx, r.custom.cluster, unready, r.custom.limit)
}
