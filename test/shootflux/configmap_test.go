package shootflux

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/gardener"
)

// deployed waits until a ConfigMap of a repository is in the shoot.
func deployed(t *testing.T, namespace, name string) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetNamespace(namespace)
	object.SetName(name)
	must(t, gardener.Wait(limited(t), world.InShoot, object, func(*unstructured.Unstructured) (bool, error) { return true, nil }))
}

func TestProjectConfigMapDeploysARepositoryAndLeavesNothing(t *testing.T) {
	address := repository(t, "public", "from-project")
	shoot := newShoot(t, "lab", "bench")
	configure(t, shoot, map[string]string{"repositoryUrl": address, "repositoryBranch": "main", "repositoryType": "public", "repositoryPath": path})
	extension(t)
	must(t, shoot.Enable(limited(t), nil))
	ready(t, shoot)
	deployed(t, "default", "from-project")

	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	for _, left := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "from-project"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}},
	} {
		if err := world.InShoot.Get(limited(t), client.ObjectKeyFromObject(left), left); !apierrors.IsNotFound(err) {
			t.Errorf("%s is left in the shoot (%v)", left.GetName(), err)
		}
	}
	// The key to everything: nothing of ours is left on the seed.
	secrets := &corev1.SecretList{}
	must(t, world.OnSeed.List(limited(t), secrets, client.InNamespace(shoot.Namespace()), client.MatchingLabels{"app.kubernetes.io/managed-by": "gardener-extension-shoot-flux"}))
	if len(secrets.Items) > 0 {
		t.Errorf("%d Secrets are left on the seed", len(secrets.Items))
	}
}
