package resourcemanager

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// removeOthers deletes what a ManagedResource had and has no longer, and returns what is
// still there.
func (m *Manager) removeOthers(ctx context.Context, resource *managedResource, contained, dropped []reference) ([]string, error) {
	var pending []string
	var errs []error
	for _, old := range resource.Status.Resources {
		same := func(other reference) bool { return old.same(other) }
		if slices.ContainsFunc(contained, same) || slices.ContainsFunc(dropped, same) {
			continue
		}
		gone, err := m.remove(ctx, resource.key(), old)
		if err != nil {
			errs = append(errs, wrap(old, err))
		} else if !gone {
			pending = append(pending, old.String())
		}
	}
	return pending, errors.Join(errs...)
}

// remove deletes an object and reports whether it no longer exists, or stays on purpose.
func (m *Manager) remove(ctx context.Context, owner types.NamespacedName, old reference) (bool, error) {
	if old.Annotations[annotationKeep] == "true" {
		return true, nil
	}
	present := old.object()
	err := m.shoot.Get(ctx, client.ObjectKeyFromObject(present), present)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if present.GetAnnotations()[annotationKeep] == "true" {
		return true, nil
	}
	m.triggerWhenGone(ctx, owner, present)
	var how []client.DeleteOption
	group, _, _ := strings.Cut(old.APIVersion, "/")
	if slices.Contains([]string{"apps", "batch", "extensions"}, group) {
		how = append(how, client.PropagationPolicy(metav1.DeletePropagationForeground))
	} else {
		how = append(how, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	err = m.shoot.Delete(ctx, present, how...)
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// triggerWhenGone triggers a reconcile of a ManagedResource when an object is deleted.
func (m *Manager) triggerWhenGone(ctx context.Context, owner types.NamespacedName, object *unstructured.Unstructured) {
	name := owner.String() + " " + string(object.GetUID())
	m.mutex.Lock()
	waits := m.waits[name]
	m.waits[name] = true
	m.mutex.Unlock()
	if waits {
		return
	}
	objects := &unstructured.UnstructuredList{}
	objects.SetGroupVersionKind(object.GroupVersionKind())
	// It ends with the resource manager, not with this run.
	ctx = context.WithoutCancel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	watches, err := m.shoot.Watch(ctx, objects, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		cancel()
		m.forget(name)
		return // the next round, a minute later at most, looks again
	}
	go func() {
		defer cancel()
		defer watches.Stop()
		for {
			select {
			case <-m.ended:
				return
			case change, open := <-watches.ResultChan():
				if open && change.Type != watch.Deleted {
					continue
				}
				m.forget(name)
				m.wake(owner)
				return
			}
		}
	}()
}

func (m *Manager) forget(name string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.waits, name)
}
