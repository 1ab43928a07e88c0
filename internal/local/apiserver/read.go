package apiserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func (c *call) key() types.NamespacedName {
	return types.NamespacedName{Namespace: c.namespace, Name: c.name}
}

// get reads an object.
func (s *Server) get(made *call) (map[string]any, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, err := s.find(made.kind, made.key())
	if err != nil {
		return nil, err
	}
	return inVersion(found.object, made.kind), nil
}

// inVersion returns an object as a version of its kind.
func inVersion(object *unstructured.Unstructured, kind *Kind) map[string]any {
	wanted := kind.GroupVersion().String()
	if object.GetAPIVersion() == wanted {
		return object.Object
	}
	shown := make(map[string]any, len(object.Object))
	for key, value := range object.Object {
		shown[key] = value
	}
	shown["apiVersion"] = wanted
	return shown
}

// onlyMetadata is how clients ask for the metadata alone.
func onlyMetadata(accept string) bool {
	first, _, _ := strings.Cut(accept, ",")
	return strings.Contains(first, "as=PartialObjectMetadata")
}

// shown returns an object as it was asked for.
func shown(object map[string]any, accept string) map[string]any {
	if !onlyMetadata(accept) {
		return object
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": object["metadata"]}
}

// filter is what a list or a watch is about.
type filter struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func newFilter(made *call) (*filter, error) {
	f := &filter{namespace: made.namespace}
	var err error
	if f.labels, err = labels.Parse(made.query.Get("labelSelector")); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if f.fields, err = fields.ParseSelector(made.query.Get("fieldSelector")); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return f, nil
}

// fits reports whether an object is among those that were asked for.
func (f *filter) fits(found *stored) bool {
	if found == nil || f.namespace != "" && found.object.GetNamespace() != f.namespace {
		return false
	}
	if !f.labels.Empty() && !f.labels.Matches(labels.Set(found.object.GetLabels())) {
		return false
	}
	return f.fields.Empty() || f.fields.Matches(fieldsOf{found.object})
}

// fieldsOf are the fields of an object as selectors name them.
type fieldsOf struct{ object *unstructured.Unstructured }

// Has implements fields.Fields.
func (f fieldsOf) Has(field string) bool { return f.Get(field) != "" }

// Get implements fields.Fields.
func (f fieldsOf) Get(field string) string {
	value, found, _ := unstructured.NestedFieldNoCopy(f.object.Object, strings.Split(field, ".")...)
	if !found || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// list reads the objects of a kind. The rest of a list is read by the key that the last page ended with.
func (s *Server) list(made *call) *answer {
	wanted, err := newFilter(made)
	if err != nil {
		return failed(err)
	}
	limit, _ := strconv.Atoi(made.query.Get("limit"))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	items, rest := []any{}, ""
	after := made.query.Get("continue")
	for _, found := range s.collection(made.kind).sorted() {
		if !wanted.fits(found) || after != "" && placeOf(found.object) <= after {
			continue
		}
		if limit > 0 && len(items) == limit {
			rest = lastPlace(items)
			break
		}
		items = append(items, shown(inVersion(found.object, made.kind), made.accept))
	}
	metadata := map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}
	if rest != "" {
		metadata["continue"] = rest
	}
	apiVersion, kind := made.kind.GroupVersion().String(), made.kind.Kind+"List"
	if onlyMetadata(made.accept) {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	return ok(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "items": items})
}

func lastPlace(items []any) string {
	last, _ := items[len(items)-1].(map[string]any)
	return placeOf(&unstructured.Unstructured{Object: last})
}

// Objects returns the objects of all kinds in the order of kinds and names. They must not be changed.
func (s *Server) Objects() []*unstructured.Unstructured {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	names := make([]string, 0, len(s.collections))
	for name := range s.collections {
		names = append(names, name)
	}
	slices.Sort(names)
	var all []*unstructured.Unstructured
	for _, name := range names {
		for _, found := range s.collections[name].sorted() {
			all = append(all, found.object)
		}
	}
	return all
}

// Find returns an object; nil if it does not exist. It must not be changed.
func (s *Server) Find(gvk schema.GroupVersionKind, key types.NamespacedName) *unstructured.Unstructured {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kind := s.kinds.of(gvk)
	if kind == nil {
		return nil
	}
	return s.collection(kind).objects[key].content()
}
