package console

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/console/browser"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// startWithConsole starts a server whose console shows plans and lets users act, and returns its address.
func startWithConsole(t *testing.T) string {
	t.Helper()
	const name = "landscaper-with-console"
	on := map[string]any{"enabled": true}
	rules, err := landscape.WriteRules(env.Lab.Directory, name, map[string]any{
		"featureGates": map[string]any{"ServerConsole": true},
		"console":      map[string]any{"enabled": true, "url": "https://console.example.org", "actions": on, "plans": on},
	})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("console: {address: %q, url: %q, login: {token: true}, actions: {enabled: true}, plans: {enabled: true}}\n", address, "http://"+address)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	scenario.StartServer(t, user.Kubeconfig, "--config", path, "--feature-gates", "ServerConsole=true")
	return "http://" + address
}

// account makes a ServiceAccount that may read what we have in a namespace, and more, and returns a token
// of it.
func account(t *testing.T, space, name string, more ...rbacv1.PolicyRule) string {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: space, Name: name}
	user := &corev1.ServiceAccount{ObjectMeta: meta}
	reads := rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"get", "list"}}
	for _, object := range []client.Object{
		user,
		&rbacv1.Role{ObjectMeta: meta, Rules: append(more, reads)},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}, Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: space, Name: name}}},
	} {
		if err := env.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	request := &authenticationv1.TokenRequest{}
	if err := env.Admin.SubResource("token").Create(t.Context(), user, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// logIn opens a page of the console of a server with a token.
func logIn(t *testing.T, at, path, token string) *browser.Tab {
	t.Helper()
	page := browser.Open(t)
	page.Visit(at + path)
	page.AwaitText("Token of the cluster")
	page.Do(chromedp.SendKeys("#token", token+kb.Enter), chromedp.WaitVisible(".user"))
	return page
}

// TestPlansInServer: the console of a server shows the plan of a job, on a page and before a job is asked
// for, as far as the rights of its user go.
func TestPlansInServer(t *testing.T) {
	at := startWithConsole(t)
	space := env.Namespace(t)
	edge := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "edge"}}
	edge.Spec.Type, edge.Spec.SecretRef = v1alpha1.KubernetesClusterTargetType, &v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}
	inst := scenario.InstallationOf(space, "closed", scenario.ItemsOn(t, space, "edge", scenario.Note("note", scenario.OnCluster, "first words")))
	inst.Annotations = nil
	access := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "access"}, Data: map[string][]byte{"kubeconfig": []byte(env.TargetKubeconfig)}}
	for _, object := range []client.Object{access, edge, inst} {
		if err := env.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	reader := logIn(t, at, "/n/"+space+"/closed", account(t, space, "reader"))
	reader.Follow("main", "What would a job change?")
	reader.AwaitText("you may not read Secret "+space+"/access", "known only when the job runs", "Digest of the plan: sha256:")
	reader.Photograph("plan-unreadable")

	full := logIn(t, at, "/n/"+space+"/closed", account(t, space, "full",
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"installations"}, Verbs: []string{"patch"}}))
	full.Follow("main", "What would a job change?")
	full.AwaitText("1 to create", "create ConfigMap", "first words", "Digest of the plan: sha256:")
	full.Photograph("plan-in-server")
	full.Follow("main", "the Installation")
	answer(full, false, "Reconcile")
	full.AwaitText("Start a job of closed?", "1 to create", "first words")
	full.Photograph("plan-confirmation")
	answer(full, true, "Reconcile")
	full.AwaitText("A job was asked for.")
	env.WaitSucceeded(t, inst)
	full.Follow("main", "What would a job change?")
	full.AwaitText("Nothing changes")
}
