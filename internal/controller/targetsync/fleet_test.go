package targetsync

import (
	"encoding/base64"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
)

var now = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// fleet is the TargetSync of the tests: all shoots of a project.
func fleet() *v1alpha1.TargetSync {
	sync := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "fleet", Generation: 1}}
	sync.Spec.SourceNamespace, sync.Spec.ShootNameExpression = "garden-blue", "*"
	sync.Spec.SecretRef = v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}
	return sync
}

// sourceSecret is a Secret of a source with a good kubeconfig and another value.
func sourceSecret(value string) *unstructured.Unstructured {
	const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}]}`
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "eu", "uid": "uid-eu"}, "data": map[string]any{"kubeconfig": encode(kubeconfig), "note": encode(value)},
	}}
}
