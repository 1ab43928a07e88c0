package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// exporting is an Installation with an item, and an export that has a secret-looking value.
func exporting(t *testing.T, space string) *v1alpha1.Installation {
	t.Helper()
	blueprint := scenario.BlueprintOf(t, scenario.SingleImport+`
exports: [{name: address, schema: {type: string}}]
exportExecutions: [{name: e, type: GoTemplate, template: 'exports: {address: 10.0.0.7}'}]
`, scenario.Note("note", scenario.OnCluster, "a"))
	return scenario.InstallationOf(space, "root", scenario.RootOf(t, space, `{imports: {targets: [{name: cluster, target: host}]}, exports: {data: [{name: address, dataRef: address}]}}`, blueprint))
}

var (
	ours  = []string{"installations", "executions", "deployitems", "dataobjects", "targets"}
	parts = []string{"installations", "executions", "deployitems"}
)

// rules lets its owner list resources of ours, and events.
func rules(resources []string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: resources, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"list"}},
	}
}

// in lets a ServiceAccount list resources in a namespace.
func in(space, account, accounts string, resources []string) []client.Object {
	meta := metav1.ObjectMeta{Namespace: space, Name: account}
	return []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules(resources)},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account}, Subjects: subjects(accounts, account)},
	}
}

func subjects(space, account string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: space, Name: account}}
}

// everywhere binds a ServiceAccount to a role for all namespaces.
func everywhere(account, accounts, role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: accounts + "-" + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects(accounts, account),
	}
}

// TestRights: users of six kinds of rights see what they may list, and nothing says that there is more.
func TestRights(t *testing.T) {
	at := start(t, "{token: true}")
	accounts, a, b, c := env.Namespace(t), env.Namespace(t), env.Namespace(t), env.Namespace(t)
	for _, space := range []string{a, b, c} {
		env.WaitSucceeded(t, env.Create(t, exporting(t, space)))
	}
	reader := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: accounts + "-reader"}, Rules: rules(ours)}
	create(t, reader, everywhere("reader", accounts, reader.Name), everywhere("admin", accounts, "cluster-admin"))
	create(t, in(a, "one", accounts, ours)...)
	create(t, in(a, "partial", accounts, parts)...)
	create(t, append(in(a, "several", accounts, ours), in(b, "several", accounts, ours)...)...)
	// What has a name of its own in a rule is not listed.
	create(t, in(c, "none", accounts, []string{"secrets"})...)

	all := []string{a, b, c}
	tests := []struct {
		account string
		sees    []string
		// values and items say what the page of a visible Installation has, notes what it lacks.
		values bool
		notes  int
	}{
		{"none", nil, false, 0},
		{"one", []string{a}, true, 0},
		{"partial", []string{a}, false, 2},
		{"several", []string{a, b}, true, 0},
		{"reader", all, true, 0},
		{"admin", all, true, 0},
	}
	for _, test := range tests {
		t.Run(test.account, func(t *testing.T) {
			visitor := logIn(t, at, tokenOf(t, accounts, test.account))
			seesOverview(t, visitor, test.sees, test.notes)
			seesViews(t, visitor, all, test.sees)
			for _, space := range all {
				page := look[console.Page](visitor, "n/"+space+"/root")
				if !slices.Contains(test.sees, space) {
					absent := look[console.Page](visitor, "n/"+space+"/absent")
					absent.Name = "root"
					if diff := cmp.Diff(absent, page); diff != "" {
						t.Errorf("an Installation that is hidden is not as one that does not exist: %s", diff)
					}
					continue
				}
				fingerprint := page.Exports[0].Objects[0].Fingerprint
				if page.Missing || len(page.Items) != 1 || len(page.Events) == 0 || (fingerprint != "") != test.values {
					t.Errorf("missing %v, items %d, events %d, fingerprint %q", page.Missing, len(page.Items), len(page.Events), fingerprint)
				}
			}
		})
	}
	withoutLogin(t, at, a)
}

// seesOverview compares the overview, what it counts, and what is found.
func seesOverview(t *testing.T, visitor *visitor, want []string, notes int) {
	t.Helper()
	overview := look[console.Overview](visitor, "overview")
	var spaces []string
	counted := 0
	for _, row := range overview.Rows {
		spaces = append(spaces, row.Namespace)
	}
	for _, count := range overview.Counts {
		counted += count
	}
	slices.Sort(spaces)
	want = slices.Sorted(slices.Values(want))
	if diff := cmp.Diff(want, spaces); diff != "" || counted != len(want) || len(overview.Notes) != notes {
		t.Errorf("%s\n%d counted, notes %q", diff, counted, overview.Notes)
	}
	if found := look[console.Overview](visitor, "overview?q=note"); len(found.Rows) != len(want) {
		t.Errorf("%d items are found, want %d", len(found.Rows), len(want))
	}
}

// places are the pages of one namespace, besides that of an Installation.
var places = []string{
	"why/Installation/SPACE/root", "compare/SPACE/root", "objects/Installation/SPACE/root", "objects/Execution/SPACE/root",
	"objects/DeployItem/SPACE/ITEM",
	"targets/SPACE/host", "objects/Target/SPACE/host", "objects/TargetSync/SPACE/host",
}

// seesViews asks for all other pages: those of a hidden namespace are as those of one that does not exist, and
// lists have nothing of it.
func seesViews(t *testing.T, visitor *visitor, all, visible []string) {
	t.Helper()
	for _, list := range []string{"jobs", "targets", "jobs?q=root", "targets?q=host"} {
		text := look[json.RawMessage](visitor, list)
		for _, space := range all {
			// Targets need a right of their own.
			if has := strings.Contains(string(text), space); has && !slices.Contains(visible, space) || !has && slices.Contains(visible, space) && strings.HasPrefix(list, "jobs") {
				t.Errorf("%s has %s: %t", list, space, has)
			}
		}
	}
	for _, space := range all {
		item := env.ItemsByName(t, space)["note"].Name
		for _, place := range places {
			place = strings.Replace(place, "ITEM", item, 1)
			text := string(look[json.RawMessage](visitor, strings.Replace(place, "SPACE", space, 1)))
			absent := strings.ReplaceAll(string(look[json.RawMessage](visitor, strings.Replace(place, "SPACE", "absent", 1))), "absent", space)
			if shown := text != absent; shown && !slices.Contains(visible, space) {
				t.Errorf("%s of %s: %s", place, space, text)
			} else if !shown && slices.Contains(visible, space) && (strings.Contains(place, "/Installation/") || strings.Contains(place, "/DeployItem/")) {
				t.Errorf("%s of %s shows nothing", place, space)
			}
		}
	}
}

// withoutLogin asks for everything without a session, and with an invented one.
func withoutLogin(t *testing.T, at, space string) {
	t.Helper()
	stranger := visit(t, at)
	paths := []string{"/", "/n/" + space + "/root", "/live/overview", "/live/n/" + space + "/root", "/session", "/actions", "/actions/" + space + "/root", "/plan/job/" + space + "/root", "/plan/deletion/" + space + "/root", "/plan/" + space + "/root", "/live/jobs", "/live/targets"}
	for _, place := range places {
		paths = append(paths, "/live/"+strings.Replace(place, "SPACE", space, 1))
	}
	for _, path := range paths {
		answer, err := stranger.http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized && answer.Request.URL.Path != "/login" {
			t.Errorf("%s: %s at %s", path, answer.Status, answer.Request.URL)
		}
	}
}

// TestRightsAreTakenAway: an open page ends to show what may not be listed any more, within seconds,
// and the session of a ServiceAccount that was deleted ends.
func TestRightsAreTakenAway(t *testing.T) {
	at := start(t, "{token: true}")
	space := env.Namespace(t)
	env.WaitSucceeded(t, env.Create(t, exporting(t, space)))
	objects := in(space, "one", space, ours)
	create(t, objects...)
	visitor := logIn(t, at, tokenOf(t, space, "one"))
	lines := visitor.stream("overview")
	if overview := read[console.Overview](t, lines); len(overview.Rows) != 1 {
		t.Fatalf("%d rows", len(overview.Rows))
	}
	if err := env.Admin.Delete(t.Context(), objects[1]); err != nil {
		t.Fatal(err)
	}
	for {
		if overview := read[console.Overview](t, lines); len(overview.Rows) == 0 {
			return
		}
	}
}

// TestOwnRights: the server asks about users, and acts as none of them.
func TestOwnRights(t *testing.T) {
	at := start(t, "{token: true}")
	space := env.Namespace(t)
	create(t, in(space, "one", space, ours)...)
	look[console.Overview](logIn(t, at, tokenOf(t, space, "one")), "overview")
	for _, resource := range []string{"users", "groups", "serviceaccounts"} {
		if may(t, "impersonate", resource) {
			t.Errorf("the server may act as any of the %s", resource)
		}
	}
	if !may(t, "list", "events") || may(t, "delete", "events") || may(t, "list", "pods") {
		t.Error("the server has other rights than those of the chart")
	}
}

// may asks the API server what the server may do.
func may(t *testing.T, verb, resource string) bool {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: serverUser, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: resource},
	}}
	if err := env.Admin.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

// TestPagesCostNothing: open pages and changes on them lead to questions about users, and to nothing else
// that the API server is asked.
func TestPagesCostNothing(t *testing.T) {
	at := start(t, "{token: true}")
	accounts, space := env.Namespace(t), env.Namespace(t)
	inst := env.Create(t, exporting(t, space))
	env.WaitSucceeded(t, inst)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	visitor := logIn(t, at, tokenOf(t, accounts, "admin"))
	overview := visitor.stream("overview")
	read[console.Overview](t, overview)
	count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Resource, User: serverUser})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, path := range []string{"n/" + space + "/root", "jobs", "targets", "why/Installation/" + space + "/root", "objects/Installation/" + space + "/root"} {
			_ = look[any](visitor, path)
		}
	}
	env.Annotate(t, inst, map[string]string{v1alpha1.SkipAnnotation: "true"})
	requests, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for key, number := range landscape.Sums(requests) {
		if !strings.Contains(key, "accessreviews") && !strings.Contains(key, "tokenreviews") {
			t.Errorf("%d times %s", number, key)
		}
	}
}
