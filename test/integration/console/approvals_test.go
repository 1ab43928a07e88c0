package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/scenario"
)

// startApproving starts a server whose users act, with tokens or as jane, and whose policies count.
func startApproving(t *testing.T) string {
	t.Helper()
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(proxySecret), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("{actions: {enabled: true}, login: {token: true, proxy: {usernameHeader: X-User, groupsHeader: X-Groups, groupsSeparator: ',', secretHeader: X-Secret, secret: %q}}}", path)
	_, at := env.StartConsoleServer(t, "landscaper-with-approvals", config, map[string]any{"actions": map[string]any{"enabled": true, "users": []any{"jane"}}}, "DeliveryPolicies")
	return at
}

// delivers is a rule about a kind of deliveries.
func delivers(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{deliveryv1alpha1.GroupName}, Resources: []string{resource}, Verbs: verbs}
}

var sees = []rbacv1.PolicyRule{delivers("deliveryplans", "get", "list"), delivers("deliveryapprovals", "list")}

// waits creates an Installation whose job waits for two approvals, and returns the digest of its plan.
func waits(t *testing.T, space string) (inst *v1alpha1.Installation, digest string) {
	t.Helper()
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "production"}}
	policy.Spec.Approval = &deliveryv1alpha1.ApprovalRule{When: deliveryv1alpha1.ApproveAlways, Approvers: 2}
	create(t, policy)
	inst = scenario.InstallationOf(space, "shop", scenario.ItemsOn(t, space, "host", scenario.Note("note", scenario.OnCluster, "first words")))
	create(t, inst)
	env.WaitFor(t, client.ObjectKeyFromObject(inst), "waiting for an approval", func(found *v1alpha1.Installation) bool {
		for _, condition := range found.Status.Conditions {
			if condition.Type == deliveryv1alpha1.DeferredCondition && condition.Reason == "ApprovalRequired" {
				_, digest, _ = strings.Cut(condition.Message, "plan ")
				digest, _, _ = strings.Cut(digest, " ")
				return true
			}
		}
		return false
	})
	return inst, digest
}

// stored asks for the plan that waits.
func (v *visitor) stored(inst *v1alpha1.Installation) (status int, said string, plan console.StoredPlan) {
	v.t.Helper()
	status, said = v.ask(http.MethodGet, "/approval/"+inst.Namespace+"/"+inst.Name, "", nil)
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(said), &plan); err != nil {
			v.t.Fatalf("%s: %v", said, err)
		}
	}
	return status, said, plan
}

// approve approves a plan.
func (v *visitor) approve(inst *v1alpha1.Installation, digest string, more map[string]string) (status int, said string) {
	v.t.Helper()
	return v.ask(http.MethodPost, "/act/approve/"+inst.Namespace+"/"+inst.Name, fmt.Sprintf(`{"uid":%q,"digest":%q,"comment":"CHG-17"}`, inst.UID, digest), more)
}

// approvedBy are the users in whose names there are approvals of an Installation.
func approvedBy(t *testing.T, space string) []string {
	t.Helper()
	list := &deliveryv1alpha1.DeliveryApprovalList{}
	if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	users := []string{}
	for _, approval := range list.Items {
		users = append(users, approval.Spec.ApprovedBy)
	}
	slices.Sort(users)
	return users
}

// TestApprovalsOfRights: who may see and approve the plan that waits, and in whose name. Each user approves
// once, and two of them let the job begin.
func TestApprovalsOfRights(t *testing.T) {
	at := startApproving(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	inst, digest := waits(t, space)
	create(t, in(accounts, "stranger", accounts, ours)...)
	create(t, verbs(space, "reader", accounts)...)
	create(t, verbs(space, "viewer", accounts, sees...)...)
	create(t, verbs(space, "blind", accounts, delivers("deliveryapprovals", "create"))...)
	create(t, verbs(space, "approver", accounts, append(sees, delivers("deliveryapprovals", "create"))...)...)
	create(t, ofUser(space, "User", "jane", append(sees, delivers("deliveryapprovals", "create"), delivers("deliverypolicies", "list"))...)...)
	create(t, ofUser(space, "User", "mallory", append(sees, delivers("deliveryapprovals", "create"))...)...)
	account := func(name string) *visitor { return logIn(t, at, tokenOf(t, accounts, name)) }
	const forbidden, ok = http.StatusForbidden, http.StatusOK
	for _, test := range []struct {
		reason         string
		user           *visitor
		sees, approves int
		// refusal is what is in the place of a button; needs is how many approvals the page knows of.
		refusal string
		needs   int
		by      []string
	}{
		{"who does not see the Installation", account("stranger"), http.StatusNotFound, forbidden, "", 0, []string{}},
		{"who may not read plans", account("reader"), forbidden, forbidden, "", 0, []string{}},
		{"who may not approve", account("viewer"), ok, forbidden, "You may not create DeliveryApprovals in this namespace.", 0, []string{}},
		{"who may approve, and not look", account("blind"), forbidden, forbidden, "", 0, []string{}},
		{"a user for whom the server may not act", proxied(t, at, "mallory", ""), forbidden, forbidden, "", 0, []string{}},
		{"who may approve", account("approver"), ok, ok, "", 0, []string{"system:serviceaccount:" + accounts + ":approver"}},
		{"a user of a proxy, who may read policies", proxied(t, at, "jane", ""), ok, ok, "", 2, []string{"jane", "system:serviceaccount:" + accounts + ":approver"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			status, said, plan := test.user.stored(inst)
			if status != test.sees || plan.Refusal != test.refusal || plan.Needs != test.needs {
				t.Fatalf("%d %s", status, said)
			}
			if status == ok && (plan.Plan.Digest != digest || len(plan.Plan.Items) != 1 || !strings.HasPrefix(plan.Plan.Summary, "1 to create")) {
				t.Errorf("the plan is %s", said)
			}
			for why, want := range map[string]struct {
				digest string
				more   map[string]string
				status int
			}{
				"another plan":           {"sha256:" + strings.Repeat("0", 64), nil, http.StatusConflict},
				"a form of another site": {digest, map[string]string{"Origin": "https://evil.example"}, forbidden},
				"no header of our pages": {digest, map[string]string{"X-Landscaper-Console": ""}, forbidden},
			} {
				if status, said := test.user.approve(inst, want.digest, want.more); status == ok || test.approves == ok && status != want.status {
					t.Errorf("%s: %d %s", why, status, said)
				}
			}
			if status, said := test.user.approve(inst, digest, map[string]string{"Impersonate-User": "ann", "Impersonate-Group": "system:masters"}); status != test.approves {
				t.Fatalf("%d %s", status, said)
			}
			if by := approvedBy(t, space); !slices.Equal(by, test.by) {
				t.Errorf("approved by %v", by)
			}
			if test.approves != ok || len(test.by) == 2 {
				return
			}
			if _, said, plan := test.user.stored(inst); plan.Refusal != "You have approved this plan." || !slices.Equal(plan.ApprovedBy, test.by) {
				t.Errorf("afterwards: %s", said)
			}
			if status, said := test.user.approve(inst, digest, nil); status != http.StatusConflict {
				t.Errorf("twice: %d %s", status, said)
			}
		})
	}
	env.WaitSucceeded(t, inst)
	approved := env.Installation(t, inst).Status.ApprovedPlan
	if approved == nil || approved.Digest != digest || len(approved.ApprovedBy) != 2 {
		t.Errorf("the status says %+v", approved)
	}
}
