package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/landscape"
)

type budget = landscape.Budget

// spend counts the requests of a server that something costs in a namespace. They must
// not be more than a budget has.
func spend(t *testing.T, space string, limit budget, do func()) []landscape.Request {
	t.Helper()
	list := counted(t, []string{space}, do)
	// Another namespace gets its default Context, for example.
	list = slices.DeleteFunc(list, func(r landscape.Request) bool { return r.Namespace != "" && !strings.HasPrefix(r.Namespace, space) })
	check(t, limit, list)
	return list
}

// counted returns the requests of a server on both clusters while something is done in
// some namespaces.
func counted(t *testing.T, spaces []string, do func()) []landscape.Request {
	t.Helper()
	server := startServer(t, env.ServerKubeconfig)
	// The default Context and what the start costs are not part of the case.
	for _, space := range spaces {
		waitForContext(t, space)
	}
	count, err := landscape.StartCount(t.Context(),
		landscape.Caller{Cluster: env.Resource, User: serverUser}, landscape.Caller{Cluster: env.Target, User: "landscaper-deployer"})
	if err != nil {
		t.Fatal(err)
	}
	do()
	// A server that ends sends what it still has to say, so that nothing is missed.
	server.EndBy(syscall.SIGTERM)
	list, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// check compares requests with a budget.
func check(t *testing.T, limit budget, list []landscape.Request) {
	t.Helper()
	requests := map[string]int{}
	for _, request := range list {
		requests[request.Key()+" "+request.Path]++
	}
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		t.Logf("%3d %s", requests[key], key)
	}
	spent := landscape.Spent(list)
	t.Logf("%+v", spent)
	if !limit.Keeps(spent) || spent.Writes == 0 {
		t.Errorf("%+v, at most %+v", spent, limit)
	}
}

// readyWhenOpen lets the item wait for a field of its ConfigMap.
var readyWhenOpen = strings.Replace(oneConfigMap, "    updateStrategy: update\n", `    updateStrategy: update
    readinessChecks: {custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: NAME, namespace: NAMESPACE}], requirements: [{jsonPath: .data.open, operator: exists}]}]}
`, 1)

// budgets are what the cases cost that most landscapes consist of. What is read besides is
// each import of a root, and may be a question because a cache is behind.
var budgets = []struct {
	reason string
	limit  budget
	do     func(t *testing.T, space string)
}{
	{"the smallest case", landscape.Smallest, func(t *testing.T, space string) {
		t.Helper()
		waitSucceeded(t, create(t, newInstallation(space, "smallest", oneConfigMap)))
	}},
	{"with warnings: no write more, an event for each kind of them", landscape.Smallest.Plus(budget{Events: 2}), func(t *testing.T, space string) {
		t.Helper()
		checkWarnings(t, waitSucceeded(t, create(t, misspelt(space, "warned"))))
	}},
	{"the smallest case once more without a change: 8 more, and the object is read", landscape.Smallest.Plus(landscape.Again), func(t *testing.T, space string) {
		t.Helper()
		first := waitSucceeded(t, create(t, newInstallation(space, "smallest", oneConfigMap)))
		request(t, first, v1alpha1.ReconcileOperation)
		waitDone(t, first, first.Status.JobID)
	}},
	{"the smallest case and its deletion: 8 more", landscape.Smallest.Plus(landscape.Deletion), func(t *testing.T, space string) {
		t.Helper()
		gone := waitSucceeded(t, create(t, newInstallation(space, "smallest", oneConfigMap)))
		if err := env.Admin.Delete(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, gone, &v1alpha1.InstallationList{})
	}},
	{"further items: 4 each", landscape.Smallest.Plus(landscape.Item.Times(9)), func(t *testing.T, space string) {
		t.Helper()
		waitSucceeded(t, create(t, newInstallation(space, "items", landscape.ConfigMaps(10))))
	}},
	{"a subinstallation with an export execution: its 13, and 6 of the root", landscape.Smallest.Plus(budget{Writes: 7, Events: 2, Reads: 4}), func(t *testing.T, space string) {
		t.Helper()
		waitSucceeded(t, createTree(t, space, "root", "", flow("part", "", "")))
	}},
	{"an export: its object, and the plan that is stored and deleted", landscape.Smallest.Plus(budget{Writes: 3, Events: 1, Reads: 4}), func(t *testing.T, space string) {
		t.Helper()
		inst := newInstallation(space, "exporting", oneConfigMap)
		inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "out"}}
		inst.Spec.ExportDataMappings = map[string]v1alpha1.AnyJSON{"x": v1alpha1.NewAnyJSON([]byte("7"))}
		waitSucceeded(t, create(t, inst))
	}},
	{"a release of Helm: its record twice, and the Secret with its exports", landscape.Smallest.Plus(budget{Writes: 3, Events: 0, Reads: 3}), func(t *testing.T, space string) {
		t.Helper()
		files := map[string]string{"values.yaml": greeter["values.yaml"], "templates/greeting.yaml": greeter["templates/greeting.yaml"]}
		waitSucceeded(t, create(t, newInstallation(space, "greeter", landscape.HelmItem(packed(t, "1.0.0", files), ""))))
	}},
	{"a readiness check that waits: one more, which says so", landscape.Smallest.Plus(budget{Writes: 1, Events: 0, Reads: 1}), func(t *testing.T, space string) {
		t.Helper()
		inst := create(t, newInstallation(space, "waiting", readyWhenOpen))
		waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "waiting", func(item *v1alpha1.DeployItem) bool {
			reconciling := job.GetCondition(item.Status.Conditions, v1alpha1.ReconcilingCondition)
			return reconciling != nil && reconciling.Reason == "Waiting"
		})
		setData(t, space, "waiting", "open", "yes")
		waitSucceeded(t, inst)
	}},
	{"a root that waits for an export: three more, for the wait and what keeps the exporter; the exporter has its export, three for its own wait, and one for who imports", landscape.Smallest.Times(2).Plus(budget{Writes: 3 + 3 + 3 + 1, Events: 1, Reads: 9}), func(t *testing.T, space string) {
		t.Helper()
		giver := newInstallation(space, "giver", readyWhenOpen)
		giver.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "out"}}
		giver.Spec.ExportDataMappings = map[string]v1alpha1.AnyJSON{"x": v1alpha1.NewAnyJSON([]byte("7"))}
		giver = create(t, giver)
		taker := newInstallation(space, "taker", oneConfigMap)
		taker.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "x", DataRef: "out"}}
		taker = create(t, taker)
		waitFor(t, client.ObjectKeyFromObject(taker), "saying what the exporter waits for", func(inst *v1alpha1.Installation) bool {
			return strings.Contains(job.Obstacle(inst.Status.Conditions), "at item one")
		})
		setData(t, space, "giver", "open", "yes")
		waitSucceeded(t, giver)
		waitSucceeded(t, taker)
	}},
	{"a chain of 30: 5 each, however long, and one of the root", budget{Writes: 5, Events: 2, Reads: 1}.Times(30).Plus(budget{Writes: 1, Events: 2, Reads: 3}), func(t *testing.T, space string) {
		t.Helper()
		waitSucceeded(t, create(t, landscape.NewTree(space, "root", landscape.Chain(30))))
	}},
	{"a tree of 3 levels: 3 each, however wide", budget{Writes: 3, Events: 2, Reads: 1}.Times(landscape.Nodes(6, 7)), func(t *testing.T, space string) {
		t.Helper()
		waitSucceeded(t, create(t, landscape.NewTree(space, "root", landscape.Nested(6, 7))))
	}},
	{"50 items: 4 each, however many", landscape.Smallest.Plus(landscape.Item.Times(49)), func(t *testing.T, space string) {
		t.Helper()
		waitSucceeded(t, create(t, newInstallation(space, "many", landscape.ConfigMaps(50))))
	}},
}

// TestBudget counts the requests of each case in the audit logs of both clusters, when the
// target cluster is known.
func TestBudget(t *testing.T) {
	spaces := make([]string, len(budgets))
	for i := range budgets {
		spaces[i] = namespace(t)
	}
	warm := namespace(t)
	list := counted(t, append(spaces, warm), func() {
		waitSucceeded(t, create(t, newInstallation(warm, "first", oneConfigMap)))
		for i, test := range budgets {
			test.do(t, spaces[i])
		}
	})
	for i, test := range budgets {
		t.Run(test.reason, func(t *testing.T) {
			check(t, test.limit, slices.DeleteFunc(slices.Clone(list), func(r landscape.Request) bool { return r.Namespace != spaces[i] }))
		})
	}
	t.Run("a cluster is discovered once", func(t *testing.T) {
		list := slices.DeleteFunc(list, func(r landscape.Request) bool { return r.Namespace != "" || r.Cluster != env.Target.Name })
		if len(list) > 5 {
			t.Errorf("%d requests: %+v", len(list), list)
		}
	})
}

// TestSizes bounds what the writes of the smallest case weigh, the user's own create
// included, and its objects when it has come to rest.
func TestSizes(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	waitForContext(t, space)
	traffic, err := landscape.StartTraffic(t.Context(), env.Resource.Kubeconfig, space)
	if err != nil {
		t.Fatal(err)
	}
	waitSucceeded(t, create(t, newInstallation(space, "smallest", oneConfigMap)))
	sent := traffic.Stop()
	t.Logf("a watch got %+v", sent)
	if sent.Objects == 0 || sent.Bytes > landscape.SmallestBytes {
		t.Errorf("%d events with %d bytes, at most %d bytes", sent.Objects, sent.Bytes, landscape.SmallestBytes)
	}
	rest, err := landscape.AtRest(t.Context(), env.Resource.Kubeconfig, space)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("at rest there are %+v", rest)
	if rest.Status == 0 || rest.Status > landscape.SmallestStatus {
		t.Errorf("all status of %d objects have %d bytes, at most %d", rest.Objects, rest.Status, landscape.SmallestStatus)
	}
	if rest.Managed == 0 || rest.Managed > landscape.SmallestManaged {
		t.Errorf("managed fields have %d bytes, at most %d", rest.Managed, landscape.SmallestManaged)
	}
}

// TestChainBudget bounds the cost of each subinstallation of a chain that passes a value from one
// to the next.
func TestChainBudget(t *testing.T) {
	const length = 6
	space := namespace(t)
	leaves := make([]leaf, length)
	for i := range leaves {
		from := ""
		if i > 0 {
			from = fmt.Sprint("value-", i-1)
		}
		leaves[i] = flow(fmt.Sprint("part-", i), from, fmt.Sprint("value-", i))
	}
	// Each has its item with one object, the copies of two imports and an export; the root
	// is as cheap as one of them. Results of children are read from the API server once
	// for each look at a job that has ended; its stored plan is remembered.
	const each = 15
	spend(t, space, budget{Writes: each*(length+1) + 1, Events: 2 * length, Reads: 5 * (length + 1)}, func() {
		waitSucceeded(t, createTree(t, space, "root", "", leaves...))
	})
}

// TestFailingBudget: what fails is tried with growing pauses, and each attempt costs
// little.
func TestFailingBudget(t *testing.T) {
	const many, attempts = 5, 5
	space := namespace(t)
	template := strings.NewReplacer("namespace: NAMESPACE", "namespace: NAMESPACE-nowhere", "- name: one", "- name: one\n  timeout: 8s").Replace(oneConfigMap)
	// There are attempts after 0, 1, 3, 7 and 8 seconds.
	list := spend(t, space, budget{Writes: many * (12 + attempts), Events: 4 * many, Reads: many * attempts}, func() {
		var all []*v1alpha1.Installation
		for i := range many {
			all = append(all, create(t, newInstallation(space, fmt.Sprint("failing-", i), template)))
		}
		for _, inst := range all {
			if done := waitFinished(t, inst, ""); done.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed {
				t.Errorf("%s is %s", inst.Name, done.Status.InstallationPhase)
			}
		}
	})
	sums := landscape.Sums(list)
	for _, key := range []string{env.Target.Name + " create configmaps", env.Resource.Name + " update deployitems.landscaper.gardener.cloud/status"} {
		// On a machine that stalls some of them are left out.
		if sums[key] > many*attempts || sums[key] < 2*many {
			t.Errorf("%s: %d times", key, sums[key])
		}
	}
}

// TestWaitingMakesNoRequests lets Installations wait for a deployer that does not exist,
// and for what these export, beside some that have come to rest, while others do their
// work, and shows that it costs nothing meanwhile.
func TestWaitingMakesNoRequests(t *testing.T) {
	startServer(t, env.ServerKubeconfig, "--pickup-timeout", "0")
	space := namespace(t)
	inst := newInstallation(space, "patient", unservedItem)
	inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "out-of-patient"}}
	create(t, inst)
	waitFor(t, client.ObjectKeyFromObject(inst), "waiting", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "triggered", func(item *v1alpha1.DeployItem) bool {
		return item.Status.JobID != ""
	})
	waitSucceeded(t, create(t, newInstallation(space, "at-rest", oneConfigMap)))
	blocked := map[string]string{}
	for i := range 5 {
		waits := create(t, passingOn(t, space, fmt.Sprint("blocked-", i), "out-of-patient", asked))
		blocked[waits.Name] = "ImportsSatisfied"
	}
	stuck := flow("stuck", "", "w")
	stuck.ready = "{custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: note-stuck, namespace: " + space + "}], requirements: [{jsonPath: .data.open, operator: exists}]}]}"
	root := createTree(t, space, "tree", "", stuck, flow("after", "w", ""), flow("also", "w", ""))
	progressing := waitFor(t, client.ObjectKeyFromObject(root), "progressing", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	subs := subsOf(t, progressing)
	for _, name := range []string{"after", "also"} {
		blocked[subs[name].Name] = "AllPredecessorsFinished"
	}
	for name, reason := range blocked {
		waitFor(t, client.ObjectKey{Namespace: space, Name: name}, "blocked", func(inst *v1alpha1.Installation) bool {
			return inst.Status.LastError != nil && inst.Status.LastError.Reason == reason
		})
	}
	item := waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "stuck", func(item *v1alpha1.DeployItem) bool {
		return strings.HasPrefix(item.Name, subs["stuck"].Name) && slices.ContainsFunc(item.Status.Conditions, func(c v1alpha1.Condition) bool {
			return c.Type == v1alpha1.ReconcilingCondition && c.Reason == "Waiting"
		})
	})
	env.WaitShownAbove(t, item, "note-stuck")
	wantNoRequests(t, space)
}
