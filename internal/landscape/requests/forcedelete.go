package requests

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/landscape/inspect"
)

// Removal is a step of a forced deletion.
type Removal struct {
	// Kind is the kind of the object, as messages write it.
	Kind string
	// Object is what is removed.
	Object client.Object
}

// ForcedRemovals are all objects of a tree in the order in which their finalizers are removed:
// dependents come before their owner.
func ForcedRemovals(tree *inspect.Node) []Removal {
	var steps []Removal
	for _, child := range tree.Children {
		steps = append(steps, ForcedRemovals(child)...)
	}
	if object := tree.Object(); object != nil {
		kind := string(tree.Kind)
		steps = append(steps, Removal{Kind: strings.ToLower(kind[:1]) + kind[1:], Object: object})
	}
	return steps
}

// ForceDelete deletes objects without waiting for other controllers: it removes their finalizers.
// Parents are deleted first, so that their controllers do not create deleted objects again.
func ForceDelete(ctx context.Context, c client.Client, steps []Removal, tell func(line string)) error {
	for i := len(steps) - 1; i >= 0; i-- {
		step := steps[i]
		err := retry.OnError(retry.DefaultBackoff, passes, func() error { return c.Delete(ctx, step.Object, sameObject(step.Object)) })
		if err != nil && !gone(err) {
			return fmt.Errorf("delete %s %s: %w", step.Kind, step.Object.GetName(), err)
		}
	}
	for _, step := range steps {
		if err := release(ctx, c, step, tell); err != nil {
			return err
		}
	}
	return nil
}

// sameObject keeps a deletion off another object that took the name.
func sameObject(object client.Object) client.DeleteOption {
	uid := object.GetUID()
	return client.Preconditions{UID: &uid}
}

// gone reports whether an object no longer exists, or another object has its name.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// release removes the finalizers of an object that is being deleted.
//
// The UID is in the patch: with another object of the name the API server answers with a conflict,
// which counts as deleted.
func release(ctx context.Context, c client.Client, step Removal, tell func(line string)) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": step.Object.GetUID(), "finalizers": nil}})
	if err != nil {
		return err
	}
	name := step.Kind + " " + step.Object.GetName()
	retriable := func(err error) bool {
		if again := passes(err) && !gone(err); again {
			tell("- cannot remove finalizers from " + name + " - will retry")
			return true
		}
		return false
	}
	err = retry.OnError(retry.DefaultBackoff, retriable, func() error {
		return c.Patch(ctx, step.Object.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, patch))
	})
	switch {
	case gone(err):
		tell("- already gone: " + name)
	case err != nil:
		return fmt.Errorf("remove the finalizers of %s: %w", name, err)
	default:
		tell("- deleted " + name)
	}
	return nil
}
