package deployer_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/test/landscape"
)

// TestTargetForms deploys through each form in which a Target can hold a
// kubeconfig.
func TestTargetForms(t *testing.T) {
	namespace := namespaces(t)
	var object map[string]any
	if err := yaml.Unmarshal(access, &object); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(access))
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"},
		Data:       map[string][]byte{"bare": access, "kubeconfig": access, "whole": []byte("kubeconfig: " + string(quoted))},
	}
	only := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "only"}, Data: map[string][]byte{"kubeconfig": asJSON}}
	for _, object := range []client.Object{secret, only} {
		if err := items.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	inline := func(content string) v1alpha1.TargetSpec {
		return v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte(content))}
	}
	reference := func(name, key string) v1alpha1.TargetSpec {
		return v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: name, Key: key}}
	}
	tests := []struct {
		name, reason string
		spec         v1alpha1.TargetSpec
		err          string
	}{
		{"object", "a kubeconfig that is written as an object", inline(`{"kubeconfig":` + string(asJSON) + `}`), ""},
		{"bare", "a kubeconfig without anything around it", inline(string(asJSON)), ""},
		{"secretbare", "a key of a Secret that holds a kubeconfig", reference("access", "bare"), ""},
		{"secretwhole", "a key of a Secret that holds a target", reference("access", "whole"), ""},
		{"secretall", "a whole Secret", reference("only", ""), ""},
		{"nested", "the Secret of a kubeconfig, as old releases wrote it", inline(`{"kubeconfig":{"secretRef":{"name":"access"}}}`), ""},
		{"foreign", "the Secret of another namespace", inline(`{"kubeconfig":{"secretRef":{"name":"access","namespace":"kube-system"}}}`), "must be the namespace of the Target"},
		{"empty", "nothing", v1alpha1.TargetSpec{}, "neither spec.config nor spec.secretRef"},
	}
	for _, test := range tests {
		test.spec.Type = v1alpha1.KubernetesClusterTargetType
		made := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: test.name}, Spec: test.spec}
		if err := items.Create(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		item := newItem(t, namespace, test.name, strings.ReplaceAll(oneConfigMap, "smallest", test.name))
		item.Spec.Target.Name = test.name
		create(t, item)
		if test.err == "" {
			awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			continue
		}
		last := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed).Status.LastError
		if !hasCode(last, v1alpha1.ErrorConfigurationProblem) || !strings.Contains(last.Message, test.err) {
			t.Errorf("%s: %+v", test.reason, last)
		}
	}
	before := mark(t, resource)
	again := newItem(t, namespace, "again", strings.ReplaceAll(oneConfigMap, "smallest", "again"))
	again.Spec.Target.Name = "secretbare"
	create(t, again)
	awaitEnd(t, again, v1alpha1.DeployItemPhases.Succeeded)
	for request, number := range count(t, resource, namespace, before) {
		if strings.HasSuffix(request, " secrets") {
			t.Errorf("a Secret that was read before: %s %d times", request, number)
		}
	}
}

// TestSelfTarget deploys to the resource cluster itself, with the rights of a
// ServiceAccount.
func TestSelfTarget(t *testing.T) {
	namespace := namespaces(t)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "writer"}
	self := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cluster"},
		Spec: v1alpha1.TargetSpec{
			Type:          v1alpha1.KubernetesClusterTargetType,
			Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"selfConfig":{"serviceAccount":{"name":"writer"}}}`)),
		},
	}
	for _, object := range []client.Object{
		self,
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}}},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "writer"}, Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "writer", Namespace: namespace}}},
	} {
		if err := items.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	failing := awaitItem(t, item, "the error", func(item *v1alpha1.DeployItem) bool { return item.Status.LastError != nil })
	if message := failing.Status.LastError.Message; !strings.Contains(message, "request a token of ServiceAccount "+namespace+"/writer") {
		t.Errorf("message %s", message)
	}
	if err := items.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if err := items.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "smallest"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
	second := newItem(t, namespace, "second", strings.ReplaceAll(oneConfigMap, "smallest", "second"))
	before := mark(t, resource)
	create(t, second)
	awaitEnd(t, second, v1alpha1.DeployItemPhases.Succeeded)
	if got := count(t, resource, namespace, before); got["create serviceaccounts/token"] != 0 {
		t.Errorf("a token that is still good is requested again: %v", got)
	}
}

// TestServiceAccountIsMissing shows that the objects of an item are not taken for deleted when the
// ServiceAccount of its Target is missing: the deletion says what it needs, and continues with it.
func TestServiceAccountIsMissing(t *testing.T) {
	namespace := namespaces(t)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "writer"}
	subject := func(name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: "ServiceAccount", Name: name, Namespace: namespace}
	}
	self := func(account string) *v1alpha1.AnyJSON {
		return v1alpha1.NewAnyJSONPointer([]byte(`{"selfConfig":{"serviceAccount":{"name":"` + account + `"}}}`))
	}
	access := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cluster"},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: self("writer")},
	}
	for _, object := range []client.Object{
		access,
		&corev1.ServiceAccount{ObjectMeta: meta},
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}}}},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "writer"}, Subjects: []rbacv1.Subject{subject("writer"), subject("other")}},
	} {
		if err := items.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	// Tokens of an account that was deleted are good for a while, so it is another one.
	access.Spec.Configuration = self("other")
	if err := items.Update(t.Context(), access); err != nil {
		t.Fatal(err)
	}
	awaitTarget(t, namespace, "create ServiceAccount "+namespace+"/other")
	remove(t, item)
	awaitItem(t, item, "what the deletion needs", func(item *v1alpha1.DeployItem) bool {
		return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, "create ServiceAccount "+namespace+"/other")
	})
	left := configMap(namespace, "smallest")
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(left), left); err != nil {
		t.Fatal(err)
	}
	if err := items.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other"}}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	awaitGone(t, items, &corev1.ConfigMapList{}, left)
}

// TestOIDCTarget requests a token of a ServiceAccount for the audience of the target
// cluster, and sends it only if the resource cluster would not accept it itself. The
// target cluster trusts the issuer.
func TestOIDCTarget(t *testing.T) {
	tests := []struct {
		reason   string
		audience []string
		code     v1alpha1.ErrorCode
		want     string
	}{
		{"without an audience the token would open the resource cluster", nil, v1alpha1.ErrorConfigurationProblem, "oidcConfig.audience is missing"},
		{"a token with the audience of the resource cluster would open the resource cluster", []string{"https://kubernetes.default.svc.cluster.local"}, v1alpha1.ErrorConfigurationProblem, "it is not sent to another one"},
		{"a token with the address of the resource cluster, its issuer, would open the resource cluster", []string{"target", resource.Server}, v1alpha1.ErrorConfigurationProblem, "it is not sent to another one"},
		{"a token with the audience of a third cluster is sent, and not accepted", []string{"edge"}, v1alpha1.ErrorUnauthorized, "it does not accept the credentials (401)"},
		{"a token with the audience of the target cluster opens the target cluster", []string{"target"}, "", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			namespace := namespaces(t)
			oidc, err := landscape.OIDCTarget(namespace, "cluster", resource, target, test.audience...)
			if err != nil {
				t.Fatal(err)
			}
			for cluster, objects := range map[client.Client][]client.Object{items: {oidc.Target, oidc.ServiceAccount}, deployed: {oidc.Rights}} {
				for _, object := range objects {
					if err := cluster.Create(t.Context(), object); err != nil {
						t.Fatal(err)
					}
				}
			}
			before, begun := mark(t, resource), time.Now()
			item := newItem(t, namespace, "item", oneConfigMap)
			create(t, item)
			if test.want == "" {
				ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
				remove(t, ended)
				awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
			} else if last := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed).Status.LastError; !hasCode(last, test.code) || !strings.Contains(last.Message, test.want) {
				t.Errorf("last error %+v", last)
			}
			want := 1
			if test.audience == nil {
				want = 0
			}
			// A request whose answer does not come in time is made again: an API server that
			// stalls gets one more for each time limit that has passed.
			got, passed := count(t, resource, namespace, before)["create serviceaccounts/token"], time.Since(begun)
			if got < want || got > want*(1+int(passed/answerlimit.RequestTimeout)) {
				t.Errorf("%d tokens were requested in %s, want %d", got, passed, want)
			}
		})
	}
}

// TestDeletionWithoutCluster ends a deletion when its time is over and the cluster
// does not answer; without uninstalling it can be finished.
func TestDeletionWithoutCluster(t *testing.T) {
	namespace := namespaces(t)
	made := createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	content, err := json.Marshal(map[string]any{"kubeconfig": string(altered(t, func(kubeconfig map[string]any) { ofCluster(kubeconfig)["server"] = "https://127.0.0.1:1" }))})
	if err != nil {
		t.Fatal(err)
	}
	made.Spec.Configuration = v1alpha1.NewAnyJSONPointer(content)
	if err := items.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	awaitTarget(t, namespace, "connection refused")
	if err := items.Delete(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	ended = awaitLimit(t, ended, func(item *v1alpha1.DeployItem) bool {
		return strings.Contains(item.Status.LastError.Message, "connection refused")
	})
	if last := ended.Status.LastError; ended.Status.Phase != v1alpha1.DeployItemPhases.DeleteFailed || !hasCode(last, v1alpha1.ErrorTimeout) || !strings.Contains(last.Message, "connection refused") {
		t.Errorf("last error %+v", last)
	}
	ended.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
	if err := items.Update(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	handOver(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
}
