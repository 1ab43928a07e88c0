package loss

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/apply"
)

// TokenAccount returns the name of the ServiceAccount whose token a Secret holds or is to
// hold; nothing if the object is no such Secret.
func TokenAccount(object *unstructured.Unstructured) string {
	kind, _, _ := unstructured.NestedString(object.Object, "type")
	if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) || kind != string(corev1.SecretTypeServiceAccountToken) {
		return ""
	}
	return object.GetAnnotations()[corev1.ServiceAccountNameKey]
}

// pruners are programs that delete objects with a label that they do not know, by that label.
var pruners = []struct{ label, who string }{
	{"kustomize.toolkit.fluxcd.io/name", "Flux deletes what its Kustomization %s does not list"},
	{"helm.toolkit.fluxcd.io/name", "Flux deletes what its HelmRelease %s does not have"},
	{"argocd.argoproj.io/instance", "Argo CD deletes what its Application %s does not list"},
	{"resources.gardener.cloud/managed-by", "%s deletes what its ManagedResource does not list"},
}

// Deleter says who may delete an object whenever it exists. No API server says who has deleted an
// object, but some are known for it.
func Deleter(object *unstructured.Unstructured) string {
	if account := TokenAccount(object); account != "" {
		return fmt.Sprintf("kube-controller-manager deletes it as long as ServiceAccount %s/%s does not exist, or was created again", object.GetNamespace(), account)
	}
	if owners := object.GetOwnerReferences(); len(owners) > 0 {
		return fmt.Sprintf("the garbage collector deletes it if its owner %s with UID %s does not exist",
			apply.Describe(owners[0].Kind, "", owners[0].Name), owners[0].UID)
	}
	for _, pruner := range pruners {
		if name := object.GetLabels()[pruner.label]; name != "" {
			return fmt.Sprintf(pruner.who, name)
		}
	}
	return "the audit log of its cluster says by whom"
}
