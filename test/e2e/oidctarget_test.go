package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// TestOIDCTarget deploys to a cluster that trusts the ServiceAccounts of the resource
// cluster, with a token that is requested for it, and removes what it has deployed. No
// kubeconfig is anywhere, and the server has the rights of a chart whose user has allowed
// tokens in the namespace.
func TestOIDCTarget(t *testing.T) {
	space := namespace(t)
	const name = serverUser + "-tokens"
	rules, err := landscape.WriteRules(env.Lab.Directory, name, map[string]any{"serviceAccountTokens": map[string]any{"namespaces": []any{space}}})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, user.Kubeconfig)
	oidc, err := landscape.OIDCTarget(space, "writer", env.Resource, env.Target, "target")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{oidc.Target, oidc.ServiceAccount} {
		if err := env.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := env.Workload.Create(t.Context(), oidc.Rights); err != nil {
		t.Fatal(err)
	}
	inst := newInstallation(space, "trusted", oneConfigMap)
	inst.Spec.Imports.Targets[0].Target = oidc.Target.Name
	waitSucceeded(t, create(t, inst))
	deployed := &corev1.ConfigMap{}
	deployed.Namespace, deployed.Name = space, "trusted"
	if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil {
		t.Errorf("the ConfigMap is not deployed: %v", err)
	}
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	waitGone(t, env.Workload, deployed, &corev1.ConfigMapList{})
}
