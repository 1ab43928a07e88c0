package console

import (
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/console/browser"
	"go.landscaper.dev/test/oidctest"
	"go.landscaper.dev/test/scenario"
)

// throughIssuer starts a server whose users log in by an issuer.
func throughIssuer(t *testing.T, issuer *oidctest.Issuer) string {
	t.Helper()
	directory := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	authority := file("ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw}))
	config := fmt.Sprintf("{login: {oidc: {issuer: %q, clientID: %q, clientSecret: %q, certificateAuthorities: %q, scopes: [email, groups], usernameClaim: email, groupsClaim: groups, groupsPrefix: 'sso:'}}}",
		issuer.URL, oidctest.ClientID, file("secret", []byte(oidctest.ClientSecret)), authority)
	return env.StartConsole(t, "landscaper-with-issuer", config, map[string]any{
		"login": map[string]any{"oidc": map[string]any{"issuer": issuer.URL, "clientID": oidctest.ClientID, "secretName": "console-sso"}},
	})
}

// readBy lets a group read a namespace.
func readBy(space, group string) []client.Object {
	meta := metav1.ObjectMeta{Namespace: space, Name: "readers"}
	return []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"installations", "executions", "deployitems", "dataobjects", "targets"}, Verbs: []string{"list"},
		}}},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}, Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}}},
	}
}

// TestIssuer: a user follows a link to a page, is led to the issuer and back to the page, sees what the groups
// may list, and logs out; the way back then leads to the login.
func TestIssuer(t *testing.T) {
	issuer := oidctest.NewTLS(t)
	at := throughIssuer(t, issuer)
	space, hidden := env.Namespace(t), env.Namespace(t)
	for _, in := range []string{space, hidden} {
		root := scenario.InstallationOf(in, "in-"+in, scenario.ItemsOn(t, in, "host", scenario.Note("note", scenario.OnCluster, "a")))
		env.WaitSucceeded(t, env.Create(t, root))
	}
	for _, object := range readBy(space, "sso:dev") {
		if err := env.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	page := browser.Open(t, issuer.Certificate())
	path := "/n/" + space + "/in-" + space
	logIn := func() {
		t.Helper()
		page.Do(chromedp.Click(`a.button`), chromedp.WaitVisible(`#me`))
		page.AwaitText("I am jane@example.org")
		page.Do(chromedp.Click(`#me`), chromedp.WaitVisible(`.user`))
	}
	page.Visit(at + path)
	logIn()
	page.Await(`location.pathname === "` + path + `" && location.search === "" && document.querySelector("h1")?.textContent.includes("in-` + space + `")`)
	page.AwaitText("jane@example.org", "Deploy items", "note")
	if !page.Is(`document.cookie === "" && !document.querySelector(".buttons")`) {
		t.Error("scripts read the session, or there are actions, which are off")
	}
	page.Follow("header", "Landscaper")
	page.Await(`document.querySelector(".counts b")?.textContent === "1"`)
	if !page.Is(`!document.body.textContent.includes("` + hidden + `")`) {
		t.Errorf("the page shows a namespace that the user may not list: %s", page.Text())
	}
	page.Do(chromedp.Click(`.user button`), chromedp.WaitVisible(`a.button`))
	page.AwaitText("Log in with your account")
	page.Visit(at + path)
	page.AwaitText("Log in with your account")
	if !page.Is(`location.pathname === "/login"`) {
		t.Errorf("after the log-out, a page is shown: %s", page.Text())
	}
	// Another user of the issuer, without a right, in the same browser.
	issuer.Claims["groups"] = []string{"ops"}
	logIn()
	page.AwaitText("There is no Installation in-" + space)
}
