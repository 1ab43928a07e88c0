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
	"go.landscaper.dev/test/landscape"
)

// budget bounds what our users request on both clusters, without watches and leases.
type budget struct{ writes, events, reads int }

// spend counts the requests of a server that something costs in a namespace. They must
// not be more than a budget has.
func spend(t *testing.T, space string, limit budget, do func()) []landscape.Request {
	t.Helper()
	server := startServer(t, env.serverKubeconfig)
	// The default Context and what the start costs are not part of the case.
	waitForContext(t, space)
	count, err := landscape.StartCount(t.Context(),
		landscape.Caller{Cluster: env.resource, User: serverUser}, landscape.Caller{Cluster: env.target, User: "landscaper-deployer"})
	if err != nil {
		t.Fatal(err)
	}
	do()
	// A server that ends sends what it still has to say, so that nothing is missed.
	server.signal(syscall.SIGTERM)
	list, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Another namespace gets its default Context, for example.
	list = slices.DeleteFunc(list, func(r landscape.Request) bool { return r.Namespace != "" && !strings.HasPrefix(r.Namespace, space) })
	spent, requests := budget{}, map[string]int{}
	for _, request := range list {
		requests[request.Key()+" "+request.Path]++
		switch {
		case strings.HasPrefix(request.Resource, "events"):
			spent.events++
		case request.Verb == "get" || request.Verb == "list":
			spent.reads++
		default:
			spent.writes++
		}
	}
	t.Logf("%+v", spent)
	if spent.writes > limit.writes || spent.events > limit.events || spent.reads > limit.reads || spent.writes == 0 {
		for _, key := range slices.Sorted(maps.Keys(requests)) {
			t.Logf("%3d %s", requests[key], key)
		}
		t.Errorf("%+v, at most %+v", spent, limit)
	}
	return list
}

// TestBudget counts the requests of the smallest case in the audit logs: when it comes,
// when it is asked for again and nothing has changed, and when it goes.
func TestBudget(t *testing.T) {
	space := namespace(t)
	inst := newInstallation(space, "smallest", oneConfigMap)
	for _, test := range []struct {
		reason string
		limit  budget
		do     func(t *testing.T)
	}{
		{"the first job", budget{14, 2, 2}, func(t *testing.T) {
			t.Helper()
			waitSucceeded(t, create(t, inst))
		}},
		{"once more", budget{9, 1, 3}, func(t *testing.T) {
			t.Helper()
			before := getInstallation(t, inst).Status.JobID
			request(t, inst, v1alpha1.ReconcileOperation)
			waitDone(t, inst, before)
		}},
		{"deletion", budget{11, 0, 3}, func(t *testing.T) {
			t.Helper()
			if err := env.admin.Delete(t.Context(), inst.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			waitGone(t, env.admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		}},
	} {
		t.Run(test.reason, func(t *testing.T) { spend(t, space, test.limit, func() { test.do(t) }) })
	}
}

// TestChainBudget bounds what each of a chain of subinstallations costs that hand a
// value from one to the next.
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
	// is as cheap as one of them. How often a job reads its stored plan depends on how
	// many of its wakes fall together: seven reads each is what they are when none do.
	const each = 16
	spend(t, space, budget{each * (length + 1), 2 * length, 7 * (length + 1)}, func() {
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
	list := spend(t, space, budget{many * (14 + attempts), 4 * many, many * attempts}, func() {
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
	for _, key := range []string{env.target.Name + " create configmaps", env.resource.Name + " update deployitems.landscaper.gardener.cloud/status"} {
		if sums[key] > many*attempts || sums[key] < 3*many {
			t.Errorf("%s: %d times", key, sums[key])
		}
	}
}

// TestWaitingMakesNoRequests lets Installations wait for a deployer that does not exist,
// and for what these export, beside some that have come to rest, while others do their
// work, and shows that it costs nothing meanwhile.
func TestWaitingMakesNoRequests(t *testing.T) {
	startServer(t, env.serverKubeconfig, "--pickup-timeout", "0")
	space := namespace(t)
	inst := newInstallation(space, "patient", nobodyServes)
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
	waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "stuck", func(item *v1alpha1.DeployItem) bool {
		return strings.HasPrefix(item.Name, subs["stuck"].Name) && slices.ContainsFunc(item.Status.Conditions, func(c v1alpha1.Condition) bool {
			return c.Type == v1alpha1.ReconcilingCondition && c.Reason == "Waiting"
		})
	})
	wantNoRequests(t, space)
}

// wantNoRequests lets others do their work, and checks that nothing is requested for a
// namespace meanwhile.
func wantNoRequests(t *testing.T, space string) {
	t.Helper()
	mark, err := env.resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	others := namespace(t)
	waitForContext(t, others)
	for i := range 5 {
		waitSucceeded(t, create(t, newInstallation(others, fmt.Sprintf("busy-%d", i), oneConfigMap)))
	}
	requests, err := env.resource.Requests(t.Context(), mark, serverUser)
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) < 50 {
		t.Errorf("only %d requests of the others: this shows nothing", len(requests))
	}
	for _, request := range requests {
		if request.Namespace == space || strings.Contains(request.Path, "/"+space+"/") {
			t.Errorf("a request although nothing has changed: %s %s", request.Verb, request.Path)
		}
	}
}
