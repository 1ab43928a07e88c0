// Package incluster is the landscape of a console that runs in the server: it reads the caches that
// the controllers have, and asks for nothing of its own but the events about our kinds.
package incluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// kind is a kind of objects that a console shows.
type kind struct {
	resource schema.GroupResource
	example  client.Object
	newList  func() client.ObjectList
}

func kinds() []kind {
	of := func(name string) schema.GroupResource {
		return v1alpha1.GroupVersion.WithResource(name).GroupResource()
	}
	return []kind{
		{of("installations"), &v1alpha1.Installation{}, func() client.ObjectList { return &v1alpha1.InstallationList{} }},
		{of("executions"), &v1alpha1.Execution{}, func() client.ObjectList { return &v1alpha1.ExecutionList{} }},
		{of("deployitems"), &v1alpha1.DeployItem{}, func() client.ObjectList { return &v1alpha1.DeployItemList{} }},
		{of("dataobjects"), &v1alpha1.DataObject{}, func() client.ObjectList { return &v1alpha1.DataObjectList{} }},
		{of("targets"), &v1alpha1.Target{}, func() client.ObjectList { return &v1alpha1.TargetList{} }},
		{of("targetsyncs"), &v1alpha1.TargetSync{}, func() client.ObjectList { return &v1alpha1.TargetSyncList{} }},
		{corev1.Resource("events"), &corev1.Event{}, func() client.ObjectList { return &corev1.EventList{} }},
	}
}

// Source is a landscape from caches; it implements console.Source.
type Source struct {
	ctx          context.Context
	reader       client.Reader
	kinds        []kind
	synced       []func() bool
	changed      chan struct{}
	disconnected func() error
}

// New returns the landscape of caches, which may not run yet. Disconnected says why they may be out of
// date.
func New(ctx context.Context, caches cache.Cache, disconnected func() error) (*Source, error) {
	s := &Source{ctx: ctx, reader: caches, kinds: kinds(), changed: make(chan struct{}, 1), disconnected: disconnected}
	for _, kind := range s.kinds {
		informer, err := caches.GetInformer(ctx, kind.example, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", kind.resource, err)
		}
		notify := func(any) { s.notify() }
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: notify, UpdateFunc: func(_, new any) { s.notify() }, DeleteFunc: notify,
		})
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", kind.resource, err)
		}
		s.synced = append(s.synced, informer.HasSynced)
	}
	return s, nil
}

func (s *Source) notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Changed implements console.Source.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// Disconnected implements console.Source.
func (s *Source) Disconnected() error { return s.disconnected() }

var errEarly = errors.New("the server has not read them yet")

// Snapshot implements console.Source. Its objects share their parts with the caches, and must not be
// changed.
func (s *Source) Snapshot() inspect.Snapshot {
	snapshot := inspect.Snapshot{Now: time.Now()}
	for i, kind := range s.kinds {
		err := errEarly
		if s.synced[i]() {
			err = s.add(kind, &snapshot)
		}
		if err != nil {
			snapshot.Unreadable = append(snapshot.Unreadable, &inspect.ReadError{Resource: kind.resource, Err: errEarly})
		}
	}
	return snapshot
}

// add reads the objects of a kind without copies of what they lead to: only the objects in the list are
// its own.
func (s *Source) add(kind kind, into *inspect.Snapshot) error {
	list := kind.newList()
	if err := s.reader.List(s.ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err // the caller says what was read
	}
	return meta.EachListItem(list, func(item runtime.Object) error { return into.Add(shown(item)) })
}

// shown is what a snapshot has of an object: the values of DataObjects and Targets stay where they are.
func shown(object runtime.Object) runtime.Object {
	switch object := object.(type) {
	case *v1alpha1.DataObject:
		return metadataOf("DataObject", object.ObjectMeta)
	case *v1alpha1.Target:
		return metadataOf("Target", object.ObjectMeta)
	}
	return object
}

func metadataOf(kind string, of metav1.ObjectMeta) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{ObjectMeta: of}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	return object
}
