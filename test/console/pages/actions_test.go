package pages

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/requests"
)

// fakeActor acts for the user of a page: it notes what it is to do.
type fakeActor struct {
	rights console.Rights
	// evil is put into what others have written.
	evil string

	// left gets the end of a plan whose page was left; without it, plans are there at once.
	left chan error

	// stored is the plan that waits; none says that it does not exist.
	stored console.StoredPlan
	none   bool

	mutex sync.Mutex
	asked []console.Request
	fails error
}

// May implements console.Actor.
func (h *fakeActor) May(context.Context, string, string) (console.Rights, error) {
	return h.rights, nil
}

// Do implements console.Actor.
func (h *fakeActor) Do(_ context.Context, request console.Request) ([]string, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.asked = append(h.asked, request)
	return []string{"Note: a job is running; the new one starts when it has ended" + h.evil}, h.fails
}

// Stored implements console.Actor.
func (h *fakeActor) Stored(ctx context.Context, inst *v1alpha1.Installation) (*console.StoredPlan, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	stored, err := h.stored, error(nil)
	stored.UID = inst.UID
	if h.none {
		return &console.StoredPlan{UID: inst.UID}, nil
	}
	stored.Plan, err = h.Plan(ctx, "", "")
	stored.Plan.Digest = "sha256:" + strings.Repeat("37f48b4a", 8)
	return &stored, err
}

// Planner implements console.Actor.
func (h *fakeActor) Planner() console.Planner { return h }

// done returns the requests, and forgets them.
func (h *fakeActor) done() []console.Request {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	asked := h.asked
	h.asked = nil
	return asked
}

// Plan implements console.Planner.
func (h *fakeActor) Plan(ctx context.Context, _, _ string) (*console.Plan, error) {
	if h.left != nil {
		<-ctx.Done()
		h.left <- ctx.Err()
		return nil, ctx.Err()
	}
	return &console.Plan{
		Changes: true, Summary: "1 to create, 2 to change, 1 to delete, 14 unchanged, 1 known only when the job runs",
		Notes:   []string{"unknown field spec.replica of Deployment web" + h.evil},
		Follows: []string{"reports"}, Waiting: []console.PlanWait{{Path: "platform/shop", Reason: "it imports the address of a part that has not run" + h.evil}},
		Items: []console.PlanItem{
			{Path: "platform/database/postgres" + h.evil, Target: "prod-eu", Action: diff.Update, Objects: []console.PlanObject{
				{Action: diff.Update, Kind: "StatefulSet", Name: "shop/postgres", Fields: []console.PlanField{
					{Path: "spec.replicas", Action: diff.Update, Lines: diff.Lines([]string{"1"}, []string{"3" + h.evil})},
					{Path: "spec.template.spec.containers[0].image", Action: diff.Update, Lines: diff.Lines([]string{"postgres:16.4"}, []string{"postgres:17.2"})},
				}},
				{Action: diff.Update, Kind: "Secret", Name: "shop/login", Fields: []console.PlanField{{Path: "data.password", Secret: true, Action: diff.Update}}},
				{Action: diff.Create, Kind: "ConfigMap", Name: "shop/settings", Fields: []console.PlanField{{Path: "data.postgresql.conf", Action: diff.Create, Lines: diff.Lines(nil, []string{"max_connections = 200", "shared_buffers = 1GB"})}}},
				{Action: diff.Delete, Kind: "Job", Name: "shop/migrate"},
			}},
			{Path: "platform/monitoring/grafana", Target: "prod-us", Action: diff.Update, Unknown: "its cluster does not answer"},
		},
	}, nil
}

// Uninstalls implements console.Planner.
func (h *fakeActor) Uninstalls(context.Context, string, string) ([]requests.Uninstall, []string, error) {
	object := func(kind, name string) corev1.ObjectReference {
		return corev1.ObjectReference{Kind: kind, Namespace: "shop", Name: name + h.evil}
	}
	return []requests.Uninstall{
		{Step: 1, Path: "platform/shop/web", Target: "prod-eu", Objects: []corev1.ObjectReference{object("Deployment", "web"), object("Service", "web")}},
		{Step: 2, Path: "platform/database/postgres", Target: "prod-eu", Objects: []corev1.ObjectReference{object("StatefulSet", "postgres")}, Stays: []requests.Stay{{Object: object("PersistentVolumeClaim", "data"), Reason: "because it says so"}}},
		{Step: 3, Path: "platform/monitoring/grafana", Target: "prod-us", Unknown: []string{"the cluster does not answer; these are not known" + h.evil}},
	}, nil, nil
}

// acting opens a platform whose root has imports, for a user with rights.
func acting(t *testing.T, h *fakeActor) *viewer {
	t.Helper()
	snapshot := platform()
	for _, inst := range snapshot.Installations {
		if inst.Name == "platform" {
			inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "replicas", DataRef: "replicas"}, {Name: "settings", DataRef: "settings"}}
		}
	}
	w := newWorld()
	w.snapshot, w.actor = snapshot, h
	page, address, _, _ := open(t, w)
	page.AwaitText("All namespaces")
	return &viewer{page, t, "http://" + address}
}

// press presses a button by its text.
func (v *viewer) press(text string) {
	v.Await(`[...document.querySelectorAll("dialog[open] button, main button")].find((button) => button.textContent === "` + text + `" && (button.closest("dialog") || !document.querySelector("dialog[open]")))`)
	v.Is(`[...document.querySelectorAll("dialog[open] button, main button")].find((button) => button.textContent === "` + text + `" && (button.closest("dialog") || !document.querySelector("dialog[open]"))).click()`)
}

const (
	dialogs = `document.querySelector("dialog[open]")`
	// The browser closes a dialog before the page knows: a button that is pressed in between has no effect.
	noDialog = `!document.querySelector("dialog")`
)

// TestActions: each button leads to a dialog, and only its answer to a request.
func TestActions(t *testing.T) {
	h := &fakeActor{rights: console.Rights{Change: true, Delete: true}}
	v := acting(t, h)
	v.Visit(v.address + "/n/shop/platform")
	buttons := []struct {
		text   string
		action console.Action
		shows  []string
	}{
		{"Reconcile", console.Reconcile, []string{"Start a job of platform?", "spec.replicas", "secret, changed", "max_connections"}},
		{"Force reconcile", console.ForceReconcile, []string{"although one runs"}},
		{"Interrupt", console.Interrupt, []string{"as failed"}},
		{"Abort", console.Abort, []string{"Nothing new is started"}},
		{"Switch automatic jobs off", console.Skip, []string{"an operation asks for"}},
		{"Delete", console.Delete, []string{"platform/shop/web", "Deployment shop/web", "stays, because it says so"}},
	}
	for _, button := range buttons {
		v.press(button.text)
		v.Await(dialogs)
		v.AwaitText(button.shows...)
		v.Photograph("dialog-" + string(button.action))
		v.Do(chromedp.KeyEvent("\x1b"))
		v.Await(noDialog)
		if asked := h.done(); len(asked) > 0 {
			t.Fatalf("%s: a request without an answer: %+v", button.text, asked)
		}
		v.press(button.text)
		v.Await(dialogs)
		v.press(button.text)
		v.Await(noDialog)
		v.AwaitText("Note: a job is running")
		asked := h.done()
		if len(asked) != 1 || asked[0].Action != button.action || asked[0].Name != "platform" || asked[0].UID != "platform" || asked[0].Keep {
			t.Errorf("%s: %+v", button.text, asked)
		}
		v.Visit(v.address + "/n/shop/platform")
	}
	setsImports(t, v, h)
	keeps(t, v, h)
}

// setsImports gives one of two imports a value.
func setsImports(t *testing.T, v *viewer, h *fakeActor) {
	t.Helper()
	v.press("Set imports")
	v.Await(dialogs)
	v.Do(chromedp.SendKeys(`textarea[name="text/settings"]`, "{a: [1]}"))
	v.Is(`document.querySelector('select[name="kind/settings"]').value = "yaml"`)
	v.Photograph("dialog-set-imports")
	v.press("Set imports")
	v.Await(noDialog)
	asked := h.done()
	if len(asked) != 1 || len(asked[0].Imports) != 1 || asked[0].Imports[0] != (console.ImportText{Name: "settings", Text: "{a: [1]}", Anything: true}) {
		t.Errorf("%+v", asked)
	}
}

// keeps deletes without uninstalling, at the second attempt.
func keeps(t *testing.T, v *viewer, h *fakeActor) {
	t.Helper()
	h.fails = &console.Refusal{Status: http.StatusForbidden, Text: `installations "platform" is forbidden: User "jane" cannot delete it`}
	v.press("Delete")
	v.Await(dialogs)
	v.Is(`document.querySelector("dialog input[type=checkbox]").click()`)
	v.AwaitText("what it has deployed stays")
	v.press("Delete")
	v.AwaitText("cannot delete it")
	v.Photograph("dialog-refused")
	h.fails = nil
	v.press("Delete")
	v.Await(noDialog)
	if asked := h.done(); len(asked) != 2 || !asked[1].Keep {
		t.Errorf("%+v", asked)
	}
}

// TestButtonsOfRights: what a user may not do has no button.
func TestButtonsOfRights(t *testing.T) {
	for _, test := range []struct {
		reason  string
		rights  console.Rights
		buttons string
	}{
		{"reads only", console.Rights{}, ""},
		{"may change", console.Rights{Change: true}, "Reconcile|Force reconcile|Interrupt|Abort|Set imports|Switch automatic jobs off"},
		{"may delete", console.Rights{Delete: true}, "Delete"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			v := acting(t, &fakeActor{rights: test.rights})
			v.Visit(v.address + "/n/shop/platform")
			// The answer came: the browser has asked before it draws the timeline again.
			v.Await(`performance.getEntriesByType("resource").some((entry) => entry.name.includes("/actions/") && entry.responseEnd > 0)`)
			v.Await(`[...document.querySelectorAll(".buttons button")].map((button) => button.textContent).join("|") === "` + test.buttons + `"`)
		})
	}
}

// TestKeyStaysInTheBrowser: the key of the link is neither in the address nor in what another browser
// gets that has the cookie alone.
func TestKeyStaysInTheBrowser(t *testing.T) {
	v := acting(t, &fakeActor{rights: console.Rights{Change: true}})
	v.Await(`location.hash === "" && localStorage.getItem("landscaper-key")`)
	v.Visit(v.address + "/n/shop/platform")
	v.Await(`document.querySelector(".buttons button")`)
	v.Is(`localStorage.clear()`)
	v.Visit(v.address + "/n/shop/platform")
	v.AwaitText("Timeline")
	v.Await(`performance.getEntriesByType("resource").some((entry) => entry.name.includes("/actions/") && entry.responseStatus === 403)`)
	if v.Is(`document.querySelector(".buttons")`) {
		t.Error("a page without the key acts")
	}
}

// TestPlanPage: a plan has an address.
func TestPlanPage(t *testing.T) {
	h := &fakeActor{rights: console.Rights{Change: true}}
	v := acting(t, h)
	v.Visit(v.address + "/n/shop/platform")
	v.Photograph("actions")
	v.Follow("main", "What would a job change?")
	v.AwaitText("Plan of platform", "1 to create", "postgres:17.2", "its cluster does not answer", "reports")
	if !v.Is(`location.pathname === "/plan/shop/platform" && document.title === "Plan of platform"`) {
		t.Error(v.Text())
	}
	v.Photograph("plan")
	if asked := h.done(); len(asked) > 0 {
		t.Errorf("%+v", asked)
	}
	v.Visit(v.address + "/plan/shop/absent")
	v.AwaitText("There is no Installation absent")
}

// TestRunAgain: what has failed is run again together.
func TestRunAgain(t *testing.T) {
	h := &fakeActor{rights: console.Rights{Change: true}}
	failed := func(name string) *v1alpha1.Installation {
		inst := root(name)
		inst.UID = types.UID(name)
		inst.Status.JobID, inst.Status.JobIDFinished = "1", "1"
		inst.Status.InstallationPhase = v1alpha1.InstallationPhases.Failed
		return inst
	}
	w := newWorld(failed("billing"), failed("shop"), root("other"))
	w.actor = h
	page, address, _, _ := open(t, w)
	v := &viewer{page, t, "http://" + address}
	v.press("Run again what has failed")
	v.AwaitText("Start 2 jobs?")
	v.Photograph("dialog-run-again")
	v.press("Run again")
	v.AwaitText("2 jobs were asked for.")
	if asked := h.done(); len(asked) != 2 || asked[0].Action != console.Reconcile || asked[0].Name == "other" {
		t.Errorf("%+v", asked)
	}
	h.fails = errors.New("the API server does not answer")
	v.press("Run again what has failed")
	v.press("Run again")
	v.AwaitText("billing: the API server does not answer", "0 jobs were asked for.")
}

// TestHostileActions: what others have written stays text in plans, previews and answers, and no dialog
// is wider than a phone.
func TestHostileActions(t *testing.T) {
	h := &fakeActor{rights: console.Rights{Change: true, Delete: true}, evil: `<img src=x onerror="document.title='hurt'"><b>bold</b>` + "\x1b[31m\u202egnp " + strings.Repeat("long", 5_000)}
	v := acting(t, h)
	v.Do(chromedp.EmulateViewport(390, 844))
	harmless := func() {
		t.Helper()
		v.AwaitText("<b>bold</b>")
		if !v.Is(`document.querySelectorAll("main img, .message b, .preview img, .plan img").length === 0 && document.title !== "hurt" && !/[\u001b\u202e]/.test(document.documentElement.outerHTML)`) {
			t.Error("markup of others became a part of the page")
		}
		if !v.Is(`document.documentElement.scrollWidth <= 390 && (document.querySelector("dialog[open]")?.scrollWidth ?? 0) <= 390`) {
			t.Error("wider than the screen")
		}
	}
	v.Visit(v.address + "/plan/shop/platform")
	harmless()
	v.Visit(v.address + "/n/shop/platform")
	for _, button := range []string{"Delete", "Reconcile"} {
		v.press(button)
		v.Await(dialogs)
		harmless()
		v.Do(chromedp.KeyEvent("\x1b"))
		v.Await(noDialog)
	}
	v.press("Abort")
	v.Await(dialogs)
	v.press("Abort")
	harmless()
}

// TestAccessibilityOfActions: axe-core finds nothing on the plan and in the dialogs, in both themes and
// on a phone.
func TestAccessibilityOfActions(t *testing.T) {
	script, err := os.ReadFile(checker)
	if err != nil {
		t.Fatalf("axe-core is not installed: run make console: %v", err)
	}
	v := acting(t, &fakeActor{rights: console.Rights{Change: true, Delete: true}})
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 390} {
			v.Prefer(theme)
			v.Do(chromedp.EmulateViewport(width, 844))
			v.Visit(v.address + "/plan/shop/platform")
			v.AwaitText("1 to create")
			v.accessible(string(script), theme+", plan")
			for _, button := range []string{"Reconcile", "Set imports", "Delete"} {
				v.Visit(v.address + "/n/shop/platform")
				v.press(button)
				v.Await(dialogs)
				v.Await(`!document.querySelector("dialog .hint")`)
				v.accessible(string(script), theme+", "+button)
			}
		}
	}
}

// TestPlanIsLeft: a plan ends when its page is left, also for another page of the console, and when its
// dialog is closed.
func TestPlanIsLeft(t *testing.T) {
	h := &fakeActor{rights: console.Rights{Change: true}, left: make(chan error, 1)}
	v := acting(t, h)
	left := func(how string) {
		t.Helper()
		select {
		case <-h.left:
		case <-time.After(time.Minute):
			t.Fatalf("%s: the plan goes on", how)
		}
	}
	v.Visit(v.address + "/plan/shop/platform")
	v.AwaitText("Working out the plan")
	v.Follow("main", "the Installation")
	left("another page")
	v.press("Reconcile")
	v.AwaitText("Working out the plan")
	v.press("Cancel")
	left("a closed dialog")
}
