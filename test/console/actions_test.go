package console

import (
	"testing"

	"github.com/chromedp/chromedp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/console/browser"
	"go.landscaper.dev/test/scenario"
)

// answer presses a button of a page, or of the dialog that is open.
func answer(page *browser.Tab, dialog bool, text string) {
	part := "main .buttons button"
	if dialog {
		part = "dialog[open] button"
	}
	button := `[...document.querySelectorAll("` + part + `")].find((button) => button.textContent === "` + text + `")`
	page.Await(button)
	page.Is(button + `.click()`)
}

// TestActing: a job is started and an Installation deleted from its page, with the kubeconfig of the user.
// Before, the page shows what the cluster says about it.
func TestActing(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	space := env.Namespace(t)
	inst := scenario.InstallationOf(space, "acted", scenario.ItemsOn(t, space, "host", scenario.Note("note", scenario.OnCluster, "first words")))
	delete(inst.Annotations, v1alpha1.OperationAnnotation)
	env.Create(t, inst)
	page := browser.Open(t)
	link := env.OpenConsole(t, "-n", space)
	page.Visit(link)
	page.AwaitText("acted")
	page.Follow("main", "acted")

	answer(page, false, "Reconcile")
	page.AwaitText("1 to create", "create ConfigMap", "first words")
	answer(page, true, "Reconcile")
	page.AwaitText("A job was asked for.")
	page.Await(`document.querySelector("h1 .badge")?.textContent === "Ready"`)
	env.WaitSucceeded(t, inst)
	// The client is the command that serves the page.
	page.AwaitText("by a client that calls itself landscaper-cli")
	if first := env.Installation(t, inst).Status.History[0]; first.RequestedBy != "landscaper-cli" || first.Generation == 0 || len(first.Imports) != 1 {
		t.Errorf("%+v", first)
	}

	page.Follow("main", "What would a job change?")
	page.AwaitText("Nothing changes")
	page.Do(chromedp.NavigateBack())

	answer(page, false, "Delete")
	page.AwaitText("ConfigMap", "on Target host")
	answer(page, true, "Delete")
	page.AwaitText("There is no Installation acted")
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), &v1alpha1.Installation{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is there: %v", err)
	}
}
