// Package store has the rules of an API server, for objects in memory: versions, generations, statuses,
// finalizers, owners, merge patches, and answers that arrive as JSON does.
package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// Kind names a kind of objects.
type Kind string

// KindOf returns the kind of an object.
func KindOf(object client.Object) Kind {
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
		return Kind(metadata.Kind)
	}
	return Kind(reflect.TypeOf(object).Elem().Name())
}

// CachedKinds are the kinds that controllers read from caches; of Secrets only the metadata.
var CachedKinds = []Kind{"Installation", "Execution", "DeployItem", "Target", "DataObject", "Context", "TargetSync", "Secret", "Extension", "ManagedResource"}

// Change is an event of a watch.
type Change struct {
	Kind Kind
	Key  types.NamespacedName
	// Before and after are nil if the object did or does not exist.
	Before, After client.Object
	// Relisted says that a cache has missed the object in a new list.
	Relisted bool
}

// Store has the rules of an API server.
type Store struct {
	Objects map[Kind]map[types.NamespacedName]client.Object
	Version int
	uids    int
	// Reporting says that the change is that of a status.
	Reporting bool
	// Watch gets every change.
	Watch func(Change)
	// Noted learns of every status that is written, and whether it is another one.
	Noted func(k Kind, key types.NamespacedName, changed bool)
	// Show gets what users are shown.
	Show func(where, text string)
	// collected is the version in which the garbage collector has found nothing.
	collected int
}

// New returns an empty store.
func New() *Store {
	return &Store{Objects: map[Kind]map[types.NamespacedName]client.Object{}, Watch: func(Change) {}, Show: func(string, string) {}, Noted: func(Kind, types.NamespacedName, bool) {}}
}

// Resource names the resource of a kind in errors.
func Resource(k Kind) schema.GroupResource {
	return schema.GroupResource{Group: v1alpha1.GroupName, Resource: strings.ToLower(string(k)) + "s"}
}

// Get returns a stored object, which must not be changed.
func (s *Store) Get(k Kind, key types.NamespacedName) (client.Object, error) {
	found, ok := s.Objects[k][key]
	if !ok {
		return nil, apierrors.NewNotFound(Resource(k), key.Name)
	}
	return found, nil
}

// put stores an object in its next version, or removes it, and notifies the watch.
func (s *Store) put(k Kind, key types.NamespacedName, next client.Object) {
	before := s.Objects[k][key]
	s.Version++
	if next == nil {
		delete(s.Objects[k], key)
	} else {
		next.SetResourceVersion(strconv.Itoa(s.Version))
		if s.Objects[k] == nil {
			s.Objects[k] = map[types.NamespacedName]client.Object{}
		}
		s.Objects[k][key] = next
	}
	s.Watch(Change{Kind: k, Key: key, Before: before, After: next})
}

// Create stores an object in its first version.
func (s *Store) Create(object client.Object) error {
	k, key := KindOf(object), client.ObjectKeyFromObject(object)
	if _, ok := s.Objects[k][key]; ok {
		return apierrors.NewAlreadyExists(Resource(k), key.Name)
	}
	if object.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	created := onTheWire(object)
	clearStatus(created)
	s.uids++
	created.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
	created.SetGeneration(1)
	created.SetCreationTimestamp(Now())
	created.SetDeletionTimestamp(nil)
	s.put(k, key, created)
	Give(object, created)
	return nil
}

// Update stores everything but the status, or only the status.
func (s *Store) Update(object client.Object, status bool) error {
	k, key := KindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.Get(k, key)
	if err != nil {
		return err
	}
	if version := object.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return apierrors.NewConflict(Resource(k), key.Name, fmt.Errorf("the object has been modified"))
	}
	if uid := object.GetUID(); uid != "" && uid != stored.GetUID() {
		return apierrors.NewConflict(Resource(k), key.Name, fmt.Errorf("the UID differs"))
	}
	var next client.Object
	var changed bool
	if status {
		next = shallow(stored)
		s.Show("the status of "+string(k)+" "+key.Name, statusOnTheWire(next, object))
		changed = !sameFields(stored, next, func(name string) bool { return name == "Status" })
		s.Noted(k, key, changed)
	} else {
		next = onTheWire(object)
		changed = keepsOwn(stored, next)
	}
	s.Reporting = status
	s.commit(k, key, next, changed)
	s.Reporting = false
	Give(object, next)
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
func (s *Store) commit(k Kind, key types.NamespacedName, next client.Object, changed bool) {
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

// Patch applies a merge patch to everything but the status.
func (s *Store) Patch(object client.Object, data []byte) error {
	k, key := KindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.Get(k, key)
	if err != nil {
		return err
	}
	next, err := patched(stored, data)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if object.GetUID() != "" && next.GetUID() != stored.GetUID() {
		return apierrors.NewConflict(Resource(k), key.Name, fmt.Errorf("the UID differs"))
	}
	if version := next.GetResourceVersion(); version != stored.GetResourceVersion() {
		return apierrors.NewConflict(Resource(k), key.Name, fmt.Errorf("the object has been modified"))
	}
	s.commit(k, key, next, keepsOwn(stored, next))
	Give(object, next)
	return nil
}

// PatchStatus applies a merge patch to the status.
func (s *Store) PatchStatus(object client.Object, data []byte) error {
	k, key := KindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.Get(k, key)
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
		return apierrors.NewConflict(Resource(k), key.Name, fmt.Errorf("the object has been modified"))
	}
	next := shallow(stored)
	field, _ := statusOf(next)
	merged := merge(encode(field.Interface()), changes.Status)
	s.Show("the status of "+string(k)+" "+key.Name, string(Encoded(merged)))
	field.SetZero()
	decode(merged, field.Addr().Interface())
	changed := !sameFields(stored, next, func(name string) bool { return name == "Status" })
	s.Noted(k, key, changed)
	s.commit(k, key, next, changed)
	Give(object, next)
	return nil
}

// Remove deletes an object, or marks it if it has finalizers.
func (s *Store) Remove(object client.Object, preconditions *metav1.Preconditions) error {
	k, key := KindOf(object), client.ObjectKeyFromObject(object)
	stored, err := s.Get(k, key)
	if err != nil {
		return err
	}
	if preconditions != nil {
		if preconditions.UID != nil && *preconditions.UID != stored.GetUID() ||
			preconditions.ResourceVersion != nil && *preconditions.ResourceVersion != stored.GetResourceVersion() {
			return apierrors.NewConflict(Resource(k), key.Name, fmt.Errorf("the precondition fails"))
		}
	}
	switch {
	case len(stored.GetFinalizers()) == 0:
		s.put(k, key, nil)
	case stored.GetDeletionTimestamp() == nil:
		next := stored.DeepCopyObject().(client.Object)
		stamp := Now()
		next.SetDeletionTimestamp(&stamp)
		next.SetGeneration(stored.GetGeneration() + 1)
		s.put(k, key, next)
	}
	return nil
}

// Collect is one step of the garbage collector. It reports whether it did something.
func (s *Store) Collect() bool {
	if s.collected == s.Version {
		return false
	}
	alive := map[types.UID]bool{}
	for _, all := range s.Objects {
		for _, object := range all {
			alive[object.GetUID()] = true
		}
	}
	for _, k := range s.Kinds() {
		for _, key := range KeysOf(s.Objects[k]) {
			object := s.Objects[k][key]
			owners := object.GetOwnerReferences()
			orphaned := len(owners) > 0 && !slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return alive[o.UID] })
			if orphaned && object.GetDeletionTimestamp() == nil {
				return s.Remove(object, nil) == nil
			}
		}
	}
	s.collected = s.Version
	return false
}

// Kinds are those that there have been objects of, in order.
func (s *Store) Kinds() []Kind {
	kinds := make([]Kind, 0, len(s.Objects))
	for k := range s.Objects {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// KeysOf returns keys in an order that depends on nothing but them.
func KeysOf[V any](m map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	SortKeys(keys)
	return keys
}

// SortKeys sorts keys by namespace and name.
func SortKeys(keys []types.NamespacedName) {
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

// Now is the time, as precise as objects have it.
func Now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }
