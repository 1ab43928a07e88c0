package target

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/cluster/answerlimit"
)

// Sight is a view of objects that the caller waits for. The first look is a request: mostly it is
// enough. Otherwise the caller follows the objects; then only events cause requests.
type Sight struct {
	cluster Cluster
	mapping *meta.RESTMapping
	wake    func()

	namespace, name string
	// selector is nil for one object.
	selector labels.Set

	looked bool
	// last is what the last request showed, if that is small; known are the versions of it.
	last  []*unstructured.Unstructured
	small bool
	known map[types.NamespacedName]string
	// fresh says that the watch has been seen to be as new as the last request.
	fresh    bool
	one      Watch
	selected SelectedWatch
}

// SightOf is the sight of one object.
func SightOf(cluster Cluster, mapping *meta.RESTMapping, namespace, name string, wake func()) *Sight {
	return &Sight{cluster: cluster, mapping: mapping, namespace: namespace, name: name, wake: wake}
}

// SightOfSelected is the sight of all objects with some labels.
func SightOfSelected(cluster Cluster, mapping *meta.RESTMapping, namespace string, selector labels.Set, wake func()) *Sight {
	return &Sight{cluster: cluster, mapping: mapping, namespace: namespace, selector: selector, wake: wake}
}

// Look returns the objects that are there now.
func (s *Sight) Look(ctx context.Context) ([]*unstructured.Unstructured, error) {
	objects, known, err := s.followed()
	if err == nil && known {
		// A watch that others have begun may be behind the request, and show as ready what was deleted or
		// replaced.
		if s.fresh = s.fresh || !s.behind(objects); s.fresh {
			return objects, nil
		}
	} else if err == nil && s.looked && s.small && s.following() {
		// The watch has just begun; it triggers when it knows more.
		return s.last, nil
	}
	if objects, err = s.ask(ctx); err != nil {
		return nil, err
	}
	s.remember(objects)
	return objects, nil
}

// remember notes what a request showed. Large objects are not kept: while the watch does not know
// them, they are read again.
func (s *Sight) remember(objects []*unstructured.Unstructured) {
	size := int64(0)
	for _, object := range objects {
		size += answerlimit.SizeOf(object)
	}
	s.looked, s.known = true, versions(objects)
	if s.small, s.last = size <= maxState, nil; s.small {
		s.last = objects
	}
}

// behind reports whether a watch may know less than the last request showed: it has
// other objects, or older ones.
func (s *Sight) behind(objects []*unstructured.Unstructured) bool {
	seen := s.known
	return len(objects) != len(seen) || slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
		version, ok := seen[client.ObjectKeyFromObject(object)]
		return !ok || !resourceversion.AtLeast(object.GetResourceVersion(), version)
	})
}

func versions(objects []*unstructured.Unstructured) map[types.NamespacedName]string {
	versions := make(map[types.NamespacedName]string, len(objects))
	for _, object := range objects {
		versions[client.ObjectKeyFromObject(object)] = object.GetResourceVersion()
	}
	return versions
}

// Follow begins to watch. A watch that others have begun may have reported events before this
// caller listened: it triggers at once if it knows anything else than the last request. An error
// says that watching is not possible, so that the caller needs a timer.
func (s *Sight) Follow() error {
	if s.following() {
		_, _, err := s.followed()
		if err != nil {
			return fmt.Errorf("it cannot be watched: %w", err)
		}
		return nil
	}
	if s.selector != nil {
		s.selected = s.cluster.WatchSelected(s.mapping, s.namespace, s.selector, s.wake)
	} else {
		s.one = s.cluster.Watch(s.mapping, s.namespace, s.name, false, s.wake)
	}
	objects, known, err := s.followed()
	s.fresh = known && !s.behind(objects)
	if err != nil || known && !maps.Equal(versions(objects), s.known) {
		s.wake()
	}
	return nil
}

func (s *Sight) following() bool { return s.one != nil || s.selected != nil }

// followed returns what the watch knows.
func (s *Sight) followed() (objects []*unstructured.Unstructured, known bool, err error) {
	switch {
	case s.selected != nil:
		return s.selected.Objects()
	case s.one != nil:
		state, err := s.one.State()
		if err != nil || !state.Known {
			return nil, false, err
		}
		if state.Object != nil {
			objects = append(objects, state.Object)
		}
		return objects, true, nil
	}
	return nil, false, nil
}

func (s *Sight) ask(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if s.selector != nil {
		return s.cluster.List(ctx, s.mapping, s.namespace, s.selector)
	}
	object, err := s.cluster.Get(ctx, s.mapping, s.namespace, s.name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{object}, nil
}

// Close ends the watch.
func (s *Sight) Close() {
	if s.one != nil {
		_ = s.one.Close()
	}
	if s.selected != nil {
		_ = s.selected.Close()
	}
}
