package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/garden"
	"go.landscaper.dev/test/lab"
)

// waitsForOpen lets an item be ready when there is a ConfigMap "open", and lets it be deleted
// without uninstalling when its cluster no longer exists.
const waitsForOpen = `    readinessChecks: {custom: [{name: open, timeout: 2m, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: open, namespace: NAMESPACE}], requirements: [{jsonPath: .metadata.name, operator: exists}]}]}
  onDelete: {skipUninstallIfClusterRemoved: true}
`

// TestTargetOfShoot: an Installation uses a Target that a TargetSync has made; its job survives
// that the credentials expire and are renewed; the Target is deleted with the shoot, and the
// Installation can be deleted although its cluster no longer exists.
func TestTargetOfShoot(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	shoots, err := garden.Start(t.Context(), env.Resource)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shoots.Stop(); err != nil {
			t.Error(err)
		}
	})
	// The server asks for 24 hours, and renews after half of what it gets. Credentials that are not
	// renewed in time are not accepted any more, which ends a job.
	const granted = 24 * time.Second
	shoots.Limit(granted)
	shoot := shoots.NewShoot(space, "prod", env.Target)
	if err := shoots.AddShoot(t.Context(), shoot); err != nil {
		t.Fatal(err)
	}
	syncShoots(t, space)
	secret := waitSecret(t, space, "prod", "is made", func(*corev1.Secret) bool { return true })

	inst := newInstallation(space, "shop", oneConfigMap+waitsForOpen)
	inst.Spec.Imports.Targets[0].Target = "prod"
	create(t, inst)
	deployed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "shop"}}
	waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "waits for its ConfigMap", func(item *v1alpha1.DeployItem) bool {
		return item.Status.ProviderStatus != nil && item.Annotations[v1alpha1.ClusterNameAnnotation] == "prod"
	})
	ends, err := time.Parse(time.RFC3339, secret.Annotations[v1alpha1.KubeconfigExpirationAnnotation])
	if err != nil {
		t.Fatal(err)
	}
	waitSecret(t, space, "prod", "has later credentials, when the first ones have ended", func(now *corev1.Secret) bool {
		issued, err := time.Parse(time.RFC3339, now.Annotations[v1alpha1.KubeconfigIssuedAnnotation])
		return err == nil && issued.After(ends)
	})
	// The ConfigMap does not belong to the item: with other credentials, the item writes its own
	// objects once more.
	if err := env.Workload.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "open"}}); err != nil {
		t.Fatal(err)
	}
	waitSucceeded(t, inst)

	t.Run("the Target is deleted with the shoot", func(t *testing.T) {
		if err := shoots.Delete(t.Context(), shoot); err != nil {
			t.Fatal(err)
		}
		target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "prod"}}
		waitGone(t, env.Admin, target, &v1alpha1.TargetList{})
		waitGone(t, env.Admin, secret.DeepCopy(), &corev1.SecretList{})
	})
	t.Run("the Installation can be deleted although its cluster no longer exists", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil {
			t.Errorf("something was uninstalled: %v", err)
		}
	})
}

// syncShoots makes a TargetSync for the shoots in a namespace of the garden that the
// resource cluster is.
func syncShoots(t *testing.T, space string) {
	t.Helper()
	rules := `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: shoots, namespace: SPACE}, rules: [{apiGroups: [core.gardener.cloud], resources: [shoots], verbs: [get, list]}, {apiGroups: [core.gardener.cloud], resources: [shoots/adminkubeconfig], verbs: [create]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: shoots, namespace: SPACE}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: shoots}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: robot-SPACE}]}
`
	file := t.TempDir() + "/rules.yaml"
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(rules, "SPACE", space)), 0o600); err != nil {
		t.Fatal(err)
	}
	robot, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: "robot-" + space, ManifestFile: file})
	if err != nil {
		t.Fatal(err)
	}
	access, err := os.ReadFile(robot.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "garden-access"}, Data: map[string][]byte{"kubeconfig": access}},
		&v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "fleet"}, Spec: v1alpha1.TargetSyncSpec{
			SourceNamespace: space, ShootNameExpression: "*", SecretRef: v1alpha1.LocalSecretReference{Name: "garden-access", Key: "kubeconfig"},
		}},
	} {
		if err := env.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// waitSecret watches a Secret until a condition holds and returns it.
func waitSecret(t *testing.T, space, name, what string, condition func(*corev1.Secret) bool) *corev1.Secret {
	t.Helper()
	events, err := env.Admin.Watch(t.Context(), &corev1.SecretList{}, client.InNamespace(space), client.MatchingFields{"metadata.name": name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	ended := time.AfterFunc(waitLimit, events.Stop)
	defer ended.Stop()
	for event := range events.ResultChan() {
		if secret, ok := event.Object.(*corev1.Secret); ok && condition(secret) {
			return secret
		}
	}
	syncs := &v1alpha1.TargetSyncList{}
	err = env.Admin.List(t.Context(), syncs, client.InNamespace(space))
	text, _ := json.Marshal(syncs.Items)
	t.Fatalf("Secret %s is not %s (%v): %s", name, what, err, text)
	return nil
}
