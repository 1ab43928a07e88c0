package release

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// foreignObject says that an object exists and does not belong to the release.
type foreignObject struct {
	names []string
	// known says that the owner of one of them is a DeployItem.
	known bool
}

// Error implements error.
func (f *foreignObject) Error() string {
	const most = 5
	names := f.names
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more objects", len(f.names)-most))
	}
	return strings.Join(names, ", ") + " exists and does not belong to the release: remove or rename it, or set takeOwnership"
}

// checkOwners refuses to take objects of others, before anything is changed.
func (o *Operation) checkOwners(ctx context.Context) ([]string, error) {
	var fresh []apply.Object
	for _, object := range o.objects {
		if !o.complete[keyOf(object.Object)] {
			fresh = append(fresh, object)
		}
	}
	live, errs, refused := make([]*unstructured.Unstructured, len(fresh)), make([]error, len(fresh)), make([]error, len(fresh))
	parallelize.Do(len(fresh), func(i int) {
		if live[i], errs[i] = o.get(ctx, fresh[i]); live[i] != nil {
			refused[i] = o.claim(ctx, live[i])
		}
	})
	if err := several.Errors(compact(errs)).OrNil(); err != nil {
		return nil, fmt.Errorf("look at what exists: %w", err)
	}
	if foreign := foreignOf(refused); foreign != nil {
		return nil, o.letGo(ctx, foreign)
	}
	if err := several.Errors(compact(refused)).OrNil(); err != nil {
		return nil, fmt.Errorf("look for the owners of what exists: %w", err)
	}
	for i, object := range live {
		id := keyOf(fresh[i].Object)
		if object == nil {
			o.absent[id] = true
			continue
		}
		o.live[id] = object
		o.taken[id] = !owned(object, o.desiredState.Name, o.desiredState.Namespace)
	}
	return nil, nil
}

// letGo gives up objects that the release does not want any more, although the new revision cannot
// be deployed yet: of two releases that exchange objects, each waits for the other.
func (o *Operation) letGo(ctx context.Context, foreign *foreignObject) error {
	if !foreign.known {
		return foreign
	}
	o.early = true
	err := o.remove(ctx, o.orphans(), false)
	o.early = false
	if err != nil {
		return fmt.Errorf("%w (and %s)", foreign, err.Error())
	}
	return foreign
}

func compact(errs []error) []error {
	var found []error
	for _, err := range errs {
		if err != nil {
			found = append(found, err)
		}
	}
	return found
}

// claim returns an error unless an object that exists may become part of the release: it belongs to
// another owner that does not release it.
func (o *Operation) claim(ctx context.Context, live *unstructured.Unstructured) error {
	if o.complete[keyOf(live)] || o.desiredState.TakeOwnership || owned(live, o.desiredState.Name, o.desiredState.Namespace) || (o.desiredState.Ours != nil && o.desiredState.Ours(live)) {
		return nil
	}
	yields, holder, err := o.others.Yields(ctx, live)
	if err != nil {
		return fmt.Errorf("find out whose %s is: %w", describe(live), err)
	}
	if yields {
		return nil
	}
	name := describe(live)
	if holder != "" {
		name += " of " + holder
	}
	return &foreignObject{names: []string{name}, known: holder != ""}
}

// strip removes the marks of other owners from an object of the release.
func strip(object *unstructured.Unstructured) *unstructured.Unstructured {
	ownership.Strip(object, func(string) bool { return false }, true)
	return object
}

// otherRelease reports whether an object has the marks of another release of Helm.
func (o *Operation) otherRelease(live *unstructured.Unstructured) bool {
	of := ownership.ReleaseOf(live)
	return of != (ownership.HelmRelease{}) && of != ownership.HelmRelease{Name: o.desiredState.Name, Namespace: o.desiredState.Namespace}
}
