package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
)

// failedHook says that a hook has failed.
type failedHook struct {
	event helmrelease.HookEvent
	name  string
	cause error
}

// Error implements error.
func (f *failedHook) Error() string {
	return fmt.Sprintf("%s hook %s failed: %v", f.event, f.name, f.cause)
}

// Unwrap returns the cause.
func (f *failedHook) Unwrap() error { return f.cause }

// hookRun is the run of all hooks of one event, one after the other.
type hookRun struct {
	hooks []*helmrelease.Hook
	// at is the hook whose turn it is.
	at int
	// cleared says that its predecessor is deleted, objects are its parts.
	cleared bool
	objects []apply.Object
	// sights are those of the objects that were created, asked says that the creation of
	// the next one was asked for before, without an answer.
	sights []*target.Sight
	asked  bool
	// made are the objects of all hooks so far: the names of some are made up.
	made map[*helmrelease.Hook][]apply.Object
	// done says that all have run and those are deleted that are not wanted any more.
	done bool
}

func (r *hookRun) close() {
	for _, sight := range r.sights {
		sight.Close()
	}
	r.sights = nil
}

// created are the objects of the present hook that exist, or may exist since an answer was lost.
func (r *hookRun) created() []apply.Object {
	number := len(r.sights)
	if r.asked {
		number++
	}
	return r.objects[:min(number, len(r.objects))]
}

// next continues with the next hook.
func (r *hookRun) next() {
	r.close()
	r.at, r.cleared, r.objects, r.asked = r.at+1, false, nil, false
}

// hooksOf returns the hooks of an event in their order.
func hooksOf(all []*helmrelease.Hook, event helmrelease.HookEvent) []*helmrelease.Hook {
	var found []*helmrelease.Hook
	for _, hook := range all {
		if slices.Contains(hook.Events, event) {
			found = append(found, hook)
		}
	}
	slices.SortStableFunc(found, func(a, b *helmrelease.Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// runHooks runs the hooks of an event.
func (o *Operation) runHooks(event helmrelease.HookEvent) step {
	return func(ctx context.Context) ([]string, error) {
		run := o.hooks[event]
		if run == nil {
			run = &hookRun{hooks: hooksOf(o.release.Hooks, event), made: map[*helmrelease.Hook][]apply.Object{}}
			o.hooks[event] = run
		}
		for run.at < len(run.hooks) {
			hook := run.hooks[run.at]
			waiting, err := o.runHook(ctx, run, hook, event)
			if err != nil && o.ends(err) {
				return nil, o.hookFailed(ctx, run, hook, event, err)
			}
			if err != nil || len(waiting) > 0 {
				if len(waiting) > 0 && o.late() {
					return nil, o.hookFailed(ctx, run, hook, event, o.tooLate(waiting))
				}
				return waiting, err
			}
			hook.LastRun.CompletedAt, hook.LastRun.Phase = o.store.Now(), helmrelease.HookPhaseSucceeded
			run.next()
		}
		if run.done {
			return nil, nil
		}
		for _, hook := range slices.Backward(run.hooks) {
			if err := o.clear(ctx, run, hook, event, helmrelease.HookSucceeded); err != nil {
				return nil, err
			}
		}
		run.done = true
		return nil, nil
	}
}

// hookFailed notes that a hook has failed, and deletes what is to be deleted then.
func (o *Operation) hookFailed(ctx context.Context, run *hookRun, hook *helmrelease.Hook, event helmrelease.HookEvent, cause error) error {
	hook.LastRun.CompletedAt, hook.LastRun.Phase = o.store.Now(), helmrelease.HookPhaseFailed
	// An object that was in the way is not the hook's, and so is not deleted.
	run.made[hook] = run.created()
	// What cannot be deleted now stays: the failure counts more.
	_ = o.clear(ctx, run, hook, event, helmrelease.HookFailed)
	for _, earlier := range run.hooks[:run.at] {
		_ = o.clear(ctx, run, earlier, event, helmrelease.HookSucceeded)
	}
	run.close()
	return &failedHook{event: event, name: hook.Name, cause: cause}
}

// runHook runs one hook.
func (o *Operation) runHook(ctx context.Context, run *hookRun, hook *helmrelease.Hook, event helmrelease.HookEvent) ([]string, error) {
	if !run.cleared {
		if len(hook.DeletePolicies) == 0 {
			hook.DeletePolicies = []helmrelease.HookDeletePolicy{helmrelease.HookBeforeHookCreation}
		}
		if err := o.clear(ctx, run, hook, event, helmrelease.HookBeforeHookCreation); err != nil {
			return nil, err
		}
		if err := o.clearLeft(ctx, hook, event); err != nil {
			return nil, err
		}
		run.cleared = true
	}
	if waiting, err := o.going.Continue(ctx); err != nil || len(waiting) > 0 {
		return waiting, err
	}
	if err := o.createHook(ctx, run, hook, event); err != nil {
		return nil, err
	}
	return o.awaitHook(ctx, run, event)
}

// createHook creates the objects of a hook.
func (o *Operation) createHook(ctx context.Context, run *hookRun, hook *helmrelease.Hook, event helmrelease.HookEvent) error {
	if run.objects == nil {
		objects, err := o.hookObjects(ctx, o.release, hook, event)
		if err != nil {
			return err
		}
		run.objects, run.made[hook] = objects, objects
		hook.LastRun = helmrelease.HookExecution{StartedAt: o.store.Now(), Phase: helmrelease.HookPhaseRunning}
	}
	for _, object := range run.objects[len(run.sights):] {
		_, err := o.store.Cluster.Create(ctx, object.Mapping, object.Object, hookManager(o.release))
		// The predecessor was deleted: an earlier request has created this object.
		mine := run.asked && slices.Contains(hook.DeletePolicies, helmrelease.HookBeforeHookCreation)
		exists := apierrors.IsAlreadyExists(err)
		switch {
		case exists && !mine:
			return fmt.Errorf("create %s: it exists: delete it, or give the hook the delete policy before-hook-creation: %w", describe(object.Object), err)
		case err != nil && !exists:
			run.asked = true
			return o.explain(object.Object, err)
		}
		run.asked = false
		run.sights = append(run.sights, target.SightOf(o.store.Cluster, object.Mapping, object.Object.GetNamespace(), object.Object.GetName(), o.job.Requeue))
	}
	return nil
}

// hookObjects are the objects of a hook of a revision with their places.
func (o *Operation) hookObjects(ctx context.Context, release *helmrelease.Release, hook *helmrelease.Hook, event helmrelease.HookEvent) ([]apply.Object, error) {
	entries, err := Entries(hook.Manifest, release.Namespace)
	if err != nil {
		return nil, job.AsTerminal(fmt.Errorf("read hook %s: %w", hook.Path, err))
	}
	for i := range entries {
		entries[i].Position = hook.Path
		if entries[i].Object.GetName() == "" && entries[i].Object.GetGenerateName() != "" {
			entries[i].Object.SetName(entries[i].Object.GetGenerateName() + hookSuffix(release, hook, event, i))
		}
	}
	return apply.Prepare(ctx, o.store.Cluster, entries, nil)
}

// awaitHook waits until the objects of a hook have done their work.
func (o *Operation) awaitHook(ctx context.Context, run *hookRun, event helmrelease.HookEvent) ([]string, error) {
	for i, sight := range run.sights {
		object := run.objects[i].Object
		if !runs(object) {
			continue
		}
		found, err := sight.Look(ctx)
		if err != nil {
			return nil, err
		}
		var now *unstructured.Unstructured
		if len(found) > 0 {
			now = found[0]
		}
		progress, failure := hookProgress(object, now)
		if failure != "" {
			failure = o.explainHook(ctx, now, failure, true)
			return nil, &failedHook{event: event, name: describe(object), cause: fmt.Errorf("%s", failure)}
		}
		if progress == "" {
			continue
		}
		if err := sight.Follow(); err != nil {
			return nil, fmt.Errorf("%s hook %s: %w", event, describe(object), err)
		}
		return []string{fmt.Sprintf("%s hook %s to complete (%s)", event, describe(object), o.explainHook(ctx, now, progress, o.late()))}, nil
	}
	return nil, nil
}

// explainHook adds what the pods of a hook show to its progress.
func (o *Operation) explainHook(ctx context.Context, now *unstructured.Unstructured, progress string, last bool) string {
	if now == nil {
		return progress
	}
	return o.causes.Explain(ctx, o.store.Cluster, []readiness.Unfinished{readiness.About(now, progress)}, last)[0].Why
}

var (
	jobKind = schema.GroupKind{Group: "batch", Kind: "Job"}
	podKind = schema.GroupKind{Kind: "Pod"}
)

// runs reports whether an object does work that ends. All others are complete as soon
// as they exist.
func runs(object *unstructured.Unstructured) bool {
	kind := object.GroupVersionKind().GroupKind()
	return kind == jobKind || kind == podKind
}

// hookProgress says how far a Job or a Pod has come; nothing means that it is complete.
func hookProgress(object, now *unstructured.Unstructured) (progress, failure string) {
	if now == nil {
		if ttl, set, _ := unstructured.NestedInt64(object.Object, "spec", "ttlSecondsAfterFinished"); set && ttl >= 0 {
			return "", ""
		}
		return "", "it does not exist any more"
	}
	if now.GroupVersionKind().GroupKind() == podKind {
		switch phase, _, _ := unstructured.NestedString(now.Object, "status", "phase"); phase {
		case "Succeeded":
			return "", ""
		case "Failed":
			return "", "the Pod has failed"
		default:
			return "phase " + cmp.Or(phase, "unknown"), ""
		}
	}
	conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["status"] != "True" {
			continue
		}
		switch condition["type"] {
		case "Complete":
			return "", ""
		case "Failed":
			reason, _ := condition["reason"].(string)
			return "", "the Job has failed: " + cmp.Or(reason, "no reason is known")
		}
	}
	active, _, _ := unstructured.NestedInt64(now.Object, "status", "active")
	failed, _, _ := unstructured.NestedInt64(now.Object, "status", "failed")
	return fmt.Sprintf("%d pods active, %d failed", active, failed), ""
}

// clear deletes the objects of a hook if its policy says so. Definitions of kinds are never
// deleted: all objects of the kind would be deleted with them.
func (o *Operation) clear(ctx context.Context, run *hookRun, hook *helmrelease.Hook, event helmrelease.HookEvent, policy helmrelease.HookDeletePolicy) error {
	if hook.Kind == apply.CRDKind || !slices.Contains(hook.DeletePolicies, policy) {
		return nil
	}
	objects, made := run.made[hook]
	if !made {
		var err error
		if objects, err = o.hookObjects(ctx, o.release, hook, event); err != nil {
			return err
		}
	}
	for _, object := range objects {
		left, err := o.clearOne(ctx, object)
		if err != nil {
			return fmt.Errorf("delete the hook %s: %w", describe(object.Object), err)
		}
		if left != nil {
			o.going.Await(object.Mapping, left)
		}
	}
	return nil
}

// clearLeft deletes the objects of a hook that a failed revision has left, whatever the policy: they
// would be in the way.
func (o *Operation) clearLeft(ctx context.Context, hook *helmrelease.Hook, event helmrelease.HookEvent) error {
	if len(o.leftovers) == 0 {
		return nil
	}
	objects, err := o.hookObjects(ctx, o.release, hook, event)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := o.clearLeftover(ctx, keyOf(object.Object)); err != nil {
			return err
		}
	}
	return nil
}

// clearOne deletes an object of a hook and returns what is left of it. Its controller may change
// the object at any time: then the object is read again.
func (o *Operation) clearOne(ctx context.Context, object apply.Object) (*unstructured.Unstructured, error) {
	for attempt := 1; ; attempt++ {
		live, err := o.get(ctx, object)
		if err != nil || live == nil || live.GetDeletionTimestamp() != nil {
			return live, err
		}
		left, err := o.deleteLive(ctx, object, live)
		if !apierrors.IsConflict(err) || attempt == deleteAttempts {
			return left, err
		}
	}
}
