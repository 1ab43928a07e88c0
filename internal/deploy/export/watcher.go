package export

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/target"
)

// Watcher watches for changes of an exported value. It watches the metadata of the objects only:
// their content is read when they have changed.
type Watcher struct {
	value   Value
	cluster target.Cluster
	wake    func()

	first, second target.Watch
	at            place
	places        int
}

// Watch begins to watch for changes of a value.
func (v Value) Watch(ctx context.Context, cluster target.Cluster, wake func()) (*Watcher, error) {
	w := &Watcher{value: v, cluster: cluster, wake: wake}
	var err error
	w.first, err = w.watch(ctx, schema.FromAPIVersionAndKind(v.source.APIVersion, v.source.Kind), place{v.source.Namespace, v.source.Name})
	return w, err
}

func (w *Watcher) watch(ctx context.Context, kind schema.GroupVersionKind, at place) (target.Watch, error) {
	mapping, err := w.cluster.Mapping(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("watch export %s: find kind %s: %w", w.value.Name, kind.Kind, err)
	}
	return w.cluster.Watch(mapping, at.namespace, at.name, true, w.wake), nil
}

// Version identifies the state of the objects that the value comes from. It is not known
// before the watches have begun.
func (w *Watcher) Version() (version string, known bool, err error) {
	for _, watch := range []target.Watch{w.first, w.second} {
		if watch == nil {
			continue
		}
		state, err := watch.State()
		if err != nil || !state.Known {
			return "", false, err
		}
		version += "/"
		if state.Object != nil {
			version += string(state.Object.GetUID()) + "-" + state.Object.GetResourceVersion()
		}
	}
	return version, true, nil
}

// Read reads the present value, and reports whether there is one.
//
// The reading triggers nothing, because it is closed at once: the watches here do that.
func (w *Watcher) Read(ctx context.Context) (value any, there bool, err error) {
	reading := w.value.Begin(w.cluster, func() {})
	defer reading.Close()
	missing, err := reading.Look(ctx)
	w.places = reading.Places()
	if err != nil {
		return nil, false, err
	}
	if reading.second != nil && (w.second == nil || w.at != reading.at) {
		w.closeSecond()
		w.at = reading.at
		if w.second, err = w.watch(ctx, w.value.second.kind, w.at); err != nil {
			return nil, false, err
		}
		if state, err := w.second.State(); err != nil || state.Known {
			// Others have begun the same watch, so it may have reported events since the look.
			w.wake()
		}
	}
	return reading.Result(), missing == "", nil
}

// Places is how many places of objects the last reading has come to, as an estimate.
func (w *Watcher) Places() int { return w.places }

// Value is what is watched.
func (w *Watcher) Value() Value { return w.value }

func (w *Watcher) closeSecond() {
	if w.second != nil {
		_ = w.second.Close()
		w.second = nil
	}
}

// Close ends the watches.
func (w *Watcher) Close() {
	if w.first != nil {
		_ = w.first.Close()
	}
	w.closeSecond()
}
