package apiserver

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Kind is a kind that a server knows, in one version.
type Kind struct {
	schema.GroupVersionKind
	// Resource is its name in paths.
	Resource string
	// Namespaced says that its objects are in namespaces.
	Namespaced bool
	// Status says that the status is a subresource.
	Status bool
	// Schema has the defaults and the required fields; nil without a CustomResourceDefinition.
	Schema *apiextensionsv1.JSONSchemaProps
}

func (k *Kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// global are the kinds of Kubernetes whose objects are in no namespace.
var global = []string{
	"APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "CSIDriver", "CSINode", "CustomResourceDefinition",
	"DeviceClass", "FlowSchema", "IngressClass", "IPAddress", "MutatingWebhookConfiguration", "Namespace", "Node", "PersistentVolume",
	"PriorityClass", "PriorityLevelConfiguration", "ResourceSlice", "RuntimeClass", "SelfSubjectAccessReview", "SelfSubjectReview",
	"SelfSubjectRulesReview", "ServiceCIDR", "StorageClass", "SubjectAccessReview", "TokenReview", "ValidatingAdmissionPolicy",
	"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "VolumeAttachment", "VolumeAttributesClass",
}

// subresources are kinds that have no paths of their own.
var subresources = []string{"Binding", "Eviction", "Scale", "TokenRequest", "PodStatusResult", "RangeAllocation", "SerializedReference", "NodeMetrics", "PodMetrics"}

// builtin returns the kinds of Kubernetes in their stable versions. They are the same for all servers.
var builtin = sync.OnceValue(func() []*Kind {
	kinds := []*Kind{
		{GroupVersionKind: apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), Resource: "customresourcedefinitions", Status: true},
		{GroupVersionKind: schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, Resource: "apiservices", Status: true},
	}
	for gvk, typ := range clientgoscheme.Scheme.AllKnownTypes() {
		metadata, hasMetadata := typ.FieldByName("ObjectMeta")
		if !hasMetadata || metadata.Type != reflect.TypeFor[metav1.ObjectMeta]() || !isStable(gvk.Version) || slices.Contains(subresources, gvk.Kind) {
			continue
		}
		_, hasStatus := typ.FieldByName("Status")
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		kinds = append(kinds, &Kind{GroupVersionKind: gvk, Resource: plural.Resource, Namespaced: !slices.Contains(global, gvk.Kind), Status: hasStatus})
	}
	return kinds
})

// IsGlobal reports whether the objects of a kind of Kubernetes are in no namespace.
func IsGlobal(kind string) bool { return slices.Contains(global, kind) }

func isStable(version string) bool {
	return version != "__internal" && !strings.Contains(version, "alpha") && !strings.Contains(version, "beta")
}

// DefinedKinds returns the served kinds of a CustomResourceDefinition.
func DefinedKinds(definition *apiextensionsv1.CustomResourceDefinition) []*Kind {
	var kinds []*Kind
	for i := range definition.Spec.Versions {
		version := &definition.Spec.Versions[i]
		if !version.Served {
			continue
		}
		kind := &Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.Kind},
			Resource:         definition.Spec.Names.Plural, Namespaced: definition.Spec.Scope != apiextensionsv1.ClusterScoped,
			Status: version.Subresources != nil && version.Subresources.Status != nil,
		}
		if version.Schema != nil {
			kind.Schema = version.Schema.OpenAPIV3Schema
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// checkDefinition returns what is wrong with a CustomResourceDefinition that could not be served.
func checkDefinition(definition *apiextensionsv1.CustomResourceDefinition) error {
	spec := definition.Spec
	switch {
	case spec.Group == "" || spec.Names.Plural == "" || spec.Names.Kind == "":
		return fmt.Errorf("spec.group, spec.names.plural and spec.names.kind are required")
	case definition.Name != spec.Names.Plural+"."+spec.Group:
		return fmt.Errorf("metadata.name must be spec.names.plural+\".\"+spec.group: %s", spec.Names.Plural+"."+spec.Group)
	case len(spec.Versions) == 0:
		return fmt.Errorf("spec.versions is required")
	}
	return nil
}

// registry are the kinds of a server. The mutex of the server guards it.
type registry struct {
	byPath map[schema.GroupVersionResource]*Kind
	byName map[schema.GroupVersionKind]*Kind
}

func newRegistry() *registry {
	r := &registry{byPath: map[schema.GroupVersionResource]*Kind{}, byName: map[schema.GroupVersionKind]*Kind{}}
	for _, kind := range builtin() {
		r.add(kind)
	}
	return r
}

func (r *registry) add(kind *Kind) {
	r.byPath[kind.GroupVersion().WithResource(kind.Resource)], r.byName[kind.GroupVersionKind] = kind, kind
}

func (r *registry) remove(kind *Kind) {
	delete(r.byPath, kind.GroupVersion().WithResource(kind.Resource))
	delete(r.byName, kind.GroupVersionKind)
}

// of returns the kind of a group, version and name; nil for an unknown one.
func (r *registry) of(gvk schema.GroupVersionKind) *Kind { return r.byName[gvk] }

// sorted returns the kinds in the order in which discovery lists them: groups by name, and in each the
// preferred version first.
func (r *registry) sorted() []*Kind {
	kinds := make([]*Kind, 0, len(r.byPath))
	for _, kind := range r.byPath {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), -version.CompareKubeAwareVersionStrings(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
	})
	return kinds
}

// NewKind returns a kind of which nothing else is known: with namespaces and a status. Without the name of
// the resource, it is the usual plural.
func NewKind(gvk schema.GroupVersionKind, resource string) *Kind {
	if resource == "" {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		resource = plural.Resource
	}
	return &Kind{GroupVersionKind: gvk, Resource: resource, Namespaced: true, Status: true}
}
