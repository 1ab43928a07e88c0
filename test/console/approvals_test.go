package console

import (
	"io"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/console/browser"
	"go.landscaper.dev/test/scenario"
)

// TestApproving: a job waits for two approvals. One user may not approve and sees why; one approves on a page
// of the server, and one on a page of the command line. Then the job begins, and the page shows no plan.
func TestApproving(t *testing.T) {
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	_, at := env.StartConsoleServer(t, "landscaper-approving", "{login: {token: true}, actions: {enabled: true}}", map[string]any{"actions": map[string]any{"enabled": true}}, "DeliveryPolicies")
	space := env.Namespace(t)
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "production"}}
	policy.Spec.Approval = &deliveryv1alpha1.ApprovalRule{When: deliveryv1alpha1.ApproveAlways, Approvers: 2}
	inst := scenario.InstallationOf(space, "shop", scenario.ItemsOn(t, space, "host", scenario.Note("note", scenario.OnCluster, "first words")))
	env.CreateAll(t, policy, inst)

	delivers := func(resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{deliveryv1alpha1.GroupName}, Resources: []string{resource}, Verbs: verbs}
	}
	looks := []rbacv1.PolicyRule{delivers("deliveryplans", "get", "list"), delivers("deliveryapprovals", "list")}
	viewer := logIn(t, at, "/n/"+space+"/shop", account(t, space, "viewer", looks...))
	viewer.AwaitText("Plan of the next job, which waits", "1 to create", "create ConfigMap", "first words", "Approved by no user yet", "You may not create DeliveryApprovals in this namespace.")
	viewer.Photograph("approval-viewer")

	approver := logIn(t, at, "/n/"+space+"/shop", account(t, space, "approver", append(looks, delivers("deliverypolicies", "list"), delivers("deliveryapprovals", "create"))...))
	approver.AwaitText("Approved by no user yet: 0 of 2 approvals")
	press(approver, "Approve this plan")
	approver.AwaitText("Approve the plan of shop?", "Digest of the plan: sha256:")
	press(approver, "Approve")
	approver.AwaitText("Your approval is stored.", "You have approved this plan.", ":approver: 1 of 2 approvals")
	approver.Photograph("approval-approved")
	// The first user sees it without asking again.
	viewer.AwaitText("Approved by system:serviceaccount:" + space + ":approver")

	own := browser.Open(t)
	own.Visit(env.OpenConsole(t, "-n", space))
	own.AwaitText("shop")
	own.Follow("main", "shop")
	press(own, "Approve this plan")
	own.AwaitText("Approve the plan of shop?")
	press(own, "Approve")
	env.WaitSucceeded(t, inst)
	own.Await(`!document.querySelector("#approval")`)
	if approved := env.Installation(t, inst).Status.ApprovedPlan; approved == nil || len(approved.ApprovedBy) != 2 {
		t.Errorf("the status says %+v", approved)
	}
	// Its deletion needs an approval, too, as long as there is the policy.
	if err := env.Admin.Delete(t.Context(), inst.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	own.AwaitText("Plan of the deletion, which waits", "1 to delete")
	own.Photograph("approval-deletion")
	if err := env.Admin.Delete(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	env.WaitNone(t, &v1alpha1.InstallationList{}, client.InNamespace(space))
}

// press presses a button of a page, or of the dialog that is open.
func press(page *browser.Tab, text string) {
	button := `[...document.querySelectorAll("dialog[open] button, main button")].find((button) => button.textContent === "` + text + `" && (button.closest("dialog") || !document.querySelector("dialog[open]")))`
	page.Await(button)
	page.Is(button + `.click() || true`)
}
