package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	namespaceKind  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	secretKind     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

func (c *call) isDryRun() bool { return c.query.Has("dryRun") }

func (c *call) manager() string {
	if name := c.query.Get("fieldManager"); name != "" {
		return name
	}
	return "landscaper"
}

// decode reads the object of a request.
func (c *call) decode() (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(c.body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return object, c.fits(object)
}

// fits checks that an object is what its path says.
func (c *call) fits(object *unstructured.Unstructured) error {
	if sent := object.GroupVersionKind(); sent != c.kind.GroupVersionKind {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s, %s) does not match the expected API version (%s, %s)", sent.GroupVersion(), sent.Kind, c.kind.GroupVersion(), c.kind.Kind))
	}
	if own := object.GetNamespace(); own != "" && own != c.namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("the namespace of the object (%s) does not match the namespace on the request (%s)", own, c.namespace))
	}
	if c.kind.Namespaced && c.namespace == "" {
		return apierrors.NewBadRequest("an empty namespace may not be set during creation")
	}
	if c.name != "" && object.GetName() != c.name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", object.GetName(), c.name))
	}
	if c.kind.Namespaced {
		object.SetNamespace(c.namespace)
	}
	return nil
}

// create stores a new object.
func (s *Server) create(made *call) (map[string]any, error) {
	object, err := made.decode()
	if err != nil {
		return nil, err
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(object.GetGenerateName() + newSuffix())
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.insert(made, object)
}

// insert stores a new object that was decoded.
func (s *Server) insert(made *call, object *unstructured.Unstructured) (map[string]any, error) {
	key := keyOf(object)
	if err := checkName(made.kind, object); err != nil {
		return nil, err
	}
	if _, err := s.find(made.kind, key); err == nil {
		return nil, apierrors.NewAlreadyExists(made.kind.groupResource(), key.Name)
	}
	if object.GetResourceVersion() != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if err := s.inNamespace(made.kind, key); err != nil {
		return nil, err
	}
	if made.kind.Status {
		delete(object.Object, "status")
	}
	if err := made.kind.complete(object); err != nil {
		return nil, err
	}
	object.SetUID(newUID())
	object.SetSelfLink("")
	object.SetDeletionTimestamp(nil)
	object.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	if made.kind.counted(object) {
		object.SetGeneration(1)
	}
	object, err := s.managers.update(made, &unstructured.Unstructured{Object: map[string]any{}}, object)
	if err != nil {
		return nil, err
	}
	if made.isDryRun() {
		return object.Object, nil
	}
	if err := s.put(made.kind, key, object); err != nil {
		return nil, err
	}
	if err := s.define(object); err != nil {
		return nil, err
	}
	return s.collection(made.kind).objects[key].object.Object, nil
}

func checkName(kind *Kind, object *unstructured.Unstructured) error {
	name := object.GetName()
	if name == "" {
		return apierrors.NewInvalid(kind.GroupKind(), "", field.ErrorList{field.Required(field.NewPath("metadata", "name"), "name or generateName is required")})
	}
	if problems := content.IsPathSegmentName(name); len(problems) > 0 || len(name) > 253 {
		return apierrors.NewInvalid(kind.GroupKind(), name, field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name, "it is not a name of an object")})
	}
	return nil
}

// inNamespace refuses an object in a namespace that does not exist or is being deleted.
func (s *Server) inNamespace(kind *Kind, key types.NamespacedName) error {
	if !kind.Namespaced {
		return nil
	}
	found, err := s.find(s.kinds.of(namespaceKind), types.NamespacedName{Name: key.Namespace})
	if err != nil {
		return err
	}
	if found.object.GetDeletionTimestamp() != nil {
		return apierrors.NewForbidden(kind.groupResource(), key.Name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", key.Namespace))
	}
	return nil
}

// counted reports whether the generation of an object counts the changes of its specification.
func (k *Kind) counted(object *unstructured.Unstructured) bool {
	_, hasSpec := object.Object["spec"]
	return hasSpec || k.Schema != nil
}

// update replaces an object, or its status.
func (s *Server) update(made *call) (map[string]any, error) {
	object, err := made.decode()
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, err := s.find(made.kind, keyOf(object))
	if err != nil {
		return nil, err
	}
	return s.replace(made, before, object)
}

// conflict is the answer to a write that was meant for another version, or another object.
func conflict(kind *Kind, name, reason string) error {
	return apierrors.NewConflict(kind.groupResource(), name, errors.New(reason))
}

// replace stores another state of an object.
func (s *Server) replace(made *call, before *stored, object *unstructured.Unstructured) (map[string]any, error) {
	old := before.object
	if version := object.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
		return nil, conflict(made.kind, old.GetName(), "the object has been modified; please apply your changes to the latest version and try again")
	}
	if uid := object.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, conflict(made.kind, old.GetName(), fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, old.GetUID()))
	}
	next := made.merged(old, object)
	if err := made.kind.complete(next); err != nil {
		return nil, err
	}
	next, err := s.managers.update(made, old, next)
	if err != nil {
		return nil, err
	}
	return s.settle(made, before, next)
}

// merged returns the next state: what the server decides about, and what the path is not about, stays.
func (c *call) merged(old, object *unstructured.Unstructured) *unstructured.Unstructured {
	next := object
	if c.subresource == "status" {
		next = old.DeepCopy()
		next.SetManagedFields(object.GetManagedFields())
		if status, has := object.Object["status"]; has {
			next.Object["status"] = status
		} else {
			delete(next.Object, "status")
		}
		return next
	}
	if c.kind.Status {
		delete(next.Object, "status")
		if status, has := old.Object["status"]; has {
			next.Object["status"] = status
		}
	}
	next.SetUID(old.GetUID())
	next.SetCreationTimestamp(old.GetCreationTimestamp())
	next.SetDeletionTimestamp(old.GetDeletionTimestamp())
	next.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	next.SetGeneration(old.GetGeneration())
	next.SetSelfLink("")
	return next
}

// settle stores a state that is complete, if it is another one.
func (s *Server) settle(made *call, before *stored, next *unstructured.Unstructured) (map[string]any, error) {
	old := before.object
	next.SetResourceVersion(old.GetResourceVersion())
	if sameBut(old, next, "metadata.managedFields") {
		return old.Object, nil
	}
	if made.subresource != "status" && made.kind.counted(next) && !sameBut(old, next, "metadata", "status") {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	if made.isDryRun() {
		return next.Object, nil
	}
	if old.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 && !s.holdsNamespace(next) {
		return next.Object, s.drop(made.kind, before)
	}
	if err := s.put(made.kind, keyOf(next), next); err != nil {
		return nil, err
	}
	if err := s.define(next); err != nil {
		return nil, err
	}
	return next.Object, nil
}

// sameBut compares two states without some fields: of the top, or of the metadata.
func sameBut(a, b *unstructured.Unstructured, without ...string) bool {
	plain := func(object *unstructured.Unstructured) map[string]any {
		reduced := make(map[string]any, len(object.Object))
		for key, value := range object.Object {
			metadata, isMap := value.(map[string]any)
			switch {
			case slices.Contains(without, key):
			case key == "metadata" && isMap && slices.Contains(without, "metadata.managedFields"):
				kept := make(map[string]any, len(metadata))
				for name, value := range metadata {
					if name != "managedFields" {
						kept[name] = value
					}
				}
				reduced[key] = kept
			default:
				reduced[key] = value
			}
		}
		return reduced
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// complete puts in defaults, and checks what an API server checks by a schema.
func (k *Kind) complete(object *unstructured.Unstructured) error {
	if k.GroupVersionKind == secretKind {
		return encodeSecret(object)
	}
	if k.Schema == nil {
		defaultReplicas(object)
		return nil
	}
	applyDefaults(object.Object, k.Schema)
	if problems := check(object.Object, k.Schema, nil); len(problems) > 0 {
		return apierrors.NewInvalid(k.GroupKind(), object.GetName(), problems)
	}
	return nil
}

// scaled are the kinds of which one replica is wanted unless they say something else. Who reads the live
// object takes a missing number for 0, which it never is on a cluster.
var scaled = []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "ReplicaSet"}, {Kind: "ReplicationController"}}

func defaultReplicas(object *unstructured.Unstructured) {
	spec, isMap := object.Object["spec"].(map[string]any)
	if isMap && spec["replicas"] == nil && slices.Contains(scaled, object.GroupVersionKind().GroupKind()) {
		spec["replicas"] = int64(1)
	}
}

// encodeSecret moves stringData to data.
func encodeSecret(object *unstructured.Unstructured) error {
	data, _, _ := unstructured.NestedMap(object.Object, "data")
	for key, value := range data {
		text, isText := value.(string)
		if _, err := base64.StdEncoding.DecodeString(text); !isText && value != nil || err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("Secret in version \"v1\" cannot be handled as a Secret: the value of data.%s is not base64", key))
		}
	}
	plain, _, _ := unstructured.NestedStringMap(object.Object, "stringData")
	delete(object.Object, "stringData")
	if object.Object["type"] == nil {
		object.Object["type"] = "Opaque"
	}
	if len(plain) == 0 {
		return nil
	}
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	object.Object["data"] = data
	return nil
}

// Write changes an object as a controller of the cluster would: all of it, with its status. The change
// gets a copy; without one that exists, nothing happens.
func (s *Server) Write(kind *Kind, key types.NamespacedName, change func(*unstructured.Unstructured)) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, err := s.find(kind, key)
	if err != nil {
		return nil // it was deleted
	}
	next := before.object.DeepCopy()
	change(next)
	generation := next.GetGeneration()
	if kind.counted(next) && !sameBut(before.object, next, "metadata", "status") {
		generation++
	}
	next.SetGeneration(generation)
	if sameBut(before.object, next) {
		return nil
	}
	return s.put(kind, key, next)
}

// Put creates or replaces an object as another client would.
func (s *Server) Put(object *unstructured.Unstructured) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kind := s.kinds.of(object.GroupVersionKind())
	if kind == nil {
		return notServed(object.GroupVersionKind().String())
	}
	object = object.DeepCopy()
	// A caller may have put Go numbers in.
	if raw, err := json.Marshal(object.Object); err != nil || object.UnmarshalJSON(raw) != nil {
		return apierrors.NewBadRequest("the object cannot be encoded")
	}
	if kind.Namespaced {
		if object.GetNamespace() == "" {
			object.SetNamespace("default")
		}
		s.addNamespace(object.GetNamespace())
	} else {
		object.SetNamespace("")
	}
	made := &call{target: target{kind: kind, namespace: object.GetNamespace(), name: object.GetName()}, query: map[string][]string{"fieldManager": {"given"}}}
	before, err := s.find(kind, keyOf(object))
	if err != nil {
		status, hasStatus := object.Object["status"]
		if _, err := s.insert(made, object); err != nil || !hasStatus {
			return err
		}
		next := s.collection(kind).objects[keyOf(object)].object.DeepCopy()
		next.Object["status"] = status
		return s.put(kind, keyOf(object), next)
	}
	object.SetResourceVersion("")
	_, err = s.replace(made, before, object)
	return err
}

// EnsureNamespace creates a namespace if it does not exist.
func (s *Server) EnsureNamespace(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.addNamespace(name)
}
