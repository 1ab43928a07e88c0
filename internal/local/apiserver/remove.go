package apiserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// remove deletes an object, or begins to.
func (s *Server) remove(made *call) *answer {
	var options metav1.DeleteOptions
	if len(made.body) > 0 {
		if err := json.Unmarshal(made.body, &options); err != nil {
			return failed(apierrors.NewBadRequest(err.Error()))
		}
	}
	if policy := made.query.Get("propagationPolicy"); policy != "" {
		options.PropagationPolicy = (*metav1.DeletionPropagation)(&policy)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, err := s.find(made.kind, made.key())
	if err != nil {
		return failed(err)
	}
	if err := meant(made.kind, before.object, options.Preconditions); err != nil {
		return failed(err)
	}
	if made.isDryRun() || len(options.DryRun) > 0 {
		return ok(shown(inVersion(before.object, made.kind), made.accept))
	}
	left, err := s.end(made.kind, before, options.PropagationPolicy)
	if err != nil {
		return failed(err)
	}
	if left != nil {
		return ok(shown(inVersion(left, made.kind), made.accept))
	}
	return ok(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: made.name, Group: made.kind.Group, Kind: made.kind.Resource, UID: before.object.GetUID()},
	})
}

func meant(kind *Kind, object *unstructured.Unstructured, only *metav1.Preconditions) error {
	switch {
	case only == nil:
	case only.UID != nil && *only.UID != object.GetUID():
		return conflict(kind, object.GetName(), fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", *only.UID, object.GetUID()))
	case only.ResourceVersion != nil && *only.ResourceVersion != object.GetResourceVersion():
		return conflict(kind, object.GetName(), fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", *only.ResourceVersion, object.GetResourceVersion()))
	}
	return nil
}

// removeAll deletes the objects that a list would have.
func (s *Server) removeAll(made *call) *answer {
	wanted, err := newFilter(made)
	if err != nil {
		return failed(err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, found := range s.collection(made.kind).sorted() {
		if !wanted.fits(found) {
			continue
		}
		if _, err := s.end(made.kind, found, nil); err != nil {
			return failed(err)
		}
	}
	return ok(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// end begins the deletion of an object, and returns what is left of it. An object that was deleted with
// another one, such as its owner, is not deleted once more.
func (s *Server) end(kind *Kind, found *stored, policy *metav1.DeletionPropagation) (*unstructured.Unstructured, error) {
	before := s.collection(kind).objects[keyOf(found.object)]
	if before == nil {
		return nil, nil
	}
	object := before.object
	orphans := policy != nil && *policy == metav1.DeletePropagationOrphan
	if orphans {
		s.orphan(object)
	}
	if kind.GroupVersionKind == namespaceKind {
		if err := s.empty(object.GetName()); err != nil {
			return nil, err
		}
		present := s.collection(kind).objects[keyOf(object)]
		if present == nil {
			return nil, nil // its last object has taken it away
		}
		before, object = present, present.object
	}
	if len(object.GetFinalizers()) == 0 && !s.holdsNamespace(object) {
		return nil, s.drop(kind, before)
	}
	if object.GetDeletionTimestamp() != nil {
		return object, nil
	}
	next := object.DeepCopy()
	now, none := metav1.NewTime(time.Now().Truncate(time.Second)), int64(0)
	next.SetDeletionTimestamp(&now)
	next.SetDeletionGracePeriodSeconds(&none)
	if kind.counted(next) {
		next.SetGeneration(object.GetGeneration() + 1)
	}
	if kind.GroupVersionKind == namespaceKind {
		next.Object["status"] = map[string]any{"phase": "Terminating"}
	}
	return next, s.put(kind, keyOf(next), next)
}

// drop removes an object for good, and what only it has owned.
func (s *Server) drop(kind *Kind, last *stored) error {
	key := keyOf(last.object)
	if err := s.put(kind, key, nil); err != nil {
		return err
	}
	if kind.GroupVersionKind == definitionKind {
		s.undefine(last.object)
	}
	for _, dependent := range s.dependents(string(last.object.GetUID())) {
		if s.hasOwner(dependent.found.object) {
			continue
		}
		if _, err := s.end(dependent.kind, dependent.found, nil); err != nil {
			return err
		}
	}
	if key.Namespace != "" {
		return s.finishNamespace(key.Namespace)
	}
	return nil
}

// dependent is an object that another one owns.
type dependent struct {
	kind  *Kind
	found *stored
}

func (s *Server) dependents(uid string) []dependent {
	var all []dependent
	for at := range s.owned[uid] {
		found := s.collections[at.resource].objects[at.key]
		if kind := s.kinds.of(found.object.GroupVersionKind()); kind != nil {
			all = append(all, dependent{kind, found})
		}
	}
	slices.SortFunc(all, func(a, b dependent) int { return int(a.found.version - b.found.version) })
	return all
}

// hasOwner reports whether one of the owners of an object exists.
func (s *Server) hasOwner(object *unstructured.Unstructured) bool {
	for _, owner := range object.GetOwnerReferences() {
		for _, in := range s.collections {
			for _, key := range []types.NamespacedName{{Namespace: object.GetNamespace(), Name: owner.Name}, {Name: owner.Name}} {
				if found := in.objects[key]; found != nil && found.object.GetUID() == owner.UID {
					return true
				}
			}
		}
	}
	return false
}

// orphan removes the references to an owner.
func (s *Server) orphan(owner *unstructured.Unstructured) {
	for _, dependent := range s.dependents(string(owner.GetUID())) {
		next := dependent.found.object.DeepCopy()
		next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }))
		_ = s.put(dependent.kind, keyOf(next), next) // it has become smaller
	}
}

// empty deletes all that is in a namespace.
func (s *Server) empty(namespace string) error {
	for _, kind := range s.kinds.sorted() {
		if !kind.Namespaced {
			continue
		}
		for _, found := range s.collection(kind).sorted() {
			if found.object.GetNamespace() != namespace {
				continue
			}
			if _, err := s.end(kind, found, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// holdsNamespace reports whether an object is a namespace that is not empty yet.
func (s *Server) holdsNamespace(object *unstructured.Unstructured) bool {
	if object.GroupVersionKind() != namespaceKind {
		return false
	}
	for _, in := range s.collections {
		for key := range in.objects {
			if key.Namespace == object.GetName() {
				return true
			}
		}
	}
	return false
}

// finishNamespace ends a namespace that is being deleted, with its last object.
func (s *Server) finishNamespace(name string) error {
	kind := s.kinds.of(namespaceKind)
	found := s.collection(kind).objects[types.NamespacedName{Name: name}]
	if found == nil || found.object.GetDeletionTimestamp() == nil || len(found.object.GetFinalizers()) > 0 || s.holdsNamespace(found.object) {
		return nil
	}
	return s.drop(kind, found)
}

// define serves the kinds of a CustomResourceDefinition, and says so in its status.
func (s *Server) define(object *unstructured.Unstructured) error {
	if object.GroupVersionKind() != definitionKind || object.GetDeletionTimestamp() != nil {
		return nil
	}
	definition, err := readDefinition(object)
	if err != nil {
		return err
	}
	for _, kind := range DefinedKinds(definition) {
		s.kinds.add(kind)
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	if len(conditions) > 0 {
		return nil
	}
	next := object.DeepCopy()
	now := time.Now().UTC().Format(time.RFC3339)
	names, _, _ := unstructured.NestedMap(next.Object, "spec", "names")
	next.Object["status"] = map[string]any{
		"acceptedNames": names, "storedVersions": []any{definition.Spec.Versions[0].Name},
		"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found", "lastTransitionTime": now},
			map[string]any{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "the initial names have been accepted", "lastTransitionTime": now},
		},
	}
	return s.put(s.kinds.of(definitionKind), keyOf(next), next)
}

// undefine removes the kinds of a definition that was deleted, with their objects.
func (s *Server) undefine(object *unstructured.Unstructured) {
	definition, err := readDefinition(object)
	if err != nil {
		return
	}
	for _, kind := range DefinedKinds(definition) {
		for _, found := range s.collection(kind).sorted() {
			_ = s.put(kind, keyOf(found.object), nil) // a deletion takes no memory
		}
		s.kinds.remove(kind)
	}
}

func readDefinition(object *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition)
	if err == nil {
		err = checkDefinition(definition)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("CustomResourceDefinition %s is invalid: %v", object.GetName(), err))
	}
	return definition, nil
}

// Delete deletes an object as another client would; one that does not exist is deleted.
func (s *Server) Delete(gvk schema.GroupVersionKind, key types.NamespacedName) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kind := s.kinds.of(gvk)
	if kind == nil {
		return nil
	}
	found := s.collection(kind).objects[key]
	if found == nil {
		return nil
	}
	_, err := s.end(kind, found, nil)
	return err
}
