package deployer_test

import (
	"encoding/base64"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

const (
	// tokenSecret is a Secret for the token of ServiceAccount ROBOT.
	tokenSecret  = `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: ROBOT, namespace: NAMESPACE, annotations: {kubernetes.io/service-account.name: ROBOT}}}`
	tokenExports = "exports: {exports: [{key: token, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: Secret, name: ROBOT, namespace: NAMESPACE}}]}\n"
)

// TestLostExport exports a token from a Secret that kube-controller-manager deletes whenever
// it exists, because the ServiceAccount does not: the status says so, the Secret is applied
// again at a pace that slows down, and once the ServiceAccount is there the job ends.
func TestLostExport(t *testing.T) {
	t.Parallel()
	chart := func(robot string) map[string]string {
		return map[string]string{"templates/token.yaml": strings.NewReplacer("NAMESPACE", "{{ .Release.Namespace }}", "ROBOT", robot).Replace(tokenSecret)}
	}
	rows := []struct {
		robot, config string
		of            v1alpha1.DeployItemType
	}{
		{"manifest", "apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2\nkind: ProviderConfiguration\nmanifests: [{policy: manage, manifest: " + tokenSecret + "}]\n", v1alpha1.ManifestDeployItemType},
		{"kustomize", kustomizeHead + "source: {files: {kustomization.yaml: 'resources: [a.yaml]', a.yaml: '" + tokenSecret + "'}}\n", v1alpha1.KustomizeDeployItemType},
		{"release", helmConfig(t, chart("release"), ""), v1alpha1.HelmDeployItemType},
		{"templates", strings.Replace(helmConfig(t, chart("templates"), "helmDeployment: false\n"), "name: notes", "name: others", 1), v1alpha1.HelmDeployItemType},
	}
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	before := mark(t, target)
	for _, row := range rows {
		item := newItem(t, namespace, row.robot, strings.ReplaceAll(row.config+tokenExports, "ROBOT", row.robot))
		item.Spec.Type = row.of
		create(t, item)
		awaitText(t, item, "kube-controller-manager deletes it as long as ServiceAccount "+namespace+"/"+row.robot+" does not exist, or was created again) and is applied again at ")
		account := &corev1.ServiceAccount{ObjectMeta: configMap(namespace, row.robot).ObjectMeta}
		if err := deployed.Create(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		secret := &corev1.Secret{}
		if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(account), secret); err != nil {
			t.Fatal(err)
		}
		_, values := exported(t, ended)
		if token := secret.Data["token"]; len(token) == 0 || values["token"] != base64.StdEncoding.EncodeToString(token) {
			t.Errorf("%s: the exported token is not that of the Secret", row.robot)
		}
		if uid := secret.Annotations[corev1.ServiceAccountUIDKey]; uid != string(account.UID) {
			t.Errorf("%s: the token is of ServiceAccount %s, not %s", row.robot, uid, account.UID)
		}
	}
	// Each is created at once, at once again, and after pauses that grow.
	if got := count(t, target, namespace, before)["create secrets"]; got > 10*len(rows) {
		t.Errorf("%d requests to create Secrets", got)
	}
}
