package apiserver

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"go.landscaper.dev/internal/base/yamltext"
)

// patch changes an object, or applies one.
func (s *Server) patch(made *call) (map[string]any, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, err := s.find(made.kind, made.key())
	if types.PatchType(made.media) == types.ApplyPatchType {
		return s.apply(made, before, err)
	}
	if err != nil {
		return nil, err
	}
	next, err := made.patched(before.object)
	if err != nil {
		return nil, err
	}
	if err := made.fits(next); err != nil {
		return nil, err
	}
	return s.replace(made, before, next)
}

// patched returns an object with the patch of the request.
func (c *call) patched(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	old, err := json.Marshal(inVersion(object, c.kind))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var changed []byte
	switch types.PatchType(c.media) {
	case types.MergePatchType:
		changed, err = jsonpatch.MergePatch(old, c.body)
	case types.JSONPatchType:
		var steps jsonpatch.Patch
		if steps, err = jsonpatch.DecodePatch(c.body); err == nil {
			changed, err = steps.Apply(old)
		}
	case types.StrategicMergePatchType:
		example, unknown := clientgoscheme.Scheme.New(c.kind.GroupVersionKind)
		if unknown != nil {
			return nil, unsupported(c.media)
		}
		changed, err = strategicpatch.StrategicMergePatch(old, c.body, example)
	default:
		return nil, unsupported(c.media)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if len(changed) > maxRequest {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxRequest))
	}
	next := &unstructured.Unstructured{}
	if err := next.UnmarshalJSON(changed); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return next, nil
}

func unsupported(media string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 415, Reason: metav1.StatusReasonUnsupportedMediaType, Message: "the body of the request was in an unknown format: " + media,
	}}
}

// apply carries out a server-side apply.
func (s *Server) apply(made *call, before *stored, missing error) (map[string]any, error) {
	object, err := made.applied()
	if err != nil {
		return nil, err
	}
	live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": made.kind.GroupVersion().String(), "kind": made.kind.Kind, "metadata": map[string]any{"name": made.name}}}
	if before != nil {
		live = before.object.DeepCopy()
		if uid := object.GetUID(); uid != "" && uid != live.GetUID() {
			return nil, conflict(made.kind, made.name, "the UID is that of another object")
		}
		if version := object.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
			return nil, conflict(made.kind, made.name, "the object has been modified")
		}
	} else if object.GetUID() != "" || made.subresource != "" {
		return nil, missing
	} else if made.kind.Namespaced {
		live.SetNamespace(made.namespace)
	}
	next, err := s.managers.apply(made, live, object)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return s.insertApplied(made, next)
	}
	fields := next.GetManagedFields()
	next = made.merged(before.object, next)
	next.SetManagedFields(fields)
	if err := made.kind.complete(next); err != nil {
		return nil, err
	}
	return s.settle(made, before, next)
}

// applied is the object that a server-side apply has in its body.
func (c *call) applied() (*unstructured.Unstructured, error) {
	value, err := yamltext.Decode(c.body, yamltext.DefaultLimits())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	content, isMap := value.(map[string]any)
	if !isMap {
		return nil, apierrors.NewBadRequest("what is applied is not an object")
	}
	object := &unstructured.Unstructured{}
	if raw, err := json.Marshal(content); err != nil || object.UnmarshalJSON(raw) != nil {
		return nil, apierrors.NewBadRequest("what is applied is not an object")
	}
	if err := c.fits(object); err != nil {
		return nil, err
	}
	if c.query.Get("fieldManager") == "" {
		return nil, apierrors.NewBadRequest("PatchOptions.meta.k8s.io is invalid: fieldManager: Required value: is required for apply patch")
	}
	if object.GetManagedFields() != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return object, nil
}

// insertApplied creates an object that was applied: its fields have their owner already.
func (s *Server) insertApplied(made *call, object *unstructured.Unstructured) (map[string]any, error) {
	applied := *made
	applied.media = string(types.ApplyPatchType)
	return s.insert(&applied, object)
}

// managers know who has set which fields. They are made when they are needed.
type managers map[schema.GroupVersionKind]*managedfields.FieldManager

func (m managers) of(made *call) (*managedfields.FieldManager, error) {
	kind := made.kind.GroupVersionKind
	if found := m[kind]; found != nil {
		return found, nil
	}
	manager, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), plainObjects{}, plainObjects{}, plainObjects{}, kind, kind.GroupVersion(), made.subresource, nil)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m[kind] = manager
	return manager, nil
}

// update notes who has changed an object. What was applied has its owner already.
func (m managers) update(made *call, old, next *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if types.PatchType(made.media) == types.ApplyPatchType {
		return next, nil
	}
	if made.kind.Schema != nil && made.kind.Group == ownGroup {
		next.SetManagedFields(nil) // they are not applied
		return next, nil
	}
	manager, err := m.of(made)
	if err != nil {
		return nil, err
	}
	if len(old.Object) == 0 {
		old = &unstructured.Unstructured{Object: map[string]any{"apiVersion": next.GetAPIVersion(), "kind": next.GetKind()}}
	}
	merged := manager.UpdateNoErrors(old, next, made.manager())
	object, isObject := merged.(*unstructured.Unstructured)
	if !isObject {
		return nil, apierrors.NewInternalError(fmt.Errorf("a %T instead of an object", merged))
	}
	return object, nil
}

func (m managers) apply(made *call, live, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	manager, err := m.of(made)
	if err != nil {
		return nil, err
	}
	merged, err := manager.Apply(live, object, made.manager(), made.query.Get("force") == "true")
	if err != nil {
		return nil, err // an error of the library, with its status
	}
	next, isObject := merged.(*unstructured.Unstructured)
	if !isObject {
		return nil, apierrors.NewInternalError(fmt.Errorf("a %T instead of an object", merged))
	}
	return next, nil
}

// plainObjects lets the library handle objects of all kinds alike: there is nothing to convert.
type plainObjects struct{}

// Convert implements runtime.ObjectConvertor.
func (plainObjects) Convert(_, _, _ any) error { return nil }

// ConvertToVersion implements runtime.ObjectConvertor.
func (plainObjects) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (plainObjects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements runtime.ObjectDefaulter.
func (plainObjects) Default(runtime.Object) {}

// New implements runtime.ObjectCreater.
func (plainObjects) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}
