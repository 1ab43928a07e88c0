package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Preview returns what an installation or an upgrade would make of each object: its namespace,
// definitions and objects in their order, deletions, and the hooks, whose effect is not known. It
// changes nothing: the API server shows in a dry run what would be stored.
func Preview(ctx context.Context, store *storage.Store, desiredState DesiredState, others Others, history []*storage.Record, action Action) ([]diff.Object, error) {
	o := &Operation{store: store, desiredState: desiredState, others: others, earlier: history}
	if err := o.look(ctx); err != nil {
		return nil, err
	}
	if err := o.deployedBefore(ctx); err != nil {
		return nil, err
	}
	if err := o.place(ctx, action == Install); err != nil {
		return nil, err
	}
	looks, err := o.looks(ctx, action)
	if err != nil {
		return nil, err
	}
	found, errs := make([]diff.Object, len(looks)), make([]error, len(looks))
	parallelize.Do(len(looks), func(i int) { found[i], errs[i] = o.preview(ctx, looks[i]) })
	if foreign := foreignOf(errs); foreign != nil {
		return nil, foreign
	}
	refused := false
	for i, err := range errs {
		if err != nil && !job.IsRefusal(err) {
			return nil, err
		}
		if err != nil {
			refused, found[i].Unknown = true, err.Error()
		}
	}
	for i := range found {
		if refused && looks[i].gone && found[i].Before != nil {
			found[i].Unknown = "it is deleted when all objects are on the cluster, which the API server refuses"
		}
	}
	return append(found, o.previewHooks(action)...), nil
}

// PreviewRemoval returns what the removal of a release would make of each object, and the
// hooks that run then. It changes nothing.
func PreviewRemoval(ctx context.Context, store *storage.Store, name, item string, history []*storage.Record) ([]diff.Object, error) {
	o := &Operation{store: store, earlier: history, desiredState: DesiredState{Name: name, Namespace: store.Namespace, Item: item}}
	if err := o.look(ctx); err != nil {
		return nil, err
	}
	last, err := history[len(history)-1].Release()
	if err != nil {
		return nil, err
	}
	o.desiredState.Hooks = last.Hooks
	objects := forRemoval(unique(o.previous))
	found, errs := make([]diff.Object, len(objects)), make([]error, len(objects))
	parallelize.Do(len(objects), func(i int) { found[i], errs[i] = o.preview(ctx, look{Object: objects[i], gone: true}) })
	return append(found, o.hooksAt(helmrelease.HookPreDelete, helmrelease.HookPostDelete)...), errors.Join(errs...)
}

// Missing reports whether an object that a revision has deployed does not exist, of those
// that are looked at.
func Missing(ctx context.Context, store *storage.Store, deployed *storage.Record, looked func(*unstructured.Unstructured) bool) (bool, error) {
	release, err := deployed.Release()
	if err != nil {
		return false, err
	}
	objects, err := placed(ctx, store.Cluster, release)
	if err != nil {
		return false, err
	}
	objects = slices.DeleteFunc(objects, func(object apply.Object) bool { return !looked(object.Object) })
	o := &Operation{store: store}
	missing, errs := make([]bool, len(objects)), make([]error, len(objects))
	parallelize.Do(len(objects), func(i int) {
		live, err := o.get(ctx, objects[i])
		missing[i], errs[i] = live == nil && err == nil, err
	})
	return slices.Contains(missing, true), errors.Join(errs...)
}

// Unchanged are the objects of a revision, as what stays as it is.
func Unchanged(deployed *storage.Record) ([]diff.Object, error) {
	release, err := deployed.Release()
	if err != nil {
		return nil, err
	}
	entries, err := Entries(release.Manifest, release.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read revision %d: %w", release.Version, err)
	}
	found := make([]diff.Object, 0, len(entries))
	for _, entry := range entries {
		found = append(found, previewOf(entry.Object))
	}
	return found, nil
}

// look is an object to be looked at, and what an operation would do with it.
type look struct {
	apply.Object
	// created is set if the object is not changed when it exists, gone if it is deleted.
	created, gone bool
}

func (o *Operation) looks(ctx context.Context, action Action) ([]look, error) {
	var looks []look
	if o.desiredState.CreateNamespace && action == Install {
		mapping, err := o.store.Cluster.Mapping(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
		if err != nil {
			return nil, fmt.Errorf("find kind Namespace: %w", err)
		}
		looks = append(looks, look{Object: apply.Object{Entry: apply.Entry{Object: namespaceOf(o.desiredState)}, Mapping: mapping}, created: true})
	}
	for _, definition := range o.definitions {
		looks = append(looks, look{Object: definition, created: true})
	}
	for _, object := range o.objects {
		looks = append(looks, look{Object: object})
	}
	for _, object := range forRemoval(o.orphans()) {
		looks = append(looks, look{Object: object, gone: true})
	}
	return looks, nil
}

func (o *Operation) preview(ctx context.Context, l look) (diff.Object, error) {
	found := previewOf(l.Object.Object)
	live, err := o.get(ctx, l.Object)
	if err != nil {
		return found, fmt.Errorf("look at %s: %w", describe(l.Object.Object), err)
	}
	var after *unstructured.Unstructured
	switch {
	case l.gone:
		found.Unwanted = true
		switch {
		case live == nil || o.defines(l.Object):
		case !o.stays(l.Object, live):
			found.Before = live.Object
		case o.mayRemove(live):
			found.Left = live.Object
		}
		return found, nil
	case live == nil:
		after, err = o.previewNew(ctx, l.Object)
	case l.created:
		return found, nil
	default:
		after, found.Replaced, err = o.previewExisting(ctx, l.Object, live)
	}
	var foreign *foreignObject
	if errors.As(err, &foreign) {
		return found, err
	}
	if err != nil {
		return found, o.explain(l.Object.Object, err)
	}
	if live != nil {
		found.Before = live.Object
	}
	found.After, found.Applied = after.Object, after.Object
	if live == nil || found.Replaced {
		found.Applied = l.Object.Object.Object
	}
	return found, nil
}

// previewExisting returns what becomes of an object that exists, and whether it is created again.
func (o *Operation) previewExisting(ctx context.Context, object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, bool, error) {
	if err := o.claim(ctx, live); err != nil {
		return nil, false, err
	}
	if live.GetDeletionTimestamp() != nil {
		return object.Object, true, nil
	}
	after, err := o.previewChange(ctx, object, live)
	return after, false, err
}

// previewNew asks what would be stored of a new object. That is not possible if its namespace or
// its kind does not exist yet.
func (o *Operation) previewNew(ctx context.Context, object apply.Object) (*unstructured.Unstructured, error) {
	stored, err := o.store.Cluster.PreviewNew(ctx, object.Mapping, object.Object, storage.FieldManager)
	if apierrors.IsNotFound(err) {
		return object.Object, nil
	}
	return stored, err
}

func (o *Operation) previewChange(ctx context.Context, object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	desired, err := o.desired(object, live)
	if err != nil || apply.Equal(desired, live) {
		return live, err
	}
	return o.store.Cluster.Preview(ctx, object.Mapping, desired, storage.FieldManager)
}

func previewOf(object *unstructured.Unstructured) diff.Object {
	return diff.Object{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

// foreignOf names all objects that belong to others at once, as the operation would.
func foreignOf(errs []error) *foreignObject {
	all := &foreignObject{}
	for _, err := range errs {
		var foreign *foreignObject
		if errors.As(err, &foreign) {
			all.names, all.known = append(all.names, foreign.names...), all.known || foreign.known
		}
	}
	if len(all.names) == 0 {
		return nil
	}
	return all
}

// runsAnything are the kinds of hooks that may change objects of the release.
var runsAnything = map[string]bool{"Job": true, "Pod": true, "CronJob": true, "Deployment": true, "StatefulSet": true, "DaemonSet": true, "ReplicaSet": true}

// previewHooks are the hooks that run. They are created again each time, and what they do is their
// own.
func (o *Operation) previewHooks(action Action) []diff.Object {
	events := []helmrelease.HookEvent{helmrelease.HookPreInstall, helmrelease.HookPostInstall}
	if action == Upgrade {
		events = []helmrelease.HookEvent{helmrelease.HookPreUpgrade, helmrelease.HookPostUpgrade}
	}
	return o.hooksAt(events...)
}

func (o *Operation) hooksAt(events ...helmrelease.HookEvent) []diff.Object {
	var found []diff.Object
	for _, hook := range o.desiredState.Hooks {
		var runs []string
		for _, event := range hook.Events {
			if slices.Contains(events, event) {
				runs = append(runs, string(event))
			}
		}
		if len(runs) > 0 {
			found = append(found, diff.Object{
				Kind: hook.Kind, Namespace: o.desiredState.Namespace, Name: hook.Name, Beside: !runsAnything[hook.Kind],
				Unknown: "a hook of the chart runs (" + strings.Join(runs, ", ") + ")",
			})
		}
	}
	return found
}
