package console

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// planningUser is a server with the rules that the chart gives to one whose users see plans, and do not
// act.
const planningUser = "landscaper-with-plans"

// startPlanning starts a server whose users see plans: with tokens, or as jane in the group dev, as a proxy
// says.
func startPlanning(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(proxySecret), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("{plans: {enabled: true}, actions: {groups: [dev]}, login: {token: true, proxy: {usernameHeader: X-User, groupsHeader: X-Groups, groupsSeparator: ',', secretHeader: X-Secret, secret: %q}}}", path)
	return startAs(t, planningUser, config, map[string]any{
		"plans": map[string]any{"enabled": true}, "actions": map[string]any{"users": []any{"jane"}, "groups": []any{"dev"}},
	})
}

// plan asks for a plan as a page does.
func (v *visitor) plan(space, name string) (status int, said string, plan console.Plan) {
	v.t.Helper()
	status, said = v.ask(http.MethodGet, "/plan/job/"+space+"/"+name, "", nil)
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(said), &plan); err != nil {
			v.t.Fatalf("%s: %v", said, err)
		}
	}
	return status, said, plan
}

// secretWord is what no plan shows, in no form.
const secretWord = "horse-battery-19"

// repeating repeats an import in all the ways that are looked for.
var repeating = landscape.OneItem(`apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: NAMESPACE}
data: {password: {{ .imports.secret | b64enc }}}
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: NAMESPACE, annotations: {example.org/{{ .imports.secret }}: "here"}}
data:
  plain: {{ .imports.secret }}
  packed: {{ printf "user:%s@host" .imports.secret | b64enc }}
  part: {{ .imports.secret | trunc 9 }}
  loud: {{ .imports.secret | upper }}
  document: "host: here\npassword: {{ .imports.secret }}\n"
`)

// planned makes Installations whose plans follow from more and more: an open one from a Target, a closed
// one from the Secret of a Target, and a fed one from the Secret of an import. None gets a job.
func planned(t *testing.T, space string) {
	t.Helper()
	closed := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "edge"}}
	closed.Spec.Type = v1alpha1.KubernetesClusterTargetType
	closed.Spec.SecretRef = &v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}
	create(t,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "access"}, Data: map[string][]byte{"kubeconfig": []byte(env.TargetKubeconfig)}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "values"}, Data: map[string][]byte{"word": []byte(secretWord)}},
		closed)
	blueprint := map[string]any{"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint"}
	scenario.Decode(t, `imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}, {name: secret, type: data, schema: {type: string}}]`, &blueprint)
	blueprint["deployExecutions"] = []any{map[string]any{"name": "main", "type": "GoTemplate", "template": strings.ReplaceAll(repeating, "NAME,", "fed,")}}
	for name, spec := range map[string]v1alpha1.InstallationSpec{
		"open":   scenario.ItemsOn(t, space, "host", scenario.Note("open", scenario.OnCluster, "a")),
		"closed": scenario.ItemsOn(t, space, "edge", scenario.Note("closed", scenario.OnCluster, "a")),
		"fed":    scenario.RootOf(t, space, `{imports: {targets: [{name: cluster, target: host}], data: [{name: secret, secretRef: {name: values, key: word}}]}}`, blueprint),
	} {
		inst := scenario.InstallationOf(space, name, spec)
		inst.Annotations = nil
		create(t, inst)
	}
}

// secrets lets its owner read Secrets, which may be named.
func secrets(names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: names}
}

// TestPlansOfRights: users of six kinds of rights see the plans that follow from what they may read. Of
// the rest they learn that they may not read it, and by what name. The server reads no Secret for them.
func TestPlansOfRights(t *testing.T) {
	at := startPlanning(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	planned(t, space)
	create(t, in(accounts, "stranger", accounts, ours)...)
	create(t, in(space, "partial", accounts, parts)...)
	create(t, verbs(space, "reader", accounts)...)
	create(t, verbs(space, "named", accounts, secrets("values"))...)
	create(t, verbs(space, "full", accounts, secrets())...)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	began, err := env.Resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const creates = "is worked out"
	noTarget, noAccess, noValues := "you may not read Target "+space+"/", "you may not read Secret "+space+"/access", "you may not read Secret "+space+"/values"
	digests := map[string]string{}
	for _, test := range []struct {
		account           string
		open, closed, fed string
	}{
		{"stranger", "no such Installation", "no such Installation", "no such Installation"},
		{"partial", noTarget + "host", noTarget + "edge", noValues},
		{"reader", creates, noAccess, noValues},
		{"named", creates, noAccess, creates},
		{"full", creates, creates, creates},
		{"admin", creates, creates, creates},
	} {
		t.Run(test.account, func(t *testing.T) {
			v := logIn(t, at, tokenOf(t, accounts, test.account))
			for name, want := range map[string]string{"open": test.open, "closed": test.closed, "fed": test.fed} {
				status, said, plan := v.plan(space, name)
				shows(t, name, said)
				switch {
				case want != creates:
					if !strings.Contains(said, want) || strings.Contains(said, "administrator") || status == http.StatusUnauthorized || status == http.StatusBadGateway {
						t.Errorf("%s: %d %s, want %q", name, status, said, want)
					}
				case status != http.StatusOK || !plan.Changes || len(plan.Items) != 1 || plan.Items[0].Unknown != "" || plan.Items[0].Objects[0].Action != "create":
					t.Errorf("%s: %d %s", name, status, said)
				case digests[name] != "" && digests[name] != plan.Digest:
					t.Errorf("the plan of %s is another one for another user: %s", name, said)
				default:
					digests[name] = plan.Digest
				}
			}
			if offered := v.offered(space, "open"); len(offered) > 0 {
				t.Errorf("who only sees plans has buttons for %v", offered)
			}
		})
	}
	for name, digest := range digests {
		if _, out, _ := env.CLI(t, "inst", "plan", name, "-n", space); !strings.Contains(out, "Digest: "+digest+"\n") {
			t.Errorf("the command line has another plan of %s than %s:\n%s", name, digest, out)
		}
	}
	readNothing(t, began)
}

// shows fails if an answer has the secret in any form, or a part of a credential.
func shows(t *testing.T, name, said string) {
	t.Helper()
	lower := strings.ToLower(said)
	for _, form := range []string{secretWord, secretWord[:9], base64.StdEncoding.EncodeToString([]byte(secretWord)), "client-key-data", "begin rsa"} {
		if strings.Contains(lower, strings.ToLower(form)) {
			t.Errorf("the plan of %s shows %s: %s", name, form, said)
		}
	}
}

// readNothing fails if the server has read Secrets with its own rights.
func readNothing(t *testing.T, since lab.Mark) {
	t.Helper()
	asked, err := env.Resource.Requests(t.Context(), since, planningUser)
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range asked {
		if request.Resource == "secrets" && request.UserAgent != "" && request.Verb == "get" {
			t.Errorf("the server has read a Secret: %+v", request)
		}
	}
}

// TestPlansByImpersonation: who was authenticated by a proxy sees plans under the own name, in the groups
// that count.
func TestPlansByImpersonation(t *testing.T) {
	at := startPlanning(t)
	space := env.Namespace(t)
	planned(t, space)
	create(t, ofUser(space, "User", "jane")...)
	create(t, ofUser(space, "Group", "dev", secrets())...)
	create(t, ofUser(space, "Group", "ops", secrets())...)
	for _, test := range []struct{ reason, groups, want string }{
		{"the rights of the user alone", "", "you may not read Secret " + space + "/values"},
		{"the rights of a group", "dev", `"changes":true`},
		{"a group that does not count", "ops", "you may not read Secret " + space + "/values"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			status, said, _ := proxied(t, at, "jane", test.groups).plan(space, "fed")
			if !strings.Contains(said, test.want) {
				t.Errorf("%d %s", status, said)
			}
			shows(t, "fed", said)
		})
	}
}

// TestPlanIsNoDeputy: an author cannot let a user with more rights read a Secret of another namespace into
// a plan, which asks the cluster that the author has named.
func TestPlanIsNoDeputy(t *testing.T) {
	at := startPlanning(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: accounts, Name: "values"}, Data: map[string][]byte{"word": []byte(secretWord)}})
	planned(t, space)
	inst := &v1alpha1.Installation{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "fed"}, inst); err != nil {
		t.Fatal(err)
	}
	thief := scenario.InstallationOf(space, "thief", *inst.Spec.DeepCopy())
	thief.Annotations, thief.Labels = nil, map[string]string{v1alpha1.SkipValidationLabel: "true"}
	thief.Spec.Imports.Data[0].SecretRef.Namespace = accounts
	create(t, thief)
	status, said, _ := logIn(t, at, tokenOf(t, accounts, "admin")).plan(space, "thief")
	if status != http.StatusUnprocessableEntity || !strings.Contains(said, "a job would fail") {
		t.Errorf("%d %s", status, said)
	}
}

// TestPlanBudget: a plan of a tree with 100 objects costs one list or dry run for each at most, and reads
// nothing twice.
func TestPlanBudget(t *testing.T) {
	at := startPlanning(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	const items, each = 4, 25
	var all []string
	for i := range items {
		var manifests []string
		for j := range each {
			manifests = append(manifests, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: object-%d-%d, namespace: NAMESPACE}, data: {text: \"{{ .imports.text }}\"}}", i, j))
		}
		all = append(all, scenario.YAMLItem(fmt.Sprintf("item-%d", i), "manage", manifests...))
	}
	blueprint := scenario.BlueprintOf(t, scenario.SingleImport[:len(scenario.SingleImport)-1]+", {name: text, type: data, schema: {type: string}}]", strings.Join(all, ""))
	inst := scenario.InstallationOf(space, "large", scenario.RootOf(t, space, `{imports: {targets: [{name: cluster, target: host}]}, importDataMappings: {text: first}}`, blueprint))
	inst.Annotations = nil
	create(t, inst)
	v := logIn(t, at, tokenOf(t, accounts, "admin"))
	user := fmt.Sprintf("system:serviceaccount:%s:admin", accounts)
	// What the cluster serves is asked once.
	const discovery = 2
	look := func(what, summary string, most map[string]int) {
		t.Helper()
		count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Target, User: "landscaper-deployer"}, landscape.Caller{Cluster: env.Resource, User: user})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		status, said, plan := v.plan(space, "large")
		took := time.Since(began)
		requests, err := count.Requests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sums := landscape.Sums(requests)
		t.Logf("%s: %s, %v", what, took.Round(time.Millisecond), sums)
		if status != http.StatusOK || !strings.HasPrefix(plan.Summary, summary) {
			t.Errorf("%s: %d %.300s", what, status, said)
		}
		for key, number := range sums {
			limit, known := most[key]
			switch {
			case known:
			case strings.HasPrefix(key, "resource "):
				limit = 1
			case key == "target get ":
				limit = discovery
			}
			if number > limit {
				t.Errorf("%s: %d times %s, at most %d", what, number, key, limit)
			}
		}
	}
	const objects = items * each
	look("all new", "100 to create", map[string]int{"target create configmaps": objects, "target list configmaps": items})
	env.Request(t, inst, v1alpha1.ReconcileOperation)
	env.WaitSucceeded(t, inst)
	look("nothing changes", "0 to create, 0 to change", map[string]int{"target list configmaps": items})
	current := env.Installation(t, inst)
	current.Spec.ImportDataMappings["text"] = v1alpha1.NewAnyJSON([]byte(`"second"`))
	if err := env.Admin.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	look("all change", "0 to create, 100 to change", map[string]int{"target update configmaps": objects, "target patch configmaps": objects, "target list configmaps": items})
}
