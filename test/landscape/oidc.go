package landscape

import (
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// OIDC is a Target with oidcConfig, and what it needs on both clusters.
type OIDC struct {
	// Target and ServiceAccount, of the same name, belong to the resource cluster.
	Target         *v1alpha1.Target
	ServiceAccount *corev1.ServiceAccount
	// Rights let the ServiceAccount edit the namespace of this name on the target
	// cluster.
	Rights client.Object
}

// OIDCTarget returns a Target for another cluster of a lab, which trusts the
// ServiceAccounts of the issuer.
func OIDCTarget(namespace, name string, issuer, at *lab.Cluster, audience ...string) (OIDC, error) {
	authority, err := os.ReadFile(at.CAFile)
	if err != nil {
		return OIDC{}, err
	}
	config, err := json.Marshal(map[string]any{"oidcConfig": map[string]any{
		"server": at.Server, "caData": authority, "audience": audience,
		"serviceAccount": map[string]any{"name": name}, "expirationSeconds": 3600,
	}})
	if err != nil {
		return OIDC{}, fmt.Errorf("encode the Target: %w", err)
	}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	return OIDC{
		Target: &v1alpha1.Target{
			ObjectMeta: meta,
			Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(config)},
		},
		ServiceAccount: &corev1.ServiceAccount{ObjectMeta: meta},
		Rights: &rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
			Subjects: []rbacv1.Subject{{
				APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind,
				Name: fmt.Sprintf("%s:system:serviceaccount:%s:%s", issuer.Name, namespace, name),
			}},
		},
	}, nil
}
