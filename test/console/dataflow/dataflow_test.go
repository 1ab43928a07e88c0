// Package dataflow watches the data flow example in a real browser, with Flux in the lab.
package dataflow

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/console/browser"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

var env = &scenario.World{}

func TestMain(m *testing.M) {
	os.Exit(env.Main(m, lab.Options{Clusters: []string{"flux", "workload"}, With: []string{"flux=flux", "git", "registry"}}))
}

// newStage is what the example is played on: Flux on one cluster, which deploys to another one.
func newStage(t *testing.T) *showcase.Stage {
	t.Helper()
	created, err := env.Lab.CreateRepository(t.Context(), "landscaper")
	if err != nil {
		t.Fatal(err)
	}
	repository, err := showcase.NewRepository(t.Context(), created.HTTP, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stage := &showcase.Stage{
		Resource: env.Resource.Kubeconfig, Flux: env.Lab.Clusters["flux"].Kubeconfig, Workload: env.Lab.Clusters["workload"].Kubeconfig,
		Registry: env.Lab.Registry.URL + "/examples", Repository: repository,
	}
	if err := stage.Prepare(t.Context(), "cu-dataflow"); err != nil {
		t.Fatal(err)
	}
	return stage
}

// play runs scripts of the example.
func play(t *testing.T, stage *showcase.Stage, scripts ...string) {
	t.Helper()
	for _, script := range scripts {
		if err := stage.Script(t.Context(), "dataflow", script, t.Output()); err != nil {
			t.Fatal(err)
		}
	}
}

// record keeps the states that the overview shows of each Installation, in window.seen.
const record = `(() => {
	window.kept = true;
	window.seen = {};
	const look = () => {
		for (const row of document.querySelectorAll(".rows li")) {
			const states = window.seen[row.querySelector(".head a").textContent] ??= [];
			const state = row.querySelector(".badge").textContent;
			if (states.at(-1) !== state) states.push(state);
		}
	};
	new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true, attributes: true});
	return true;
})()`

// token is what travels through Landscaper.
func token(t *testing.T, stage *showcase.Stage) string {
	t.Helper()
	workload, err := landscape.Connect(stage.Workload)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{}
	if err := workload.Get(t.Context(), client.ObjectKey{Namespace: "cu-dataflow", Name: "test-secret"}, secret); err != nil {
		t.Fatal(err)
	}
	return string(secret.Data["token"])
}

// TestExample: the overview is open before anything is there, and shows without being loaded again how the
// Installations of the example appear, run and succeed. The page of the root then shows the way of the token.
func TestExample(t *testing.T) {
	stage := newStage(t)
	scenario.StartServer(t, env.ServerKubeconfig)
	env.WaitForContext(t, showcase.InstallationNamespace)
	page := browser.Open(t)
	page.Visit(env.OpenConsole(t))
	page.AwaitText("All namespaces", "Live", "There is no Installation here yet")
	page.Is(record)

	play(t, stage, "push-component.sh", "deploy-k8s-resources.sh")
	installations := []string{"dataflow-secret", "dataflow-gitrepository", "dataflow-root"}
	page.AwaitText(installations...)
	page.Photograph("example-running")
	if err := stage.Wait(t.Context(), t.Output(), installations...); err != nil {
		t.Fatal(err)
	}
	page.Await(`[...document.querySelectorAll(".rows li .badge")].map((badge) => badge.textContent).join() === "Ready,Ready,Ready"`)
	page.Photograph("example-succeeded")
	for _, name := range installations {
		seen := page.Evaluate(`(window.seen["` + name + `"] ?? []).join(" ")`)
		t.Logf("%s was %s", name, seen)
		// Only the root waits for Flux; the others may end faster than a page that is busy draws.
		if !strings.HasSuffix(seen, "Ready") || name == "dataflow-root" && !strings.Contains(seen, "Running") {
			t.Errorf("%s was seen as %q: it should have run and then be ready", name, seen)
		}
	}
	showsToken(t, page, token(t, stage))
	if !page.Is(`window.kept`) {
		t.Error("the page was loaded again")
	}
}

// showsToken follows the token from the Installation that exports it to the one that imports it. Its value is
// nowhere.
func showsToken(t *testing.T, page *browser.Tab, value string) {
	t.Helper()
	page.Follow("main", "dataflow-root")
	page.Await(`document.querySelectorAll(".flow .unit.Ready").length === 2`)
	// From left to right: who exports it, the token itself, which is not from outside, and who imports it.
	if !page.Is(`(() => {
		const left = (part, text) => [...document.querySelectorAll(".flow " + part)].find((box) => box.querySelector("text").textContent === text).getBoundingClientRect().left;
		const way = [left(".unit", "dataflow-tokenprovider"), left(".chip:not(.outside)", "token"), left(".unit", "dataflow-tokenconsumer")];
		return way[0] < way[1] && way[1] < way[2];
	})()`) {
		t.Errorf("the way of the token is not there: %s", page.Text())
	}
	page.Photograph("example-flow")
	hidden := func() {
		t.Helper()
		if value == "" || strings.Contains(page.Text(), value) {
			t.Error("the page shows the token, or the Secret lacks it")
		}
	}
	hidden()
	page.Follow(".flow", "dataflow-tokenconsumer")
	page.AwaitText("Comes from", "dataflow-tokenprovider", "token")
	hidden()
	page.Follow("main", "dataflow-tokenprovider")
	page.AwaitText("Imported by", "dataflow-tokenconsumer")
	hidden()
}
