package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/deploy/target"
)

// applyAgain ensures that objects of the item are applied again that another client has deleted
// while they are awaited, and reports whether there are any to apply now. Those that were deleted
// before are left alone for a while first. All waits start again then: an object that was ready may
// depend on one that was lost.
func (r *Rollout) applyAgain(ctx context.Context, misses func(object *unstructured.Unstructured) bool) (again bool, err error) {
	definitions := false
	for _, result := range slices.Clone(r.stored) {
		if misses(result.stored) && !readiness.EndsByItself(result.stored) && r.losses.Due(result.stored) {
			r.lose(result)
			again, definitions = true, definitions || result.Stage() == apply.StageDefinitions
		}
	}
	unchecked, err := r.takeUnchecked(ctx, misses)
	if err != nil {
		return false, err
	}
	if !again && !unchecked {
		return false, nil
	}
	r.awaitAnew(definitions)
	return true, nil
}

// applyMissing is applyAgain for objects that are not ready because they do not exist on a
// cluster.
func (r *Rollout) applyMissing(ctx context.Context, on target.Cluster, unready []readiness.Unfinished) (again bool, err error) {
	if target.Place(on) != "" {
		return false, nil
	}
	absent := slices.DeleteFunc(slices.Clone(unready), func(found readiness.Unfinished) bool { return !found.Absent() })
	return r.applyAgain(ctx, func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(absent, func(found readiness.Unfinished) bool { return found.Misses(object) })
	})
}

// lose notes that an object has to be applied again.
func (r *Rollout) lose(lost result) {
	is := func(object apply.Object) bool { return apply.Same(object.Reference(), lost.Reference()) }
	r.stored = slices.DeleteFunc(r.stored, func(result result) bool { return is(result.Object) })
	if at := slices.IndexFunc(r.objects, is); at >= 0 {
		object := &r.objects[at]
		r.applied[at], object.Known, object.Live, object.Lost = false, false, nil, true
	}
}

// takeUnchecked lets objects be applied again that were not read so far.
func (r *Rollout) takeUnchecked(ctx context.Context, misses func(object *unstructured.Unstructured) bool) (again bool, err error) {
	var left []apply.Entry
	for _, entry := range r.desired.Unchecked {
		if !misses(entry.Object) || readiness.EndsByItself(entry.Object) || !r.losses.Due(entry.Object) {
			left = append(left, entry)
			continue
		}
		found, err := apply.Prepare(ctx, r.cluster, []apply.Entry{entry}, nil)
		if err != nil {
			return false, err
		}
		found[0].Lost = true
		r.objects, r.applied, again = append(r.objects, found[0]), append(r.applied, false), true
	}
	r.desired.Unchecked = left
	return again, nil
}

// awaitAnew starts all waits again. The limits of those under way continue.
func (r *Rollout) awaitAnew(definitions bool) {
	waits := []*wait{&r.answers, &r.readiness}
	if definitions {
		waits = append(waits, &r.definitions)
	}
	for _, wait := range waits {
		if wait.check != nil {
			wait.check.Close()
		}
		wait.check, wait.over = nil, false
	}
	r.custom.anew()
	for i, reading := range r.exports.readings {
		r.exports.readings[i] = reading.Restart()
	}
}

// missed returns what an error about an object amounts to. An object of which this job knows
// that it was written, and that does not exist now, was deleted: it is created again.
func (r *Rollout) missed(at int, err error) several.Errors {
	var missing *apply.Missing
	if !r.desired.JustWritten || !errors.As(err, &missing) {
		return several.Errors{err}
	}
	object := r.objects[at].Object
	if r.losses.Due(object) {
		r.objects[at].Lost = true
		return nil
	}
	return several.Errors{fmt.Errorf("%w: %s", err, r.losses.About(object))}
}

// missNamespace lets a Namespace of the item be applied again, by the next attempt, if an error
// says that it does not exist any more or is being deleted: without it, nothing in it can be
// applied again.
func (r *Rollout) missNamespace(namespace string, err error) {
	if r.desired.LookOnly || !clustererror.IsNamespaceMissing(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return
	}
	for i := range r.objects {
		object := &r.objects[i]
		if r.applied[i] && object.Object.GetName() == namespace && object.Object.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Namespace"}) {
			r.stored = slices.DeleteFunc(r.stored, func(result result) bool { return apply.Same(result.Reference(), object.Reference()) })
			r.applied[i], object.Known, object.Live = false, true, nil
		}
	}
}

// withLosses adds to what is not ready what has become of objects that were lost.
func (r *Rollout) withLosses(on target.Cluster, unready []readiness.Unfinished) []readiness.Unfinished {
	if target.Place(on) != "" {
		return unready
	}
	unready = slices.Clone(unready)
	for i := range unready {
		if about := r.losses.About(unready[i].Named()); about != "" {
			unready[i].Why += "; " + about
		}
	}
	return unready
}

// missesOneOf reports whether one of the values to export is missing because an object of
// the cluster of the item does not exist.
func missesOneOf(readings []*export.Reading) func(object *unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(readings, func(reading *export.Reading) bool {
			awaited, absent := reading.Awaited()
			return absent && reading.Value().TargetName == "" && apply.SameObject(awaited, object)
		})
	}
}

// missingExport says what is missing of a value.
func (r *Rollout) missingExport(reading *export.Reading, missing string) string {
	awaited, absent := reading.Awaited()
	if awaited == nil || reading.Value().TargetName != "" {
		return missing
	}
	about := r.losses.About(awaited)
	switch {
	case about == "":
		return missing
	case absent:
		about = "it does not exist any more; " + about
	}
	return missing + " (" + about + ")"
}
