package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/traffic"
)

// Set has the running watches of a connection: one for each kind, namespace and depth, shared by
// all subscribers, and ended with the last of them. Its mutex is taken before that of a watch,
// never the other way round. Callbacks run without either, so that they may subscribe or close; so
// a callback may run once more after its subscription was closed.
type Set struct {
	dynamic  dynamic.Interface
	metadata metadata.Interface
	memory   *answerlimit.Budget
	// server is the address that messages name.
	server string

	mutex   sync.Mutex
	running map[Key]*watch
}

// Key says what is watched. Subscriptions with the same key share a watch.
type Key struct {
	Resource  schema.GroupVersionResource
	Namespace string
	// MetadataOnly omits everything but the metadata.
	MetadataOnly bool
	// Selector limits the objects by their labels.
	Selector string
}

// limit sets the label selector of a request.
func (k Key) limit(options *metav1.ListOptions) { options.LabelSelector = k.Selector }

// watch is one informer and its subscribers.
type watch struct {
	informer cache.SharedIndexInformer
	// start starts the informer, stop ends it.
	start, stop func()
	// resource names what is watched.
	resource string
	// answer is the loan of the list that is being read, stored the account of the kept objects.
	answer *answerlimit.Loan
	stored *answerlimit.Stored
	// end ends the watch for good, with a failure.
	end func(error)

	mutex   sync.Mutex
	waiting map[string]map[*Subscription]struct{}
	failure error
	// ended says that the failure is for good.
	ended bool
}

// New returns the watches of a connection, of which none runs.
func New(dynamic dynamic.Interface, metadata metadata.Interface, memory *answerlimit.Budget, server string) *Set {
	return &Set{dynamic: dynamic, metadata: metadata, memory: memory, server: server, running: make(map[Key]*watch)}
}

// Any reports whether there is any watch.
func (w *Set) Any() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.running) > 0
}

// Subscription observes one object of a cluster until it is closed.
type Subscription struct {
	watches *Set
	key     Key
	watch   *watch
	object  string
	wake    func()
	once    sync.Once
}

// AnyObject stands for all objects that a watch sees.
const AnyObject = "*"

// Subscribe calls wake whenever there is news about an object, or about anyObject.
func (w *Set) Subscribe(key Key, object string, wake func()) *Subscription {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	shared, ok := w.running[key]
	if (!ok || shared.crowdedOut()) && !w.mayRun() {
		return refused(w, key, object, wake)
	}
	if !ok || shared.crowdedOut() {
		shared = w.make(key)
		w.running[key] = shared
		// The watch starts after the subscription: otherwise it could end before the subscription
		// is registered.
		defer shared.start()
	}
	s := &Subscription{watches: w, key: key, watch: shared, object: object, wake: wake}
	shared.mutex.Lock()
	defer shared.mutex.Unlock()
	if shared.waiting[object] == nil {
		shared.waiting[object] = make(map[*Subscription]struct{})
	}
	shared.waiting[object][s] = struct{}{}
	return s
}

const (
	// maxWatches is how many watches a connection may have, of which freeWatches are not booked: most
	// items need fewer.
	maxWatches, freeWatches = 256, 4
	// watchCost is what a watch takes in memory without its objects: goroutines, buffers, its request.
	watchCost = 160 << 10
)

// mayRun reports whether another watch may begin. An item can ask for one for each object of a kind and
// namespace of its own.
func (w *Set) mayRun() bool {
	return len(w.running) < freeWatches || len(w.running) < maxWatches && w.memory.Limit-w.memory.Used.Load() >= watchCost
}

// refused returns the subscription of a watch that does not run: the subscriber reads the object
// instead.
func refused(w *Set, key Key, object string, wake func()) *Subscription {
	failure := clustererror.Explain(answerlimit.Busy{}, clustererror.TalkToCluster, w.server)
	none := &watch{waiting: map[string]map[*Subscription]struct{}{}, failure: failure, ended: true, stop: func() {}}
	return &Subscription{watches: w, key: key, watch: none, object: object, wake: wake}
}

// crowdedOut reports whether a watch has ended because others used up the memory: a new watch may
// succeed. A watch that was too large itself would fail again.
func (w *watch) crowdedOut() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.ended && errors.As(w.failure, &answerlimit.Busy{})
}

// make returns a watch that does not run yet.
//
//nolint:contextcheck // a watch is shared, and ends with its last subscription
func (w *Set) make(key Key) *watch {
	shared := &watch{
		waiting:  make(map[string]map[*Subscription]struct{}),
		resource: key.Resource.GroupResource().String(), answer: &answerlimit.Loan{Budget: w.memory}, stored: answerlimit.NewStored(w.memory),
	}
	if key.MetadataOnly {
		shared.informer = metadatainformer.NewFilteredMetadataInformer(w.metadata, key.Resource, key.Namespace, 0, cache.Indexers{}, key.limit).Informer()
	} else {
		shared.informer = dynamicinformer.NewFilteredDynamicInformer(w.dynamic, key.Resource, key.Namespace, 0, cache.Indexers{}, key.limit).Informer()
	}
	// Neither call can fail before the informer has started.
	_ = shared.informer.SetTransform(shared.keep)
	_ = shared.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		shared.fail(clustererror.Explain(clustererror.InOurWords(err, shared.resource), clustererror.TalkToCluster, w.server))
	})
	registration, _ := shared.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    shared.notify,
		UpdateFunc: func(_, object any) { shared.notify(object) },
		DeleteFunc: func(object any) {
			shared.stored.Drop(object)
			shared.notify(object)
		},
	})
	// The library would log the answers of the cluster.
	silent := klog.NewContext(context.Background(), logr.Discard())
	reads := &traffic.Listing{Answer: shared.answer, What: "the list of " + shared.resource, Failed: func(err error) { shared.end(err) }, Begun: shared.goesOn}
	ctx, stop := context.WithCancel(traffic.WithListing(silent, reads))
	booked := int64(0)
	if len(w.running) >= freeWatches {
		shared.stored = answerlimit.NewBooked(w.memory)
		if w.memory.Take(watchCost) {
			booked = watchCost
		}
	}
	shared.stop = func() {
		stop()
		w.memory.Give(booked)
		shared.answer.End()
		shared.stored.End()
	}
	shared.end = func(err error) {
		stop()
		shared.notifyAll(clustererror.Explain(err, clustererror.TalkToCluster, w.server), true)
	}
	shared.start = func() {
		// The informer ends with stop: when the last subscription is closed, or when the watch has
		// cost more than it may.
		go shared.informer.RunWithContext(ctx)
		go func() {
			if registration != nil && cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
				shared.notifyAll(nil, false)
			}
		}()
	}
	return shared
}

// keep drops the unused parts of an object, and books the rest. A watch whose objects do not fit
// ends: its store must be complete.
func (w *watch) keep(object any) (any, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return object, nil //nolint:nilerr // a value that is not an object is not kept
	}
	accessor.SetManagedFields(nil)
	if err := w.stored.Put(object); err != nil {
		w.end(err)
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}}, nil
	}
	return object, nil
}

// notify calls the subscribers of an object.
func (w *watch) notify(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return
	}
	w.mutex.Lock()
	if !w.ended {
		w.failure = nil
	}
	var wakes []func()
	for _, waiting := range []map[*Subscription]struct{}{w.waiting[key], w.waiting[AnyObject]} {
		for s := range waiting {
			wakes = append(wakes, s.wake)
		}
	}
	w.mutex.Unlock()
	for _, wake := range wakes {
		wake()
	}
}

// notifyAll calls all subscribers and keeps the failure of the watch, if there is one.
func (w *watch) notifyAll(failure error, ended bool) {
	w.mutex.Lock()
	if w.ended {
		w.mutex.Unlock()
		return
	}
	w.failure, w.ended = failure, ended
	var wakes []func()
	for _, waiting := range w.waiting {
		for s := range waiting {
			wakes = append(wakes, s.wake)
		}
	}
	w.mutex.Unlock()
	for _, wake := range wakes {
		wake()
	}
}

// fail reports a failure. A watch that merely ended restarts by itself.
func (w *watch) fail(err error) {
	w.mutex.Lock()
	known := w.failure != nil && err != nil && w.failure.Error() == err.Error()
	synced := w.informer.HasSynced()
	w.mutex.Unlock()
	// Once it has begun, a watch ends now and then and restarts by itself.
	lasting := clustererror.IsConnection(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
	if known || (synced && !lasting) {
		return
	}
	w.notifyAll(err, false)
}

// goesOn ends a failure when the cluster sends events again: a watch without objects may have no
// changes for long. Before the first state is known, only that state ends a failure.
func (w *watch) goesOn() {
	w.mutex.Lock()
	over := w.failure != nil && w.informer.HasSynced()
	w.mutex.Unlock()
	if over {
		w.notifyAll(nil, false)
	}
}

// State is the state of an object as a subscription knows it.
type State struct {
	// Known is false until the watch has delivered its first state.
	Known bool
	// Object is nil if there is no such object. It belongs to the watch: it must not
	// be changed.
	Object *unstructured.Unstructured
	// Version is the resource version that the watch has reached.
	Version string
}

// State returns what is known about the object.
func (s *Subscription) State() (State, error) {
	s.watch.mutex.Lock()
	failure := s.watch.failure
	s.watch.mutex.Unlock()
	if failure != nil {
		return State{}, fmt.Errorf("watch %s: %w", s.key.Resource.GroupResource(), failure)
	}
	if !s.watch.informer.HasSynced() {
		return State{}, nil
	}
	// The version of the store, not of the last event from the cluster, which may not be stored
	// yet. The version is read first: objects that are read after it are at least as new.
	store := s.watch.informer.GetStore()
	state := State{Known: true, Version: store.LastStoreSyncResourceVersion()}
	stored, exists, err := store.GetByKey(s.object)
	if err != nil || !exists {
		return state, err
	}
	switch object := stored.(type) {
	case *unstructured.Unstructured:
		state.Object = object
	case *metav1.PartialObjectMetadata:
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return State{}, fmt.Errorf("read the metadata of %s: %w", s.object, err)
		}
		state.Object = &unstructured.Unstructured{Object: content}
	}
	return state, nil
}

// Versions returns the versions of all objects that a watch of metadata sees, by their names, the
// version that the watch has reached, and whether it has begun.
func (s *Subscription) Versions() (versions map[string]string, version string, known bool, err error) {
	state, err := s.State()
	if err != nil || !state.Known {
		return nil, "", false, err
	}
	versions = map[string]string{}
	for _, stored := range s.watch.informer.GetStore().List() {
		if object, ok := stored.(*metav1.PartialObjectMetadata); ok {
			versions[object.Name] = object.ResourceVersion
		}
	}
	return versions, state.Version, true, nil
}

// Objects returns all objects that the watch sees, and whether it has begun. They
// belong to the watch: they must not be changed.
func (s *Subscription) Objects() (objects []*unstructured.Unstructured, known bool, err error) {
	s.watch.mutex.Lock()
	failure := s.watch.failure
	s.watch.mutex.Unlock()
	if failure != nil {
		return nil, false, fmt.Errorf("watch %s: %w", s.key.Resource.GroupResource(), failure)
	}
	if !s.watch.informer.HasSynced() {
		return nil, false, nil
	}
	for _, stored := range s.watch.informer.GetStore().List() {
		if object, ok := stored.(*unstructured.Unstructured); ok {
			objects = append(objects, object)
		}
	}
	return objects, true, nil
}

// Close ends the subscription. It may be called again, and never fails.
func (s *Subscription) Close() error {
	s.once.Do(func() {
		s.watches.mutex.Lock()
		defer s.watches.mutex.Unlock()
		s.watch.mutex.Lock()
		defer s.watch.mutex.Unlock()
		delete(s.watch.waiting[s.object], s)
		if len(s.watch.waiting[s.object]) == 0 {
			delete(s.watch.waiting, s.object)
		}
		if len(s.watch.waiting) == 0 {
			s.watch.stop()
			if s.watches.running[s.key] == s.watch {
				delete(s.watches.running, s.key)
			}
		}
	})
	return nil
}
