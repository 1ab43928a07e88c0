package acceptance

import (
	"context"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/lab/internal/report"
)

func whoAmI(t *testing.T, client kubernetes.Interface) authenticationv1.UserInfo {
	t.Helper()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo
}

func TestAdministratorReachesEveryCluster(t *testing.T) {
	for name, cluster := range shared.Clusters {
		for kind, kubeconfig := range map[string]string{"token": cluster.Kubeconfig, "certificate": cluster.CertKubeconfig} {
			t.Run(name+" with "+kind, func(t *testing.T) {
				config := restConfig(t, kubeconfig)
				if hasToken := config.BearerToken != ""; hasToken != (kind == "token") {
					t.Errorf("the kubeconfig has a token: %t", hasToken)
				}
				client := clientsetFor(t, config)
				if who := whoAmI(t, client); who.Username != "admin" || !slices.Contains(who.Groups, "system:masters") {
					t.Errorf("the API server takes us for %+v", who)
				}
				version, err := client.Discovery().ServerVersion()
				if err != nil || version.GitVersion != "v1.37.2" {
					t.Errorf("server version %v, %v", version, err)
				}
			})
		}
	}
}

func TestKubeconfigCommandPrintsPathAndContent(t *testing.T) {
	path := strings.TrimSpace(shared.do(t, "kubeconfig", "plain"))
	if path != shared.Clusters["plain"].Kubeconfig {
		t.Errorf("path %s, want that of up: %s", path, shared.Clusters["plain"].Kubeconfig)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if printed := shared.do(t, "kubeconfig", "plain", "--content"); printed != string(content) {
		t.Errorf("--content does not print the file")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig has mode %v (%v), want it readable by the owner only", info.Mode(), err)
	}
}

func TestCredentialsOfOneClusterAreWorthNothingInAnother(t *testing.T) {
	for _, kubeconfig := range []string{shared.Clusters["plain"].Kubeconfig, shared.Clusters["plain"].CertKubeconfig} {
		config := restConfig(t, kubeconfig)
		config.Host = shared.Clusters["nodes"].Server
		_, err := clientsetFor(t, config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if unknown := (x509.UnknownAuthorityError{}); !errors.As(err, &unknown) {
			t.Errorf("the other API server was believed to be ours: %v", err)
		}
		if config.CAData, err = os.ReadFile(shared.Clusters["nodes"].CAFile); err != nil {
			t.Fatal(err)
		}
		_, err = clientsetFor(t, config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsUnauthorized(err) && !isTLSRefusal(err) {
			t.Errorf("foreign credentials were not refused: %v", err)
		}
	}
}

// isTLSRefusal reports that the server refused the client's certificate.
func isTLSRefusal(err error) bool {
	return err != nil && strings.Contains(err.Error(), "remote error: tls")
}

func TestAnonymousMayOnlySeeHealthAndVersion(t *testing.T) {
	config := rest.AnonymousClientConfig(restConfig(t, shared.Clusters["plain"].Kubeconfig))
	client := clientsetFor(t, config)
	if _, err := client.Discovery().ServerVersion(); err != nil {
		t.Errorf("version: %v", err)
	}
	if _, err := client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("anonymous list of Secrets: %v, want forbidden", err)
	}
}

const customRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: only-configmaps}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: only-configmaps}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: only-configmaps}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: configmap-readers}]
`

func TestAddedUsersHaveTheGivenRightsAndNoMore(t *testing.T) {
	admin := clientset(t, shared.Clusters["plain"].Kubeconfig)
	own, other := newNamespace(t, admin), newNamespace(t, admin)
	rights := filepath.Join(t.TempDir(), "rights.yaml")
	if err := os.WriteFile(rights, []byte(customRights), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		user   string
		args   []string
		may    func(context.Context, kubernetes.Interface) error
		mayNot func(context.Context, kubernetes.Interface) error
		reason string
	}{
		{
			user: "viewer", args: []string{"--cluster-role", "view"},
			may: listPods(own), mayNot: createConfigMap(own),
			reason: "a ClusterRole holds in all namespaces; view is aggregated, so the aggregation controller ran",
		},
		{
			user: "editor", args: []string{"--cluster-role", "edit", "--namespace", own, "--cert"},
			may: createConfigMap(own), mayNot: createConfigMap(other),
			reason: "a ClusterRole bound in a namespace holds there only, also for a certificate",
		},
		{
			user: "custom", args: []string{"--rbac", rights, "--group", "configmap-readers"},
			may: listConfigMaps(own), mayNot: listPods(own),
			reason: "roles and bindings from a file are applied, and the user has its group",
		},
		{
			user: "powerless", args: nil,
			may: func(_ context.Context, client kubernetes.Interface) error { _ = whoAmI(t, client); return nil }, mayNot: listPods(own),
			reason: "without roles there are only everybody's rights",
		},
	} {
		t.Run(row.user, func(t *testing.T) {
			var user report.User
			shared.doJSON(t, &user, append([]string{"user", row.user, "--cluster", "plain"}, row.args...)...)
			client := clientset(t, user.Kubeconfig)
			if who := whoAmI(t, client); who.Username != row.user {
				t.Errorf("user %s, want %s", who.Username, row.user)
			}
			if err := row.may(t.Context(), client); err != nil {
				t.Errorf("%s: not allowed: %v", row.reason, err)
			}
			if err := row.mayNot(t.Context(), client); !apierrors.IsForbidden(err) {
				t.Errorf("%s: %v, want forbidden", row.reason, err)
			}
		})
	}
}

func listPods(namespace string) func(context.Context, kubernetes.Interface) error {
	return func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return err
	}
}

func listConfigMaps(namespace string) func(context.Context, kubernetes.Interface) error {
	return func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		return err
	}
}

func createConfigMap(namespace string) func(context.Context, kubernetes.Interface) error {
	return func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx,
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
		return err
	}
}

func TestRemovedUserIsRefused(t *testing.T) {
	var user report.User
	shared.doJSON(t, &user, "user", "leaver", "--cluster", "plain", "--cluster-role", "view")
	// The API server remembers tokens that it has seen, so this one is not shown
	// before it is removed.
	shared.do(t, "user", "leaver", "--cluster", "plain", "--remove")
	if err := listPods("default")(t.Context(), clientset(t, user.Kubeconfig)); !apierrors.IsUnauthorized(err) {
		t.Errorf("list with a removed user's token: %v, want unauthorized", err)
	}
	if _, err := run(t.Context(), shared.Name, "user", "leaver", "--cluster", "plain", "--remove"); err == nil || !strings.Contains(err.Error(), "leaver") {
		t.Errorf("second removal: %v, want an error that names the user", err)
	}
}

func TestServiceAccountTokenWorksAndCarriesTheAuthority(t *testing.T) {
	cluster := shared.Clusters["plain"]
	admin := clientset(t, cluster.Kubeconfig)
	namespace := newNamespace(t, admin)
	if _, err := admin.CoreV1().ServiceAccounts(namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "robot", Annotations: map[string]string{corev1.ServiceAccountNameKey: "robot"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var secret *corev1.Secret
	await(t, admin.CoreV1().RESTClient(), "secrets", namespace, "robot", &corev1.Secret{}, func(s **corev1.Secret) bool {
		if s == nil || len((*s).Data[corev1.ServiceAccountTokenKey]) == 0 {
			return false
		}
		secret = *s
		return true
	})
	client := clientsetFor(t, &rest.Config{
		Host: cluster.Server, BearerToken: string(secret.Data[corev1.ServiceAccountTokenKey]),
		TLSClientConfig: rest.TLSClientConfig{CAData: secret.Data[corev1.ServiceAccountRootCAKey]},
	})
	if who := whoAmI(t, client); who.Username != "system:serviceaccount:"+namespace+":robot" {
		t.Errorf("the token is for %s", who.Username)
	}
	await(t, admin.CoreV1().RESTClient(), "configmaps", namespace, "kube-root-ca.crt", &corev1.ConfigMap{}, func(c **corev1.ConfigMap) bool {
		return c != nil && (*c).Data["ca.crt"] == string(secret.Data[corev1.ServiceAccountRootCAKey])
	})
}

func TestServiceAccountsOfTheIssuerAreTrusted(t *testing.T) {
	issuer := clientset(t, shared.Clusters["plain"].Kubeconfig)
	namespace := newNamespace(t, issuer)
	if _, err := issuer.CoreV1().ServiceAccounts(namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	at := shared.Clusters["nodes"]
	authority, err := os.ReadFile(at.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	// with returns a client for cluster nodes that has a token for an audience.
	with := func(audience string) kubernetes.Interface {
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
		issued, err := issuer.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "robot", request, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return clientsetFor(t, &rest.Config{Host: at.Server, BearerToken: issued.Status.Token, TLSClientConfig: rest.TLSClientConfig{CAData: authority}})
	}
	if who := whoAmI(t, with("nodes")); who.Username != "plain:system:serviceaccount:"+namespace+":robot" {
		t.Errorf("the token is for %s", who.Username)
	}
	if _, err := with("flux").CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token for another cluster: %v, want unauthorized", err)
	}
}

// TestEarlierKubernetes: a cluster behaves like the oldest version that the programs know, three
// versions before their own.
func TestEarlierKubernetes(t *testing.T) {
	l := upForTest(t, "--clusters", "earlier", "--kubernetes", "1.34")
	version, err := clientset(t, l.Clusters["earlier"].Kubeconfig).ServerVersion()
	if err != nil || version.EmulationMinor != "34" {
		t.Errorf("%+v, %v", version, err)
	}
}

func TestDependentsAreCollected(t *testing.T) {
	admin := clientset(t, shared.Clusters["plain"].Kubeconfig)
	maps := admin.CoreV1().ConfigMaps(newNamespace(t, admin))
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dependent", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, admin.CoreV1().RESTClient(), "configmaps", owner.Namespace, "dependent", &corev1.ConfigMap{}, gone)
}

func TestNamespaceDeletionEnds(t *testing.T) {
	t.Parallel() // the namespace controller takes its time
	admin := clientset(t, shared.Clusters["plain"].Kubeconfig)
	namespace := newNamespace(t, admin)
	if err := createConfigMap(namespace)(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	// A claim is marked by an admission plugin; only a controller unmarks it.
	apply(t, shared.Clusters["plain"].Kubeconfig, strings.ReplaceAll(claim, "NAMESPACE", namespace))
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, admin.CoreV1().RESTClient(), "namespaces", "", namespace, &corev1.Namespace{}, gone)
}

const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NAMESPACE}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

const shelf = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shelves.test.lab}
spec:
  group: test.lab
  scope: Namespaced
  names: {kind: Shelf, plural: shelves, singular: shelf}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              boards: {type: integer, default: 3}
              books: {type: integer, default: 0}
            x-kubernetes-validations:
            - rule: self.books <= self.boards * 10
              message: too many books
`

func TestCustomResourcesAreDefaultedAndValidated(t *testing.T) {
	cluster := shared.Clusters["plain"]
	apply(t, cluster.Kubeconfig, shelf)
	admin := clientset(t, cluster.Kubeconfig)
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	client := dynamicClient(t, cluster.Kubeconfig)
	awaitCondition(t, client, resource, "", "shelves.test.lab", "Established")

	shelves := client.Resource(schema.GroupVersionResource{Group: "test.lab", Version: "v1", Resource: "shelves"}).Namespace(newNamespace(t, admin))
	object := func(books int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "test.lab/v1", "kind": "Shelf", "metadata": map[string]any{"generateName": "a-"},
			"spec": map[string]any{"books": books},
		}}
	}
	var created *unstructured.Unstructured
	eventually(t, func() (err error) { // the kind is served a moment after it is established
		created, err = shelves.Create(t.Context(), object(30), metav1.CreateOptions{})
		return err
	})
	if boards, _, err := unstructured.NestedInt64(created.Object, "spec", "boards"); err != nil || boards != 3 {
		t.Errorf("boards %d (%v), want the default of 3", boards, err)
	}
	if _, err := shelves.Create(t.Context(), object(31), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("create against the rule: %v, want invalid", err)
	}
}
