// Package model is a world in memory in which the real controllers live: a store with
// the rules of an API server, caches that lag behind it, requests that fail before or
// after they were carried out, crashes, and users who change their minds. Histories
// are made from a seed; after every step the invariants of the job protocol are
// checked. Whatever fails can be repeated from its seed.
//
// It knows the controllers by their public fields and by Reconcile.
package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// kind names a kind of objects.
type kind string

// kindOf returns the kind of an object.
func kindOf(object client.Object) kind {
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
		return kind(metadata.Kind)
	}
	return kind(reflect.TypeOf(object).Elem().Name())
}

// cachedKinds are the kinds that controllers read from caches; of Secrets only the metadata.
var cachedKinds = []kind{"Installation", "Execution", "DeployItem", "Target", "DataObject", "Context", "TargetSync", "Secret", "Extension", "ManagedResource"}

// change is an event of a watch.
type change struct {
	kind kind
	key  types.NamespacedName
	// before and after are nil if the object did or does not exist.
	before, after client.Object
	// relisted says that a cache has missed the object in a new list.
	relisted bool
}

// store has the rules of an API server.
type store struct {
	objects map[kind]map[types.NamespacedName]client.Object
	version int
	uids    int
	// reporting says that the change is that of a status.
	reporting bool
	// watch gets every change.
	watch func(change)
	// noted learns of every status that is written, and whether it is another one.
	noted func(k kind, key types.NamespacedName, changed bool)
	// show gets what users are shown.
	show func(where, text string)
	// collected is the version in which the garbage collector has found nothing.
	collected int
}

func newStore() *store {
	return &store{objects: map[kind]map[types.NamespacedName]client.Object{}, watch: func(change) {}, show: func(string, string) {}, noted: func(kind, types.NamespacedName, bool) {}}
}

func resource(k kind) schema.GroupResource {
	return schema.GroupResource{Group: v1alpha1.GroupName, Resource: strings.ToLower(string(k)) + "s"}
}

func (s *store) get(k kind, key types.NamespacedName) (client.Object, error) {
	found, ok := s.objects[k][key]
	if !ok {
		return nil, apierrors.NewNotFound(resource(k), key.Name)
	}
	return found, nil
}

// put stores an object in its next version, or removes it, and notifies the watch.
func (s *store) put(k kind, key types.NamespacedName, next client.Object) {
	before := s.objects[k][key]
	s.version++
	if next == nil {
		delete(s.objects[k], key)
	} else {
		next.SetResourceVersion(strconv.Itoa(s.version))
		if s.objects[k] == nil {
			s.objects[k] = map[types.NamespacedName]client.Object{}
		}
		s.objects[k][key] = next
	}
	s.watch(change{kind: k, key: key, before: before, after: next})
}

func (s *store) create(object client.Object) error {
	k, key := kindOf(object), client.ObjectKeyFromObject(object)
	if _, ok := s.objects[k][key]; ok {
		return apierrors.NewAlreadyExists(resource(k), key.Name)
	}
	if object.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	created := onTheWire(object)
	clearStatus(created)
	s.uids++
	created.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
	created.SetGeneration(1)
	created.SetCreationTimestamp(now())
	created.SetDeletionTimestamp(nil)
	s.put(k, key, created)
	give(object, created)
	return nil
}

// update stores everything but the status, or only the status.
func (s *store) update(object client.Object, status bool) error {
	k, key := kindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.get(k, key)
	if err != nil {
		return err
	}
	if version := object.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return apierrors.NewConflict(resource(k), key.Name, fmt.Errorf("the object has been modified"))
	}
	if uid := object.GetUID(); uid != "" && uid != stored.GetUID() {
		return apierrors.NewConflict(resource(k), key.Name, fmt.Errorf("the UID differs"))
	}
	var next client.Object
	var changed bool
	if status {
		next = shallow(stored)
		s.show("the status of "+string(k)+" "+key.Name, statusOnTheWire(next, object))
		changed = !sameFields(stored, next, func(name string) bool { return name == "Status" })
		s.noted(k, key, changed)
	} else {
		next = onTheWire(object)
		changed = keepsOwn(stored, next)
	}
	s.reporting = status
	s.commit(k, key, next, changed)
	s.reporting = false
	give(object, next)
	return nil
}

// keepsOwn lets an object keep what only the server changes, and reports whether anything else is
// different.
func keepsOwn(stored, next client.Object) (changed bool) {
	copyStatus(next, stored)
	next.SetUID(stored.GetUID())
	next.SetCreationTimestamp(stored.GetCreationTimestamp())
	next.SetDeletionTimestamp(stored.GetDeletionTimestamp())
	next.SetGeneration(stored.GetGeneration())
	next.SetResourceVersion(stored.GetResourceVersion())
	changed = !sameFields(stored, next, func(name string) bool { return name == "ObjectMeta" })
	if !sameFields(stored, next, isContent) {
		next.SetGeneration(stored.GetGeneration() + 1)
		changed = true
	}
	return changed
}

// commit stores what has changed. A terminating object without finalizers is removed.
func (s *store) commit(k kind, key types.NamespacedName, next client.Object, changed bool) {
	switch {
	case next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0:
		s.put(k, key, nil)
	case changed:
		s.put(k, key, next)
	}
}

// shallow returns an object with the same parts. What is stored is never changed, only replaced.
func shallow(stored client.Object) client.Object {
	next := reflect.New(reflect.TypeOf(stored).Elem())
	next.Elem().Set(reflect.ValueOf(stored).Elem())
	return next.Interface().(client.Object)
}

// patch applies a merge patch to everything but the status.
func (s *store) patch(object client.Object, data []byte) error {
	k, key := kindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.get(k, key)
	if err != nil {
		return err
	}
	next, err := patched(stored, data)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if object.GetUID() != "" && next.GetUID() != stored.GetUID() {
		return apierrors.NewConflict(resource(k), key.Name, fmt.Errorf("the UID differs"))
	}
	if version := next.GetResourceVersion(); version != stored.GetResourceVersion() {
		return apierrors.NewConflict(resource(k), key.Name, fmt.Errorf("the object has been modified"))
	}
	s.commit(k, key, next, keepsOwn(stored, next))
	give(object, next)
	return nil
}

// patchStatus applies a merge patch to the status.
func (s *store) patchStatus(object client.Object, data []byte) error {
	k, key := kindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.get(k, key)
	if err != nil {
		return err
	}
	var changes struct {
		Metadata struct{ ResourceVersion string }
		Status   map[string]any
	}
	if err := json.Unmarshal(data, &changes); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if version := changes.Metadata.ResourceVersion; version != "" && version != stored.GetResourceVersion() {
		return apierrors.NewConflict(resource(k), key.Name, fmt.Errorf("the object has been modified"))
	}
	next := shallow(stored)
	field, _ := statusOf(next)
	merged := merge(encode(field.Interface()), changes.Status)
	s.show("the status of "+string(k)+" "+key.Name, string(encoded(merged)))
	field.SetZero()
	decode(merged, field.Addr().Interface())
	changed := !sameFields(stored, next, func(name string) bool { return name == "Status" })
	s.noted(k, key, changed)
	s.commit(k, key, next, changed)
	give(object, next)
	return nil
}

// remove deletes an object, or marks it if it has finalizers.
func (s *store) remove(object client.Object, preconditions *metav1.Preconditions) error {
	k, key := kindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.get(k, key)
	if err != nil {
		return err
	}
	if preconditions != nil {
		if preconditions.UID != nil && *preconditions.UID != stored.GetUID() ||
			preconditions.ResourceVersion != nil && *preconditions.ResourceVersion != stored.GetResourceVersion() {
			return apierrors.NewConflict(resource(k), key.Name, fmt.Errorf("the precondition fails"))
		}
	}
	switch {
	case len(stored.GetFinalizers()) == 0:
		s.put(k, key, nil)
	case stored.GetDeletionTimestamp() == nil:
		next := stored.DeepCopyObject().(client.Object)
		stamp := now()
		next.SetDeletionTimestamp(&stamp)
		next.SetGeneration(stored.GetGeneration() + 1)
		s.put(k, key, next)
	}
	return nil
}

// collect is one step of the garbage collector. It reports whether it did something.
func (s *store) collect() bool {
	if s.collected == s.version {
		return false
	}
	alive := map[types.UID]bool{}
	for _, all := range s.objects {
		for _, object := range all {
			alive[object.GetUID()] = true
		}
	}
	for _, k := range s.kinds() {
		for _, key := range keysOf(s.objects[k]) {
			object := s.objects[k][key]
			owners := object.GetOwnerReferences()
			orphaned := len(owners) > 0 && !slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return alive[o.UID] })
			if orphaned && object.GetDeletionTimestamp() == nil {
				return s.remove(object, nil) == nil
			}
		}
	}
	s.collected = s.version
	return false
}

func (s *store) kinds() []kind {
	kinds := make([]kind, 0, len(s.objects))
	for k := range s.objects {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// keysOf returns keys in an order that depends on nothing but them.
func keysOf[V any](m map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sortKeys(keys)
	return keys
}

func sortKeys(keys []types.NamespacedName) {
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}
