package apiserver

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// maxHistory is how many changes of a kind a watch may be behind.
const maxHistory = 2000

// Change is one change of an object. What it has must not be changed.
type Change struct {
	Kind *Kind
	// Before and After are nil if the object did or does not exist.
	Before, After *unstructured.Unstructured
}

// collection has the objects of a resource.
type collection struct {
	objects map[types.NamespacedName]*stored
	history []event
	// dropped is the version of the last change that is no longer in the history.
	dropped int64
	// news is closed, and replaced, when something has changed.
	news chan struct{}
}

// stored is an object in its present version. It is never changed, only replaced.
type stored struct {
	object  *unstructured.Unstructured
	version int64
	size    int
}

// event is a change in the history of a collection.
type event struct {
	version       int64
	before, after *stored
}

// reference names an object for the collection of garbage.
type reference struct {
	resource string
	key      types.NamespacedName
}

func (s *Server) collection(kind *Kind) *collection {
	name := kind.groupResource().String()
	found := s.collections[name]
	if found == nil {
		found = &collection{objects: map[types.NamespacedName]*stored{}, news: make(chan struct{})}
		s.collections[name] = found
	}
	return found
}

func keyOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// find returns an object.
func (s *Server) find(kind *Kind, key types.NamespacedName) (*stored, error) {
	found := s.collection(kind).objects[key]
	if found == nil {
		return nil, apierrors.NewNotFound(kind.groupResource(), key.Name)
	}
	return found, nil
}

// put stores an object in a new version, or removes it, and notifies those who watch.
func (s *Server) put(kind *Kind, key types.NamespacedName, next *unstructured.Unstructured) error {
	in := s.collection(kind)
	before := in.objects[key]
	var after *stored
	if next != nil {
		next.SetResourceVersion(strconv.FormatInt(s.version+1, 10))
		size, err := sizeOf(next)
		if err != nil {
			return err
		}
		if grown := s.bytes + size - before.bytes(); grown > s.options.Memory {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("all objects of the cluster in memory may have %d MiB together", s.options.Memory>>20))
		}
		after = &stored{object: next, version: s.version + 1, size: size}
		in.objects[key] = after
	} else {
		delete(in.objects, key)
	}
	s.version++
	close(s.news)
	s.news = make(chan struct{})
	s.bytes += after.bytes() - before.bytes()
	in.record(event{version: s.version, before: before, after: after})
	s.noteOwners(kind, key, before, after)
	if s.options.Changed != nil {
		s.options.Changed(s, Change{Kind: kind, Before: before.content(), After: after.content()})
	}
	return nil
}

func sizeOf(object *unstructured.Unstructured) (int, error) {
	raw, err := json.Marshal(object.Object)
	if err != nil {
		return 0, apierrors.NewBadRequest(err.Error())
	}
	if len(raw) > maxObject {
		return 0, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s %s has %d bytes, and the limit for an object is %d", object.GetKind(), object.GetName(), len(raw), maxObject))
	}
	return len(raw), nil
}

func (o *stored) bytes() int {
	if o == nil {
		return 0
	}
	return o.size
}

func (o *stored) content() *unstructured.Unstructured {
	if o == nil {
		return nil
	}
	return o.object
}

// record adds a change to the history.
func (c *collection) record(change event) {
	if len(c.history) >= maxHistory {
		half := len(c.history) / 2
		c.dropped = c.history[half-1].version
		c.history = slices.Clone(c.history[half:])
	}
	c.history = append(c.history, change)
	close(c.news)
	c.news = make(chan struct{})
}

// sorted returns the objects in the order in which an API server lists them.
func (c *collection) sorted() []*stored {
	found := make([]*stored, 0, len(c.objects))
	for _, object := range c.objects {
		found = append(found, object)
	}
	slices.SortFunc(found, func(a, b *stored) int {
		return strings.Compare(placeOf(a.object), placeOf(b.object))
	})
	return found
}

// placeOf is where an object is in the order of a list: a page ends with one, and the next one begins behind it.
func placeOf(object *unstructured.Unstructured) string {
	return object.GetNamespace() + "/" + object.GetName()
}

// noteOwners keeps the index of what is owned by whom.
func (s *Server) noteOwners(kind *Kind, key types.NamespacedName, before, after *stored) {
	at := reference{kind.groupResource().String(), key}
	if before != nil {
		for _, owner := range before.object.GetOwnerReferences() {
			delete(s.owned[string(owner.UID)], at)
			if len(s.owned[string(owner.UID)]) == 0 {
				delete(s.owned, string(owner.UID))
			}
		}
	}
	if after == nil {
		return
	}
	for _, owner := range after.object.GetOwnerReferences() {
		if s.owned[string(owner.UID)] == nil {
			s.owned[string(owner.UID)] = map[reference]bool{}
		}
		s.owned[string(owner.UID)][at] = true
	}
}

// newUID returns an identity in the usual form.
func newUID() types.UID {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	text := hex.EncodeToString(random[:])
	return types.UID(strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-"))
}

// newSuffix returns the end of a generated name.
func newSuffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	var random [5]byte
	_, _ = rand.Read(random[:]) // it never fails
	for i, value := range random {
		random[i] = letters[int(value)%len(letters)]
	}
	return string(random[:])
}

// addNamespace creates a namespace if it does not exist.
func (s *Server) addNamespace(name string) {
	kind := s.kinds.of(namespaceKind)
	key := types.NamespacedName{Name: name}
	if _, err := s.find(kind, key); err == nil {
		return
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/metadata.name": name}},
		"spec":     map[string]any{"finalizers": []any{"kubernetes"}},
		"status":   map[string]any{"phase": "Active"},
	}}
	object.SetUID(newUID())
	object.SetCreationTimestamp(metav1.NewTime(time.Now()))
	_ = s.put(kind, key, object) // it is small
}
