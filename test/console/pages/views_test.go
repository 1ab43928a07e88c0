package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/test/console/browser"
)

// ago is a time before now.
func ago(seconds int) *metav1.Time {
	at := metav1.NewTime(time.Now().Add(-time.Duration(seconds) * time.Second).Truncate(time.Second))
	return &at
}

// never stands for what has not happened.
const never = -1

// times are how many seconds ago a job was assigned, begun, written and ended.
func times(asked, begun, written, ended int) *v1alpha1.TransitionTimes {
	all := &v1alpha1.TransitionTimes{}
	for _, one := range []struct {
		into    **metav1.Time
		seconds int
	}{{&all.TriggerTime, asked}, {&all.InitTime, begun}, {&all.WaitTime, written}, {&all.FinishedTime, ended}} {
		if one.seconds != never {
			*one.into = ago(one.seconds)
		}
	}
	return all
}

// part is an Installation of the job 2.
func part(name, parent string, stages *v1alpha1.TransitionTimes, change func(*v1alpha1.Installation)) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	if parent != "" {
		inst.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		inst.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: name[strings.LastIndex(name, "-")+1:]}
	}
	inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.TransitionTimes = "2", "1", stages
	inst.Status.InstallationPhase, inst.Status.PhaseTransitionTime = v1alpha1.InstallationPhases.Progressing, ago(60)
	if stages.FinishedTime != nil {
		inst.Status.JobIDFinished, inst.Status.InstallationPhase, inst.Status.PhaseTransitionTime = "2", v1alpha1.InstallationPhases.Succeeded, stages.FinishedTime
	}
	inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Namespace: "shop", Name: name}
	change(inst)
	return inst
}

func wires(imports, exports string) func(*v1alpha1.Installation) {
	return func(inst *v1alpha1.Installation) {
		for _, name := range strings.Fields(imports) {
			inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: name, DataRef: name})
		}
		for _, name := range strings.Fields(exports) {
			inst.Spec.Exports.Data = append(inst.Spec.Exports.Data, v1alpha1.DataExport{Name: name, DataRef: name})
		}
		inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "eu", Target: "eu"}, {Name: "us", Target: "us"}}
	}
}

// execution is that of an Installation, with one item on a Target.
func execution(of, item, target string, stages *v1alpha1.TransitionTimes) (*v1alpha1.Execution, *v1alpha1.DeployItem) {
	e := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: of, UID: types.UID("exec-" + of)}}
	e.Status.JobID, e.Status.JobIDFinished, e.Status.TransitionTimes, e.Status.ExecutionPhase = "2", "1", stages, v1alpha1.ExecutionPhases.Progressing
	d := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: item + "-x7k2p", UID: types.UID("item-" + of), Labels: map[string]string{
		v1alpha1.ExecutionManagedByLabel: of, v1alpha1.ExecutionManagedNameLabel: item,
	}}}
	d.Spec.Type, d.Spec.Target = v1alpha1.HelmDeployItemType, &v1alpha1.ObjectReference{Namespace: "shop", Name: target}
	d.Spec.Configuration = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"helm.deployer.landscaper.gardener.cloud/v1alpha1","kind":"ProviderConfiguration","name":"` + item + `","values":{"password":"hunter2hunter2","replicas":3,"tls":true}}`)}
	d.Status.JobID, d.Status.JobIDFinished, d.Status.TransitionTimes, d.Status.Phase, d.Status.PhaseTransitionTime = "2", "1", stages, v1alpha1.DeployItemPhases.Progressing, ago(50)
	if stages.FinishedTime != nil {
		e.Status.JobIDFinished, e.Status.ExecutionPhase = "2", v1alpha1.ExecutionPhases.Succeeded
		d.Status.JobIDFinished, d.Status.Phase = "2", v1alpha1.DeployItemPhases.Succeeded
	}
	return e, d
}

func lasting(seconds int) *v1alpha1.Duration {
	return v1alpha1.NewDuration(time.Duration(seconds) * time.Second)
}

// histories are the jobs 2 and 1 of a part.
func histories(second, first v1alpha1.JobRecord) []v1alpha1.JobRecord {
	second.JobID, first.JobID = "2", "1"
	second.Trigger, first.Trigger = v1alpha1.TriggeredByParent, v1alpha1.TriggeredByParent
	return []v1alpha1.JobRecord{second, first}
}

// platformHistory is that of the root: a job that runs, and two that a client has asked for.
func platformHistory() []v1alpha1.JobRecord {
	prints := func(subnet string) []v1alpha1.ImportFingerprint {
		return []v1alpha1.ImportFingerprint{{Name: "eu", Fingerprint: "b5bb9d8014a0"}, {Name: "subnet", Fingerprint: subnet}, {Name: "us", Fingerprint: "7d865e959b24"}}
	}
	return []v1alpha1.JobRecord{
		{JobID: "2", Trigger: v1alpha1.TriggeredByImports, Component: "example.org/platform:2.5.0", Generation: 7, ImportsHash: "486ea46224d1", Imports: prints("3fc4ccfe7458")},
		{JobID: "1", Trigger: v1alpha1.TriggeredByReconcile, RequestedBy: "kubectl-annotate", Phase: v1alpha1.InstallationPhases.Failed, Reason: string(reasons.ClusterUnreachable), Component: "example.org/platform:2.4.1", Generation: 6, ImportsHash: "4bb4f622cb2f", Imports: prints("e258d248fda9"), Start: ago(86_400), Preparing: lasting(4), Running: lasting(655)},
		{JobID: "0", Trigger: v1alpha1.TriggeredByForceReconcile, RequestedBy: "landscaper-console", Phase: v1alpha1.InstallationPhases.Succeeded, Component: "example.org/platform:2.4.1", Generation: 6, ImportsHash: "4bb4f622cb2f", Start: ago(2 * 86_400), Preparing: lasting(3), Running: lasting(71)},
	}
}

// platform is a job under way: network has ended, database runs and does not reach its cluster, and the
// shop, which has parts of its own, waits for the database.
func platform() inspect.Snapshot {
	s := inspect.Snapshot{Now: time.Now()}
	add := func(installation *v1alpha1.Installation) { s.Installations = append(s.Installations, installation) }
	deploys := func(of, item, target string, stages *v1alpha1.TransitionTimes) *v1alpha1.DeployItem {
		e, d := execution(of, item, target, stages)
		s.Executions, s.DeployItems = append(s.Executions, e), append(s.DeployItems, d)
		return d
	}
	none := func(inst *v1alpha1.Installation) { inst.Status.ExecutionReference = nil }
	add(part("platform", "", times(200, 199, 190, never), func(inst *v1alpha1.Installation) {
		none(inst)
		inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "eu", Target: "prod-eu"}, {Name: "us", Target: "prod-us"}}
		inst.Status.History = platformHistory()
	}))
	add(part("platform-network", "platform", times(190, 188, 185, 120), func(inst *v1alpha1.Installation) {
		wires("", "subnet")(inst)
		inst.Status.History = histories(v1alpha1.JobRecord{Phase: v1alpha1.InstallationPhases.Succeeded, Running: lasting(65)}, v1alpha1.JobRecord{Phase: v1alpha1.InstallationPhases.Succeeded, Running: lasting(20)})
	}))
	deploys("platform-network", "subnets", "prod-eu", times(185, 180, never, 121)).Spec.Target.Name = v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("platform"), "eu")
	add(part("platform-monitoring", "platform", times(190, 187, 184, 150), wires("", "dashboard")))
	deploys("platform-monitoring", "grafana", "prod-us", times(184, 182, never, 151)).Spec.Target.Name = v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("platform"), "us")
	add(part("platform-database", "platform", times(190, 189, 110, never), func(inst *v1alpha1.Installation) {
		wires("subnet", "address login")(inst)
		inst.Status.History = histories(v1alpha1.JobRecord{ImportsHash: "9f86d081884c"}, v1alpha1.JobRecord{Phase: v1alpha1.InstallationPhases.Failed, Reason: string(reasons.ClusterUnreachable), ImportsHash: "60303ae22b99", Running: lasting(600)})
		inst.Status.InstallationPhase = v1alpha1.InstallationPhases.Progressing
	}))
	postgres := deploys("platform-database", "postgres", "prod-eu", times(110, 105, never, never))
	postgres.Spec.Target.Name = v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("platform"), "eu")
	postgres.Status.LastError = &v1alpha1.Error{
		Operation: "Connect", Reason: string(reasons.ClusterUnreachable), LastUpdateTime: *ago(20), Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnfinished},
		Message: "the cluster of Target prod-eu does not answer: dial tcp 10.1.0.7:443: i/o timeout; another attempt follows in 1m0s",
	}
	add(part("platform-shop", "platform", times(190, 189, never, never), func(inst *v1alpha1.Installation) {
		wires("address login dashboard", "")(inst)
		inst.Status.InstallationPhase = v1alpha1.InstallationPhases.Init
		inst.Status.LastError = &v1alpha1.Error{Reason: string(reasons.AllPredecessorsFinished), Message: "waiting for Installation platform-database, whose exports are imported", Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnfinished}, LastUpdateTime: *ago(180)}
		none(inst)
	}))
	earlier := func(name, imports, exports string) {
		add(part(name, "platform-shop", times(9000, 8999, 8990, 8900), func(inst *v1alpha1.Installation) {
			wires(imports, exports)(inst)
			inst.Status.JobID, inst.Status.JobIDFinished = "1", "1"
			none(inst)
		}))
	}
	earlier("platform-shop-cart", "address", "cart")
	earlier("platform-shop-web", "cart", "")
	for _, name := range []string{"prod-eu", "prod-us", "staging"} {
		s.Values = append(s.Values, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Target"}, ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Annotations: map[string]string{v1alpha1.DataObjectHashAnnotation: "0123456789abcdef"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Time: ago(12 * 86_400), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:config":{}}}`)}},
		}})
	}
	s.Values[2].Annotations = map[string]string{
		v1alpha1.TargetSyncNameAnnotation: "garden", v1alpha1.ShootNameAnnotation: "staging", v1alpha1.ShootNamespaceAnnotation: "garden-shop", v1alpha1.LastTargetSyncAnnotation: ago(4 * 3600).UTC().Format(time.RFC3339),
	}
	sync := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "garden", UID: "sync"}}
	sync.Spec.SourceNamespace, sync.Spec.TokenRotation = "garden-shop", &v1alpha1.TokenRotation{Enabled: true}
	sync.Status = v1alpha1.TargetSyncStatus{SyncedTargets: 1, FailedTargets: 1, LastTokenRotationTime: ago(30 * 86_400), LastSuccessTime: ago(7200), Conditions: []v1alpha1.Condition{
		{Type: v1alpha1.TargetSyncReady, Status: v1alpha1.ConditionFalse, Reason: string(reasons.ItemsFailed), Message: "1 of 2 could not be synchronised; status.items tells why", LastTransitionTime: *ago(7200)},
		{Type: v1alpha1.TargetSyncSourceReachable, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Listed), Message: "the source was listed completely", LastTransitionTime: *ago(40 * 86_400)},
	}, Items: []v1alpha1.TargetSyncItem{{Name: "load-test", State: v1alpha1.TargetSyncItemFailed, Message: "request credentials of shoot load-test: the shoot has no API server yet"}}}
	s.TargetSyncs = []*v1alpha1.TargetSync{sync}
	s.Events = []*corev1.Event{
		{InvolvedObject: corev1.ObjectReference{UID: "platform"}, Type: "Normal", Reason: string(reasons.JobRequested), Message: "Installation shop/base has succeeded with other exports", FirstTimestamp: *ago(200)},
		{InvolvedObject: corev1.ObjectReference{UID: "item-platform-database"}, Type: "Warning", Reason: string(reasons.ClusterUnreachable), Message: "the cluster of Target prod-eu does not answer", LastTimestamp: *ago(20), Count: 4},
	}
	return s
}

// addresses are all pages of a landscape by a name for their pictures, with a text that each has.
var addresses = []struct{ name, path, text string }{
	{"page", "/n/shop/platform?open=platform-shop&zoom=0.8", "critical path"},
	{"why", "/why/Installation/shop/platform-shop", "imports address, login from"},
	{"targets", "/targets", "load-test"},
	{"target", "/targets/shop/prod-eu", "does not answer"},
	{"sync", "/objects/TargetSync/shop/garden", "SourceReachable"},
	{"jobs", "/jobs", "Installation shop/base has succeeded"},
	{"compare", "/compare/shop/platform", "example.org/platform:2.4.1"},
	{"object", "/objects/DeployItem/shop/postgres-x7k2p", "ProviderConfiguration"},
}

// viewer is a browser at a console.
type viewer struct {
	*browser.Tab

	t       *testing.T
	address string
}

func openPlatform(t *testing.T, snapshot inspect.Snapshot) *viewer {
	t.Helper()
	w := newWorld()
	w.snapshot = snapshot
	page, address, _, _ := open(t, w)
	return &viewer{page, t, "http://" + address}
}

// TestViews: each page says what it is for, and no value.
func TestViews(t *testing.T) {
	v := openPlatform(t, platform())
	for _, view := range addresses {
		v.Visit(v.address + view.path)
		v.AwaitText(view.text)
		v.Photograph("view-" + view.name)
		if v.Is(`document.body.innerText.includes("hunter2")`) {
			t.Errorf("%s shows a value", view.path)
		}
	}
}

// TestTimeline: the bars of the critical path are marked, and a wait has a colour of its own.
func TestTimeline(t *testing.T) {
	v := openPlatform(t, platform())
	v.Visit(v.address + "/n/shop/platform")
	v.AwaitText("Timeline", "the job runs for")
	said := func(name string) string {
		return `[...document.querySelectorAll(".timeline li")].find((line) => line.querySelector("a")?.textContent === "` + name + `").querySelector("svg.bar")`
	}
	for _, want := range []string{
		said("database") + `.ariaLabel.startsWith("waits for others 1 min 10 s, at work 10 s, objects below work") `,
		said("database") + `.ariaLabel.endsWith("on the critical path")`,
		said("shop") + `.ariaLabel.endsWith("until now; on the critical path")`,
		"!" + said("monitoring") + `.ariaLabel.includes("critical")`,
		said("database") + `.querySelector(".waits").width.baseVal.value > 100`,
	} {
		if !v.Is(want) {
			t.Errorf("not so: %s; %s", want, v.Text())
		}
	}
}

// TestFlowControls: what is chosen of the picture is in the address, and a keyboard chooses it, too.
func TestFlowControls(t *testing.T) {
	v := openPlatform(t, platform())
	v.Visit(v.address + "/n/shop/platform")
	v.AwaitText("Data flow", "Target prod-eu", "Target prod-us")
	v.Await(`document.activeElement?.tagName === "H1"`)
	v.Is(`document.querySelector(".toggle").focus()`)
	v.Do(chromedp.KeyEvent("\r"))
	v.Await(`location.search === "?open=platform-shop" && document.querySelectorAll(".flow .unit").length === 6`)
	v.Do(chromedp.KeyEvent("\r"))
	v.Await(`location.search === "" && document.querySelectorAll(".flow .unit").length === 4`)
	for label, want := range map[string]string{"Larger": "zoom=1.25", "Targets": "borders=no", "Open all": "open=platform-shop"} {
		v.Is(`[...document.querySelectorAll(".controls button")].find((button) => button.ariaLabel === "` + label + `" || button.textContent === "` + label + `").click()`)
		v.Await(`location.search.includes("` + want + `")`)
	}
	v.Await(`document.querySelectorAll(".band").length === 0`)
	// The address that was sent shows the same.
	v.Visit(v.address + "/n/shop/platform?open=platform-shop&zoom=1.25&borders=no")
	v.Await(`document.querySelectorAll(".flow .unit").length === 6 && document.querySelectorAll(".band").length === 0`)
}

// hostilePlatform is a landscape in which others have written whatever the API lets them write.
func hostilePlatform() inspect.Snapshot {
	const markup = `<img src=x onerror="document.title='hurt'"><b>bold</b>`
	evil := markup + "\x1b[31mred\x07\u202egnp.exe\u2066 " + strings.Repeat("long", 25_000)
	s := platform()
	for _, inst := range s.Installations {
		if inst.Status.LastError != nil {
			inst.Status.LastError.Message = evil
		}
		for i := range inst.Spec.Exports.Data {
			if inst.Spec.Exports.Data[i].Name == "address" {
				inst.Spec.Exports.Data[i].DataRef = evil
			}
		}
		for i := range inst.Spec.Imports.Data {
			if inst.Spec.Imports.Data[i].Name == "address" {
				inst.Spec.Imports.Data[i].DataRef = evil
			}
		}
		for i := range inst.Status.History {
			record := &inst.Status.History[i]
			record.RequestedBy, record.Reason, record.Component, record.Phase = evil, evil, evil, v1alpha1.InstallationPhase(evil)
			for j := range record.Imports {
				record.Imports[j].Name, record.Imports[j].Fingerprint = fmt.Sprint(j, evil), fmt.Sprint(i, evil)
			}
		}
		if inst.Name != "platform" {
			inst.Annotations[v1alpha1.SubinstallationNameAnnotation] = fmt.Sprintf("%d%s", len(inst.Name), evil)
		}
	}
	for _, item := range s.DeployItems {
		item.Labels[v1alpha1.ExecutionManagedNameLabel] = evil
		item.Spec.Type = v1alpha1.DeployItemType(evil)
		item.Annotations = map[string]string{"note": evil}
		if item.Status.LastError != nil {
			item.Status.LastError.Message, item.Status.LastError.Operation = evil, evil
			item.Status.LastError.Codes = []v1alpha1.ErrorCode{v1alpha1.ErrorCode(evil)}
		}
		item.Status.Conditions = []v1alpha1.Condition{{Type: "Odd", Status: "True", Reason: evil, Message: evil}}
	}
	for _, value := range s.Values {
		value.Annotations[v1alpha1.TargetSyncNameAnnotation], value.Annotations[v1alpha1.ShootNameAnnotation] = evil, evil
	}
	sync := s.TargetSyncs[0]
	sync.Spec.SourceNamespace, sync.Status.Conditions[0].Message, sync.Status.LastErrors = evil, evil, []string{evil}
	sync.Status.Items[0].Name, sync.Status.Items[0].Message = evil, evil
	for _, event := range s.Events {
		event.Message = evil
	}
	return s
}

// TestHostileViews: what others write is text on each page, also if it is long, and no page becomes
// wider than a phone.
func TestHostileViews(t *testing.T) {
	v := openPlatform(t, hostilePlatform())
	v.Do(chromedp.EmulateViewport(390, 844))
	for _, view := range addresses {
		v.Visit(v.address + view.path)
		v.AwaitText("<b>bold</b>")
		if !v.Is(`document.querySelectorAll("main img, main .message b, main script, main pre *").length === 0 && document.title !== "hurt"`) {
			t.Errorf("%s: markup of others became a part of the page", view.path)
		}
		if !v.Is(`!/[\u001b\u0007\u202e\u2066]/.test(document.documentElement.outerHTML)`) {
			t.Errorf("%s has characters that do something", view.path)
		}
		if !v.Is(`document.documentElement.scrollWidth <= 390`) {
			t.Errorf("%s is wider than the screen", view.path)
		}
	}
}

// TestWidthOfViews: nothing but what scrolls by itself is wider than the screen of a phone.
func TestWidthOfViews(t *testing.T) {
	v := openPlatform(t, platform())
	v.Do(chromedp.EmulateViewport(390, 844))
	for _, view := range addresses {
		v.Visit(v.address + view.path)
		v.AwaitText(view.text)
		if !v.Is(`document.documentElement.scrollWidth <= 390`) {
			t.Errorf("%s is wider than the screen", view.path)
		}
	}
}

// TestCompareJobs: the history leads to the comparison of two jobs, which says what differs; others are chosen
// in the page, and the address has what is chosen.
func TestCompareJobs(t *testing.T) {
	v := openPlatform(t, platform())
	v.Visit(v.address + "/n/shop/platform")
	v.AwaitText("a client that calls itself kubectl-annotate")
	v.Follow("main", "compare")
	row := func(part, name string) string {
		return `[...document.querySelectorAll("` + part + ` tbody tr")].find((row) => row.cells[0].innerText.trim().split("\n")[0] === "` + name + `")`
	}
	v.Await(`location.pathname === "/compare/shop/platform" && location.search === "?one=2" && document.title === "Two jobs of platform"`)
	facts, imports, parts := `section[aria-labelledby=facts]`, `section[aria-labelledby=imports]`, `section[aria-labelledby=parts]`
	v.Await(row(facts, "Component"))
	for _, want := range []string{
		row(facts, "Component") + `.innerText.includes("differs")`,
		row(facts, "By") + `.innerText.includes("kubectl-annotate")`,
		"!/same|differs/.test(" + row(facts, "Queued") + `.innerText)`,
		row(imports, "subnet") + `.innerText.includes("differs")`,
		row(imports, "eu") + `.innerText.includes("same")`,
		row(parts, "database") + `.innerText.includes("how it ended, the imports")`,
		row(parts, "network") + `.innerText.includes("nothing but time")`,
	} {
		if !v.Is(want) {
			t.Errorf("not so: %s; %s", want, v.Text())
		}
	}
	choose := func(label, value string) {
		v.Is(`(() => { const list = [...document.querySelectorAll(".choice label")].find((one) => one.innerText.startsWith("` + label + `")).querySelector("select"); list.value = "` + value + `"; return list.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	}
	choose("Earlier", "0")
	v.Await(`location.search === "?one=2&other=0"`)
	choose("Later", "1")
	v.Await(`location.search === "?one=1&other=0"`)
	v.Await(row(facts, "Component") + `?.innerText.includes("same")`)
	v.Await(row(imports, "subnet") + `?.innerText.includes("same")`)
	v.Visit(v.address + "/compare/shop/platform?one=1&other=absent")
	v.AwaitText("Choose two jobs")
	v.Visit(v.address + "/compare/shop/absent")
	v.AwaitText("There is no Installation absent")
}
