package pages

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// waiting opens the page of a root whose plan waits for approvals.
func waiting(t *testing.T, h *fakeActor) (*viewer, *world) {
	t.Helper()
	return visits(t, h, deferred("needs the approval of 2 users"))
}

// visits opens the page of a root.
func visits(t *testing.T, h *fakeActor, inst *v1alpha1.Installation) (*viewer, *world) {
	t.Helper()
	w := newWorld(inst)
	w.actor = h
	page, address, _, _ := open(t, w)
	page.AwaitText("shop")
	v := &viewer{page, t, "http://" + address}
	v.Visit(v.address + "/n/shop/ledger")
	return v, w
}

// deferred is a root whose next job waits for an approval of its plan.
func deferred(says string) *v1alpha1.Installation {
	inst := root("ledger")
	inst.UID = "ledger"
	inst.Status.Conditions = []v1alpha1.Condition{{
		Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.ApprovalRequired), LastTransitionTime: *ago(60),
		Message: "deferred by DeliveryPolicy production: plan sha256:37f48b4a (1 to create, 2 to change, 1 to delete) " + says + ": landscaper-cli plans approve ledger -n shop --digest sha256:37f48b4a",
	}}
	return inst
}

func twoNeeded(unknown int32) console.StoredPlan {
	return console.StoredPlan{
		Since: *ago(600), Unknown: unknown, Needs: 2, ApprovedBy: []string{"ann@example.org"},
		Earlier: &console.EarlierPlan{Digest: "sha256:" + strings.Repeat("0b1c2d3e", 8), ApprovedBy: []string{"bob@example.org"}, Lines: []diff.Line{
			{Action: diff.Delete, Text: "    spec.replicas: + 2"}, {Action: diff.Create, Text: "    spec.replicas: + 3"},
		}},
	}
}

const approveButton = `[...document.querySelectorAll("dialog[open] button")].find((button) => button.textContent === "Approve")`

// TestApproval: the plan that waits is on the page of its root, and the button approves what is shown.
func TestApproval(t *testing.T) {
	h := &fakeActor{stored: twoNeeded(0)}
	v, w := waiting(t, h)
	v.AwaitText("Plan of the next job, which waits", "1 to create, 2 to change", "postgres:17.2", "secret, changed", "Approved by ann@example.org: 1 of 2 approvals", "Compared with the plan before, which bob@example.org approved: 2 lines differ")
	v.Is(`document.querySelector(".compared summary").click() || true`)
	v.AwaitText("spec.replicas: + 3")
	v.press("Approve this plan")
	v.Await(dialogs)
	v.AwaitText("Approve the plan of ledger?", "sha256:37f48b4a")
	v.Do(chromedp.SendKeys("#comment", "CHG-17"))
	v.press("Approve")
	v.Await(noDialog)
	v.AwaitText("Your approval is stored.")
	want := console.Request{Action: console.Approve, Namespace: "shop", Name: "ledger", UID: "ledger", Digest: "sha256:" + strings.Repeat("37f48b4a", 8), Comment: "CHG-17"}
	if done := h.done(); len(done) != 1 || fmt.Sprint(done[0]) != fmt.Sprint(want) {
		t.Errorf("done %+v", done)
	}
	// The condition changes with each approval, and the page reads the plan again.
	h.mutex.Lock()
	h.stored.ApprovedBy, h.stored.Refusal = []string{"ann@example.org", "me@example.org"}, "You have approved this plan."
	h.mutex.Unlock()
	w.set(deferred("needs the approval of 2 users, and has that of ann@example.org"))
	v.AwaitText("2 of 2 approvals", "You have approved this plan.")
	if v.Is(`[...document.querySelectorAll("main button")].some((button) => button.textContent === "Approve this plan")`) {
		t.Error("it can be approved twice")
	}
	w.set(root("ledger"))
	v.Await(`!document.querySelector("#approval")`)
}

// TestApprovalAhead: a plan is approved before its window opens, and a job that waits for a window alone
// shows no plan.
func TestApprovalAhead(t *testing.T) {
	closed := deferred("needs the approval of 2 users")
	closed.Status.Conditions[0].Reason = string(reasons.OutsideWindow)
	h := &fakeActor{stored: twoNeeded(0)}
	v, _ := visits(t, h, closed)
	v.AwaitText("Plan of the next job, which waits", "1 of 2 approvals")
	v.press("Approve this plan")
	v.AwaitText("At its time, the job begins if enough users have approved exactly this plan")
	v.Photograph("approval-ahead")
	v.press("Approve")
	v.Await(noDialog)
	v.AwaitText("Your approval is stored.")
	h.mutex.Lock()
	h.none = true
	h.mutex.Unlock()
	v.Visit(v.address + "/n/shop/ledger")
	v.AwaitText("needs the approval of 2 users")
	if v.Is(`!!document.querySelector("#approval")`) {
		t.Error("a job without a plan has a section for it")
	}
}

// TestApprovalOfUnknown: what only the job can know is accepted by a choice of its own.
func TestApprovalOfUnknown(t *testing.T) {
	h := &fakeActor{stored: twoNeeded(2)}
	v, _ := waiting(t, h)
	v.press("Approve this plan")
	v.AwaitText("Approve the 2 parts, too, that only the job can know")
	if !v.Is(approveButton + `.disabled`) {
		t.Error("the plan can be approved without a word about what is not known")
	}
	v.Is(`document.querySelector("dialog[open] input[type=checkbox]").click() || true`)
	v.Await(`!` + approveButton + `.disabled`)
	v.press("Approve")
	v.Await(noDialog)
	if done := h.done(); len(done) != 1 || !done[0].AcceptUnknown {
		t.Errorf("done %+v", done)
	}
}

// TestApprovalRefused: who may not approve sees why, and no button; an answer of the API server is shown.
func TestApprovalRefused(t *testing.T) {
	h := &fakeActor{stored: twoNeeded(0)}
	h.stored.Refusal = "You may not create DeliveryApprovals in this namespace."
	v, _ := waiting(t, h)
	v.AwaitText("You may not create DeliveryApprovals in this namespace.", "1 of 2 approvals")
	if v.Is(`[...document.querySelectorAll("#approval ~ * button, main button")].some((button) => button.textContent === "Approve this plan")`) {
		t.Error("there is a button")
	}
	h = &fakeActor{stored: console.StoredPlan{Since: metav1.Now()}, fails: &console.Refusal{Status: 409, Text: "this plan is not stored any more: look at the present one"}}
	v, _ = waiting(t, h)
	v.AwaitText("Approved by no user yet")
	v.press("Approve this plan")
	v.press("Approve")
	v.AwaitText("this plan is not stored any more")
}

// TestApprovalLooks: the page is accessible in both themes and on a phone, whatever others have written.
func TestApprovalLooks(t *testing.T) {
	script, err := os.ReadFile(checker)
	if err != nil {
		t.Fatalf("axe-core is not installed: run make console: %v", err)
	}
	h := &fakeActor{stored: twoNeeded(2), evil: `<img src=x onerror="window.broken=1">`}
	h.stored.ApprovedBy = append(h.stored.ApprovedBy, strings.Repeat("long", 60))
	v, _ := waiting(t, h)
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 390} {
			v.Prefer(theme)
			v.Do(chromedp.EmulateViewport(width, 844))
			v.Visit(v.address + "/n/shop/ledger")
			v.AwaitText("Approve this plan", "1 to create, 2 to change")
			v.Is(`document.querySelector(".compared summary").click() || true`)
			what := fmt.Sprintf("%s, %d wide", theme, width)
			v.accessible(string(script), what)
			if !v.Is(fmt.Sprintf(`document.documentElement.scrollWidth <= %d && !window.broken`, width)) {
				t.Errorf("%s: it is wider than the screen, or what others have written works", what)
			}
			v.press("Approve this plan")
			v.Await(dialogs)
			v.accessible(string(script), "dialog, "+what)
		}
	}
	v.Photograph("approval-dialog")
	v.press("Cancel")
	v.Photograph("approval")
}
