package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
)

// actingUser is a server with the rules that the chart gives to one whose users act.
const actingUser = "landscaper-with-actions"

const proxySecret = "the secret of the proxy"

// startActing starts a server whose users act: with tokens, or as jane and joe in the group dev, as a
// proxy says.
func startActing(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(proxySecret), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("{actions: {enabled: true, groups: [dev]}, login: {token: true, proxy: {usernameHeader: X-User, groupsHeader: X-Groups, groupsSeparator: ',', secretHeader: X-Secret, secret: %q}}}", path)
	return startAs(t, actingUser, config, map[string]any{"actions": map[string]any{"enabled": true, "users": []any{"jane", "joe"}, "groups": []any{"dev"}}})
}

// proxied is a user whom the proxy has authenticated.
func proxied(t *testing.T, at, name, groups string) *visitor {
	t.Helper()
	v := visit(t, at)
	v.headers = map[string]string{"X-Secret": proxySecret, "X-User": name, "X-Groups": groups}
	return v
}

// ask sends a question or a request for an action as a page does. More headers are sent with it; an empty one is left out.
func (v *visitor) ask(method, path, body string, more map[string]string) (status int, said string) {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), method, v.at+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	headers := map[string]string{"Origin": v.at, "X-Landscaper-Console": "1", "Content-Type": "application/json"}
	maps.Copy(headers, v.headers)
	maps.Copy(headers, more)
	for name, value := range headers {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	answer, err := v.http.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// offered are the actions for which a user has buttons.
func (v *visitor) offered(space, name string) []console.Action {
	v.t.Helper()
	status, said := v.ask(http.MethodGet, "/actions/"+space+"/"+name, "", nil)
	if status == http.StatusNotFound {
		return nil
	}
	var offer console.Offer
	if err := json.Unmarshal([]byte(said), &offer); err != nil || status != http.StatusOK {
		v.t.Fatalf("%d %s: %v", status, said, err)
	}
	return offer.Actions
}

// act asks for an action on an Installation as it is.
func (v *visitor) act(action console.Action, inst *v1alpha1.Installation, more map[string]string) (status int, said string) {
	v.t.Helper()
	body := map[string]any{"uid": inst.UID}
	if action == console.SetImports {
		body["imports"] = []map[string]any{{"name": "size", "text": "3"}}
	}
	text, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.ask(http.MethodPost, fmt.Sprintf("/act/%s/%s/%s", action, inst.Namespace, inst.Name), string(text), more)
}

// resting is an Installation without a job, with an import that can be set. A finalizer of the test keeps
// it until the end, so that each action finds it.
func resting(t *testing.T, space, name string) *v1alpha1.Installation {
	t.Helper()
	inst := exporting(t, space)
	inst.Name, inst.Finalizers = name, []string{"test.landscaper.dev/holds"}
	inst.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"size": v1alpha1.NewAnyJSON([]byte("1"))}
	delete(inst.Annotations, v1alpha1.OperationAnnotation)
	if err := env.Admin.Create(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { release(t, inst) })
	return inst
}

// release deletes an Installation at the end of a test: others count what all namespaces have.
func release(t *testing.T, inst *v1alpha1.Installation) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := client.IgnoreNotFound(env.Admin.Delete(ctx, inst.DeepCopy())); err != nil {
		t.Error(err)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := client.IgnoreNotFound(env.Admin.Patch(ctx, inst.DeepCopy(), patch)); err != nil {
		t.Error(err)
	}
}

// verbs let their owner do something with Installations, which may be named.
func verbs(space, account, accounts string, rules ...rbacv1.PolicyRule) []client.Object {
	objects := in(space, account, accounts, ours)
	role := objects[0].(*rbacv1.Role)
	role.Rules = append(role.Rules, rules...)
	return objects
}

func on(verb string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"installations"}, Verbs: []string{verb}, ResourceNames: names}
}

var changes = []console.Action{console.SetImports, console.Skip, console.Unskip, console.Interrupt, console.Abort, console.ForceReconcile, console.Reconcile}

// TestActionsOfRights: users of six kinds of rights do what they may and no more, each in the own name,
// and have a button for nothing else.
func TestActionsOfRights(t *testing.T) {
	at := startActing(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	first, second := resting(t, space, "first"), resting(t, space, "second")
	create(t, verbs(space, "reader", accounts)...)
	create(t, verbs(space, "changer", accounts, on("patch"))...)
	create(t, verbs(space, "deleter", accounts, on("delete"))...)
	create(t, verbs(space, "named", accounts, on("patch", "first"))...)
	create(t, in(accounts, "stranger", accounts, ours)...)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	tests := []struct {
		account         string
		changes, remove []string
	}{
		{"stranger", nil, nil},
		{"reader", nil, nil},
		{"changer", []string{"first", "second"}, nil},
		{"named", []string{"first"}, nil},
		{"deleter", nil, []string{"first", "second"}},
		{"admin", []string{"first", "second"}, []string{"first", "second"}},
	}
	for _, test := range tests {
		t.Run(test.account, func(t *testing.T) {
			v := logIn(t, at, tokenOf(t, accounts, test.account))
			user := fmt.Sprintf("system:serviceaccount:%s:%s", accounts, test.account)
			for _, inst := range []*v1alpha1.Installation{first, second} {
				offered := v.offered(space, inst.Name)
				mayChange := slices.Contains(test.changes, inst.Name)
				if slices.Contains(offered, console.Reconcile) != mayChange || slices.Contains(offered, console.Delete) && !slices.Contains(test.remove, inst.Name) {
					t.Errorf("%s has buttons for %v", inst.Name, offered)
				}
				for _, action := range changes {
					if status, said := v.act(action, inst, nil); (status == http.StatusOK) != mayChange || !mayChange && status != http.StatusForbidden {
						t.Errorf("%s %s: %d %s", action, inst.Name, status, said)
					}
				}
				mayRemove := slices.Contains(test.remove, inst.Name)
				if status, said := v.act(console.Delete, inst, nil); (status == http.StatusOK) != mayRemove || !mayRemove && status != http.StatusForbidden {
					t.Errorf("delete %s: %d %s", inst.Name, status, said)
				}
				written := writes(t, user, inst)
				if want := map[string]bool{"patch": mayChange, "delete": mayRemove}; !cmp.Equal(want, map[string]bool{"patch": written["patch"] > 0, "delete": written["delete"] > 0}) {
					t.Errorf("%s has written %v, says the audit log", user, written)
				}
			}
		})
	}
}

// audited is what the API server has noted of a request.
type audited struct {
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	User      person `json:"user"`
	// ImpersonatedUser is as whom the user has acted.
	ImpersonatedUser *person `json:"impersonatedUser"`
	ObjectRef        struct {
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

type person struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups"`
}

// audit returns what was asked about an Installation from pages.
func audit(t *testing.T, inst *v1alpha1.Installation) []audited {
	t.Helper()
	file, err := os.Open(env.Resource.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var found []audited
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry audited
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			continue // it is being written
		}
		if ref := entry.ObjectRef; entry.UserAgent == "landscaper-console" && ref.Resource == "installations" && ref.Namespace == inst.Namespace && ref.Name == inst.Name {
			found = append(found, entry)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// writes counts what a user has written from pages, by the verb.
func writes(t *testing.T, user string, inst *v1alpha1.Installation) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, entry := range audit(t, inst) {
		if entry.User.Username == user && entry.ImpersonatedUser == nil && entry.ResponseStatus.Code == http.StatusOK {
			counts[entry.Verb]++
		}
	}
	return counts
}

// ofUser lets a user or a group of an issuer do something in a namespace.
func ofUser(space, kind, name string, rules ...rbacv1.PolicyRule) []client.Object {
	objects := verbs(space, strings.ToLower(kind)+"-"+name, space, rules...)
	objects[1].(*rbacv1.RoleBinding).Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}}
	return objects
}

// TestImpersonation: who was authenticated by a proxy acts under the own name, in the groups that count,
// and the audit log says so. Nothing that a client sends changes as whom.
func TestImpersonation(t *testing.T) {
	at := startActing(t)
	space := env.Namespace(t)
	inst := resting(t, space, "first")
	create(t, ofUser(space, "User", "joe")...)
	create(t, ofUser(space, "User", "mallory", on("patch"), on("delete"))...)
	create(t, ofUser(space, "Group", "dev", on("patch"))...)
	create(t, ofUser(space, "Group", "ops", on("patch"), on("delete"))...)
	tests := []struct {
		reason, user, groups string
		more                 map[string]string
		patch, remove        bool
	}{
		{"a user with rights of a group", "jane", "dev", nil, true, false},
		{"a group that does not count", "jane", "ops", nil, false, false},
		{"both: only one counts", "jane", "ops,dev", nil, true, false},
		{"a user who may only read", "joe", "", nil, false, false},
		{"the group that may do everything, said by the proxy", "joe", "system:masters", nil, false, false},
		{"headers of impersonation from the client", "joe", "", map[string]string{"Impersonate-User": "jane", "Impersonate-Group": "system:masters", "Impersonate-Uid": "0", "Impersonate-Extra-Scopes": "all"}, false, false},
		{"a token of another user in the request", "joe", "", map[string]string{"Authorization": "Bearer " + env.Resource.Token}, false, false},
		{"a user who has the rights, and for whom the server may not act", "mallory", "", nil, false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			v := proxied(t, at, test.user, test.groups)
			if len(test.more) == 0 {
				// The one before may have skipped it last: then the button is for the other direction.
				offered := v.offered(space, "first")
				skips := slices.Contains(offered, console.Skip) || slices.Contains(offered, console.Unskip)
				if skips != test.patch || slices.Contains(offered, console.Delete) != test.remove {
					t.Errorf("buttons for %v", offered)
				}
			}
			before := len(audit(t, inst))
			for action, may := range map[console.Action]bool{console.Skip: test.patch, console.Unskip: test.patch, console.Delete: test.remove} {
				if status, said := v.act(action, inst, test.more); (status == http.StatusOK) != may || !may && status != http.StatusForbidden {
					t.Errorf("%s: %d %s", action, status, said)
				}
			}
			for _, entry := range audit(t, inst)[before:] {
				as := entry.ImpersonatedUser
				if entry.User.Username != actingUser || as != nil && as.Username != test.user || as == nil && entry.ResponseStatus.Code < 400 {
					t.Errorf("%s by %s as %+v", entry.Verb, entry.User.Username, as)
				}
				if as != nil && (slices.Contains(as.Groups, "system:masters") || slices.Contains(as.Groups, "ops")) {
					t.Errorf("as %+v", as)
				}
			}
		})
	}
	managed(t, proxied(t, at, "jane", "dev"), inst)
}

// managed sees in the managed fields that something was done from a page.
func managed(t *testing.T, v *visitor, inst *v1alpha1.Installation) {
	t.Helper()
	if status, said := v.act(console.Skip, inst, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	found := env.Installation(t, inst)
	if found.Annotations[v1alpha1.SkipAnnotation] != "true" || !slices.ContainsFunc(found.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == "landscaper-console" }) {
		t.Errorf("%v, managed by %+v", found.Annotations, found.ManagedFields)
	}
}

// TestForgedRequests: only a page of the console asks for actions, and only as long as its user is logged in.
func TestForgedRequests(t *testing.T) {
	at := startActing(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	inst := resting(t, space, "first")
	create(t, everywhere("admin", accounts, "cluster-admin"))
	v := logIn(t, at, tokenOf(t, accounts, "admin"))
	tests := []struct {
		reason string
		more   map[string]string
		want   int
	}{
		{"a form of another site", map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
		{"a form that does not say where it is from", map[string]string{"Origin": ""}, http.StatusForbidden},
		{"a browser that says it is another site", map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		{"a form without the header of our pages", map[string]string{"X-Landscaper-Console": ""}, http.StatusForbidden},
		{"a page of the console", nil, http.StatusOK},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			before := len(audit(t, inst))
			status, said := v.act(console.Skip, inst, test.more)
			if status != test.want || status != http.StatusOK && len(audit(t, inst)) != before {
				t.Errorf("%d %s", status, said)
			}
		})
	}
	if status, _ := v.ask(http.MethodGet, "/act/delete/"+space+"/first?uid="+string(inst.UID), "", nil); status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", status)
	}
	kept := v.http.Jar.Cookies(mustParse(t, at))
	if status, said := v.ask(http.MethodPost, "/logout", "", nil); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, said)
	}
	thief := visit(t, at)
	thief.http.Jar.SetCookies(mustParse(t, at), kept)
	if status, said := thief.act(console.Delete, inst, nil); status != http.StatusUnauthorized {
		t.Errorf("a replay after the log-out: %d %s", status, said)
	}
	if found := env.Installation(t, inst); found.DeletionTimestamp != nil {
		t.Error("it was deleted")
	}
}

// TestActionsAreOff: without being asked for, no user acts, whatever the rights.
func TestActionsAreOff(t *testing.T) {
	at := start(t, "{token: true}")
	accounts, space := env.Namespace(t), env.Namespace(t)
	inst := resting(t, space, "first")
	create(t, everywhere("admin", accounts, "cluster-admin"))
	v := logIn(t, at, tokenOf(t, accounts, "admin"))
	if status, _ := v.ask(http.MethodGet, "/actions/"+space+"/first", "", nil); status != http.StatusForbidden {
		t.Errorf("buttons: %d", status)
	}
	if status, said := v.act(console.Skip, inst, nil); status != http.StatusForbidden || !strings.Contains(said, "only reads") || len(audit(t, inst)) > 0 {
		t.Errorf("%d %s", status, said)
	}
}
