package targetsync

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
