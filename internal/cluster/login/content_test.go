package login

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
)

func TestParseContent(t *testing.T) {
	const bare = `{"apiVersion":"v1","kind":"Config"}`
	text := func(s string) *string { return &s }
	seconds := int64(600)
	tests := []struct {
		reason, content string
		want            v1alpha1.KubernetesClusterTargetConfig
	}{
		{"a kubeconfig as text", `kubeconfig: "K"`, v1alpha1.KubernetesClusterTargetConfig{Kubeconfig: v1alpha1.ValueRef{StrVal: text("K")}}},
		{"a kubeconfig as object", `{"kubeconfig":` + bare + `}`, v1alpha1.KubernetesClusterTargetConfig{Kubeconfig: v1alpha1.ValueRef{StrVal: text(bare)}}},
		{"a bare kubeconfig, as a Secret key holds it", bare, v1alpha1.KubernetesClusterTargetConfig{Kubeconfig: v1alpha1.ValueRef{StrVal: text(bare)}}},
		{"old releases referred to a Secret", `kubeconfig: {secretRef: {name: s, namespace: ns}}`, v1alpha1.KubernetesClusterTargetConfig{Kubeconfig: v1alpha1.ValueRef{SecretRef: &v1alpha1.SecretReference{ObjectReference: v1alpha1.ObjectReference{Name: "s", Namespace: "ns"}, Key: "kubeconfig"}}}},
		{"tokens of another cluster", `{"kubeconfig":null,"oidcConfig":{"server":"https://api.edge.example.org","caData":"Q0E=","serviceAccount":{"name":"edge-deployer"},"audience":["edge-oidc-client"]}}`,
			v1alpha1.KubernetesClusterTargetConfig{OIDCConfig: &v1alpha1.OIDCConfig{Server: "https://api.edge.example.org", CAData: []byte("CA"), ServiceAccount: v1alpha1.LocalObjectName{Name: "edge-deployer"}, Audience: []string{"edge-oidc-client"}}}},
		{"the resource cluster", `selfConfig: {serviceAccount: {name: in-cluster-deployer}, expirationSeconds: 600}`,
			v1alpha1.KubernetesClusterTargetConfig{SelfConfig: &v1alpha1.SelfConfig{ServiceAccount: v1alpha1.LocalObjectName{Name: "in-cluster-deployer"}, ExpirationSeconds: &seconds}}},
		{"nothing", ``, v1alpha1.KubernetesClusterTargetConfig{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := ParseContent([]byte(test.content))
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, content := range []string{"kubeconfig: 'secret-token", "oidcConfig: secret-token", "oidcConfig: {caData: [secret-token]}"} {
		if _, err := ParseContent([]byte(content)); err == nil || strings.Contains(err.Error(), "secret-token") {
			t.Errorf("content %q: want an error without the content, got %v", content, err)
		}
	}
}
