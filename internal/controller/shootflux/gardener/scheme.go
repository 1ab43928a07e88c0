package gardener

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The groups of the kinds.
var (
	ExtensionsVersion = schema.GroupVersion{Group: "extensions.gardener.cloud", Version: "v1alpha1"}
	ResourcesVersion  = schema.GroupVersion{Group: "resources.gardener.cloud", Version: "v1alpha1"}
)

// AddToScheme adds the kinds of a seed.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(ExtensionsVersion, &Extension{}, &ExtensionList{}, &Cluster{}, &ClusterList{})
	scheme.AddKnownTypes(ResourcesVersion, &ManagedResource{}, &ManagedResourceList{})
	metav1.AddToGroupVersion(scheme, ExtensionsVersion)
	metav1.AddToGroupVersion(scheme, ResourcesVersion)
	return nil
}
