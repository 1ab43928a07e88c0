package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/test/console/browser"
	"go.landscaper.dev/test/scenario"
)

const (
	own    = `targets: [{name: cluster, target: cluster}]`
	markup = `<img src=x onerror="document.title='hurt'"><b>bold</b>`
)

// shop is a root of three parts: network exports what database imports, and that what web imports.
// The database is not ready until the field open of its ConfigMap is yes.
func shop(t *testing.T, space string) *v1alpha1.Installation {
	t.Helper()
	declared := func(imported, exported string) string {
		text := scenario.SingleImport
		if imported != "" {
			text = strings.TrimSuffix(text, "]") + `, {name: ` + imported + `, schema: {type: string}}]`
		}
		if exported != "" {
			text += "\nexports: [{name: " + exported + ", schema: {type: string}}]\nexportExecutions: [{name: e, type: GoTemplate, template: 'exports: {" + exported + ": 10.0.0.7}'}]\n"
		}
		return text
	}
	gate := strings.Replace(scenario.YAMLItem("postgres", "manage", `{apiVersion: v1, kind: ConfigMap, metadata: {name: gate, namespace: NAMESPACE}, data: {open: "no"}}`),
		"updateStrategy: update,", `updateStrategy: update, readinessChecks: {custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: gate, namespace: NAMESPACE}], requirements: [{jsonPath: .data.open, operator: "==", values: [{value: "yes"}]}]}]},`, 1)
	return scenario.InstallationOf(space, "shop", scenario.RootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, scenario.WithSubs(scenario.BlueprintOf(t, scenario.SingleImport, ""),
		scenario.SubOf(t, "web", `imports: {`+own+`, data: [{name: address, dataRef: address}]}`, scenario.BlueprintOf(t, declared("address", ""), scenario.Note("web", scenario.OnCluster, `"{{ .imports.address }}"`))),
		scenario.SubOf(t, "database", `{imports: {`+own+`, data: [{name: subnet, dataRef: subnet}]}, exports: {data: [{name: address, dataRef: address}]}}`, scenario.BlueprintOf(t, declared("subnet", "address"), gate)),
		scenario.SubOf(t, "network", `{imports: {`+own+`}, exports: {data: [{name: subnet, dataRef: subnet}]}}`, scenario.BlueprintOf(t, declared("", "subnet"), scenario.Note("subnets", scenario.OnCluster, "a"))),
	)))
}

// billing fails two levels below its root, with a message that repeats a hostile name.
func billing(t *testing.T, space string) *v1alpha1.Installation {
	t.Helper()
	item := strings.Replace(scenario.YAMLItem("worker", "manage", `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+hostileName+`, namespace: NAMESPACE}}`), "- {name: worker,", "- {name: worker, timeout: 5s,", 1)
	wiring := `imports: {` + own + `}`
	return scenario.InstallationOf(space, "billing", scenario.RootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, scenario.WithSubs(scenario.BlueprintOf(t, scenario.SingleImport, ""),
		scenario.SubOf(t, "api", wiring, scenario.WithSubs(scenario.BlueprintOf(t, scenario.SingleImport, ""),
			scenario.SubOf(t, "queue", wiring, scenario.BlueprintOf(t, scenario.SingleImport, item)))))))
}

// hostileName is the name of an object as YAML.
const hostileName = `'<img src=x onerror="document.title=1"><b>bold</b>'`

// hostile names a component with markup; there is no such component.
func hostile(t *testing.T, space string) *v1alpha1.Installation {
	t.Helper()
	inst := scenario.InstallationOf(space, "hostile", scenario.ItemsOn(t, space, "host", scenario.Note("n", scenario.OnCluster, "x")))
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: markup}}
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: markup, Version: "1.0.0"}}
	return inst
}

// TestConsole opens the link, watches an Installation until it has succeeded, and follows a failed one
// to its cause. What others have written is text.
func TestConsole(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	space := env.Namespace(t)
	page := browser.Open(t)
	link := env.OpenConsole(t)
	page.Visit(link)
	page.AwaitText("All namespaces", "Live")
	if status := get(t, link); status != http.StatusForbidden {
		t.Errorf("the link opens the console twice: status %d", status)
	}
	page.Is(`window.kept = true`)

	root := env.Create(t, shop(t, space))
	page.Follow("main", "shop")
	page.AwaitText("Why it is not ready", "database", "subnet", "address")
	// web waits for the database, whose item is not ready: each hop is a link.
	page.Await(`document.querySelector(".unit.Ready")?.textContent.includes("network")`)
	page.Await(`document.querySelector(".way")?.textContent.includes("postgres")`)
	page.Photograph("shop")
	page.Follow(".flow", "web")
	page.AwaitText("waits for", "postgres", "Comes from")
	page.Do(chromedp.NavigateBack())
	page.Await(`document.querySelector("h1")?.textContent.includes("shop")`)

	gate := scenario.ConfigMap(space, "gate")
	if err := env.Workload.Patch(t.Context(), gate, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"open":"yes"}}`))); err != nil {
		t.Fatal(err)
	}
	page.Await(`document.querySelector("h1 .badge")?.textContent === "Ready" && document.querySelectorAll(".flow .unit.Ready").length === 3`)
	if !page.Is(`window.kept`) {
		t.Error("the page was loaded again")
	}
	env.WaitSucceeded(t, root)
	seesFingerprints(t, page, space)

	env.WaitFinished(t, env.Create(t, billing(t, space)), "")
	env.Create(t, hostile(t, space))
	page.Follow("header", "Landscaper")
	page.AwaitText("Needs attention", "billing", "hostile", markup)
	page.Photograph("overview")
	page.Follow("main", "billing")
	page.Follow(".way", "api")
	page.Follow(".way", "queue")
	page.Follow(".way", "worker")
	page.Await(`location.hash.startsWith("#item-") && document.activeElement?.id.startsWith("item-")`)
	page.AwaitText(`<b>bold</b>`, "on Target host")
	page.Photograph("failed")
	if !page.Is(`document.querySelectorAll("main img, main b:not(.counts b), main script").length === 0 && document.title.startsWith("queue-")`) {
		t.Errorf("markup of others became a part of the page: title %s", page.Text())
	}

	page.Do(chromedp.SendKeys(`input[type=search]`, "postgres"))
	page.AwaitText("1 found for “postgres”")
	if !page.Is(`window.kept`) {
		t.Error("the page was loaded again")
	}
}

// seesFingerprints compares what the page of the database shows of an export with the digest of the
// object; the value is nowhere.
func seesFingerprints(t *testing.T, page *browser.Tab, space string) {
	t.Helper()
	objects := &v1alpha1.DataObjectList{}
	if err := env.Admin.List(t.Context(), objects, client.InNamespace(space), client.MatchingLabels{v1alpha1.DataObjectKeyLabel: "address", v1alpha1.DataObjectSourceTypeLabel: "export"}); err != nil || len(objects.Items) != 1 {
		t.Fatalf("%d exports: %v", len(objects.Items), err)
	}
	page.Follow(".flow", "database")
	page.AwaitText("Imported by", objects.Items[0].Annotations[v1alpha1.DataObjectHashAnnotation][:12], string(dataflow.KindDataObject)+" address")
	if strings.Contains(page.Text(), "10.0.0.7") {
		t.Error("the page shows a value")
	}
}

// get returns the status of an answer.
func get(t *testing.T, address string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}
