package resourcemanager

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	prefix    = "resources.gardener.cloud/"
	finalizer = prefix + "gardener-resource-manager"

	annotationIgnore          = prefix + "ignore"
	annotationMode            = prefix + "mode"
	annotationKeep            = prefix + "keep-object"
	annotationRecreate        = prefix + "delete-on-invalid-update"
	annotationSkipHealthCheck = prefix + "skip-health-check"
	annotationOrigin          = prefix + "origin"
	annotationDescription     = prefix + "description"
	labelManagedBy            = prefix + "managed-by"

	conditionApplied     = "ResourcesApplied"
	conditionHealthy     = "ResourcesHealthy"
	conditionProgressing = "ResourcesProgressing"
)

var version = schema.GroupVersion{Group: "resources.gardener.cloud", Version: "v1alpha1"}

// managedResource is a ManagedResource as it is on the wire. It is written here a second
// time, so that a name that the extension spells wrongly is not spelled wrongly here, too.
type managedResource struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Class                     *string                       `json:"class"`
		SecretRefs                []corev1.LocalObjectReference `json:"secretRefs"`
		InjectLabels              map[string]string             `json:"injectLabels"`
		ForceOverwriteLabels      *bool                         `json:"forceOverwriteLabels"`
		ForceOverwriteAnnotations *bool                         `json:"forceOverwriteAnnotations"`
		KeepObjects               *bool                         `json:"keepObjects"`
	} `json:"spec"`
	Status standing `json:"status"`
}

func (r *managedResource) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

type standing struct {
	Conditions          []condition `json:"conditions,omitempty"`
	ObservedGeneration  int64       `json:"observedGeneration,omitempty"`
	Resources           []reference `json:"resources,omitempty"`
	SecretsDataChecksum string      `json:"secretsDataChecksum,omitempty"`
}

type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	LastUpdateTime     metav1.Time `json:"lastUpdateTime"`
	Reason             string      `json:"reason"`
	Message            string      `json:"message"`
}

// reference is an object on the shoot.
type reference struct {
	APIVersion  string            `json:"apiVersion,omitempty"`
	Kind        string            `json:"kind,omitempty"`
	Name        string            `json:"name,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func (r reference) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// same says that two references are for one object.
func (r reference) same(other reference) bool {
	group := func(version string) string { group, _, _ := strings.Cut(version, "/"); return group }
	return group(r.APIVersion) == group(other.APIVersion) && r.Kind == other.Kind && r.Name == other.Name && r.Namespace == other.Namespace
}

func (r reference) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(r.APIVersion)
	object.SetKind(r.Kind)
	object.SetName(r.Name)
	object.SetNamespace(r.Namespace)
	return object
}

func newResource() *unstructured.Unstructured {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(version.WithKind("ManagedResource"))
	return resource
}

func newResources() *unstructured.UnstructuredList {
	resources := &unstructured.UnstructuredList{}
	resources.SetGroupVersionKind(version.WithKind("ManagedResourceList"))
	return resources
}

func decodeResource(object *unstructured.Unstructured) (*managedResource, error) {
	resource := &managedResource{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, resource)
	return resource, err
}

// encodeStatus returns the object with another status.
func encodeStatus(object *unstructured.Unstructured, next *standing) (*unstructured.Unstructured, error) {
	encoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(next)
	if err != nil {
		return nil, err
	}
	changed := object.DeepCopy()
	changed.Object["status"] = encoded
	return changed, nil
}

// set changes a condition; its times change only if something else does.
func (s *standing) set(kind, value, reason, message string) {
	now := metav1.Now()
	next := condition{Type: kind, Status: value, Reason: reason, Message: message, LastTransitionTime: now, LastUpdateTime: now}
	for i, present := range s.Conditions {
		if present.Type != kind {
			continue
		}
		if present.Status == value {
			next.LastTransitionTime = present.LastTransitionTime
		}
		if present.Status != value || present.Reason != reason || present.Message != message {
			s.Conditions[i] = next
		}
		return
	}
	s.Conditions = append(s.Conditions, next)
}

// originText names the origin of an object.
func (m *Manager) originText(key types.NamespacedName) string {
	if m.options.Identity == "" {
		return key.String()
	}
	return m.options.Identity + ":" + key.String()
}

func (m *Manager) originOf(object client.Object) (types.NamespacedName, bool) {
	text := object.GetAnnotations()[annotationOrigin]
	if _, after, found := strings.Cut(text, ":"); found {
		text = after
	}
	namespace, name, found := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, found && namespace == m.options.Namespace
}

// description warns users who change an object.
const description = `DO NOT EDIT - This resource is managed by gardener-resource-manager.
Any modifications are discarded and the resource is returned to the original state.`

func isTrue(value *bool) bool { return value != nil && *value }

func wrap(reference reference, err error) error { return fmt.Errorf("%s: %w", reference, err) }
