package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

func TestWaitForWhatIsThere(t *testing.T) {
	namespace := newNamespace(t)
	create(t, newInstallation(namespace, "good", ""), job("job-1", "Succeeded"))
	create(t, newInstallation(namespace, "bad", ""), func(i *v1alpha1.Installation) {
		job("job-1", "Failed")(i)
		i.Status.LastError = newError("no such chart")
	})
	create(t, newInstallation(namespace, "asked", ""), job("job-1", "Failed"))
	create(t, newInstallation(namespace, "new", ""), func(*v1alpha1.Installation) {})
	if got := cli(t, resource.Kubeconfig, "inst", "reconcile", "asked", "-n", namespace); got.code != 0 {
		t.Fatal(got)
	}
	tests := []struct {
		reason   string
		args     []string
		code     int
		out, err string
	}{
		{"succeeded", []string{"good"}, 0, "Installation good: Succeeded\n", ""},
		{"several", []string{"good", "good"}, 0, "Installation good: Succeeded\n", ""},
		{"finished either way", []string{"good", "bad", "--for", "finished"}, 0, "Installation bad: Failed\nInstallation good: Succeeded\n", ""},
		{"failed, and wanted so", []string{"bad", "--for", "failed"}, 0, "Installation bad: Failed\n", ""},
		{"failed", []string{"bad"}, 2, "", "Error: the Installation bad ended in phase Failed: no such chart\n"},
		{"succeeded, but a failure was wanted", []string{"good", "--for", "failed"}, 1, "", "Error: the Installation good has not failed: it ended in phase Succeeded\n"},
		{"a missing Installation is an error", []string{"x"}, 3, "", "Error: there is no Installation x in namespace " + namespace + ": see what exists with landscaper-cli installations inspect -A\n"},
		{"a missing Installation is deleted", []string{"x", "--for", "deleted"}, 0, "Installation x: deleted\n", ""},
		{"the failure of the job before does not count", []string{"asked", "--timeout", "LIMIT", "-q"}, 5, "",
			"Error: after LIMIT still waiting for asked (Failed): operation \"reconcile\" has not been picked up yet\n"},
		{"no job was started", []string{"new", "--timeout", "LIMIT", "-q"}, 5, "",
			"Error: after LIMIT still waiting for new (no phase): no job was started yet: run landscaper-cli installations reconcile new\n"},
		{"the deletion was not requested", []string{"good", "--for", "deleted", "--timeout", "LIMIT", "-q"}, 5, "",
			"Error: after LIMIT still waiting for good (Succeeded): its deletion has not been requested yet: run kubectl delete installation good\n"},
	}
	for _, test := range tests {
		got, limit := withLimit(t, resource.Kubeconfig, test.err, append([]string{"inst", "wait", "-n", namespace}, test.args...)...)
		if want := (outcome{test.code, test.out, strings.Replace(test.err, "LIMIT", limit, 1)}); got != want {
			t.Errorf("%s: %+v, want %+v", test.reason, got, want)
		}
	}
}

// withLimit runs a command with a time limit, which is LIMIT in its arguments and in what
// it is to say. It is to run into the limit when it has seen what is there: where a busy
// machine takes longer for that, the command has more time.
func withLimit(t *testing.T, kubeconfig, message string, args ...string) (got outcome, limit string) {
	t.Helper()
	for _, limit = range []string{"300ms", "5s", "1m0s"} {
		line := slices.Clone(args)
		for i := range line {
			line[i] = strings.Replace(line[i], "LIMIT", limit, 1)
		}
		got = cli(t, kubeconfig, line...)
		if got.code != 5 || strings.Contains(got.err, strings.Replace(message, "LIMIT", limit, 1)) {
			break
		}
	}
	return got, limit
}

func TestWaitNamesTheBlocker(t *testing.T) {
	namespace := newNamespace(t)
	shop := plant(t, namespace, "shop", "", "shop-web", "Progressing")
	web := &v1alpha1.DeployItem{}
	web.Namespace, web.Name = namespace, "shop-web"
	p := begin(t, resource.Kubeconfig, "wait", "shop", "-n", namespace)
	p.err.await(t, "shop (Progressing): DeployItem shop-web (Progressing)\n")
	update(t, web, itemJob("job-1", "Progressing", "1 of 3 replicas of Deployment web are available"))
	p.err.await(t, "DeployItem shop-web (Progressing): 1 of 3 replicas of Deployment web are available\n")
	update(t, web, itemJob("job-1", "Failed", "timed out"))
	p.err.await(t, "shop (Progressing): DeployItem shop-web (Failed): timed out\n")
	update(t, shop, job("job-1", "Failed"))
	got := p.end(t)
	if got.code != 2 || got.out != "" || !strings.HasSuffix(got.err, "Error: the Installation shop ended in phase Failed: DeployItem shop-web (Failed): timed out\n") {
		t.Errorf("%+v", got)
	}
}

// TestWaitMakesNoRequests holds the promise that a wait is an open watch: between
// its beginning and its end there is no request.
func TestWaitMakesNoRequests(t *testing.T) {
	namespace := newNamespace(t)
	shop := create(t, newInstallation(namespace, "shop", ""), job("job-1", "Progressing"))
	user, err := resource.AddUser(t.Context(), lab.UserOptions{Name: "waiting", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		t.Fatal(err)
	}
	mark, err := resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := begin(t, user.Kubeconfig, "wait", "shop", "-n", namespace)
	p.err.await(t, "shop (Progressing)")
	for _, phase := range []string{"Completing", "Progressing", "Completing", "Succeeded"} {
		update(t, shop, job("job-1", phase))
	}
	if got := p.end(t); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	requests, err := resource.Requests(t.Context(), mark, "waiting")
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if request.Verb != "watch" {
			t.Errorf("%s %s", request.Verb, request.Resource)
		}
	}
	if len(requests) != 3 {
		t.Errorf("%d requests, want one watch for each of the three kinds", len(requests))
	}
}

func TestWaitForDeletion(t *testing.T) {
	namespace := newNamespace(t)
	shop := newInstallation(namespace, "shop", "")
	shop.Finalizers = []string{v1alpha1.Finalizer}
	shop = create(t, shop, job("job-1", "Succeeded"))
	p := begin(t, resource.Kubeconfig, "inst", "wait", "shop", "--for", "deleted", "-n", namespace)
	p.err.await(t, "its deletion has not been requested yet")
	if err := cluster.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	p.err.await(t, "the deletion has not begun yet")
	update(t, shop, job("job-2", "Deleting"))
	p.err.await(t, "shop (Deleting): the job is running")
	shop.Finalizers = nil
	if err := cluster.Update(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if got := p.end(t); got.code != 0 || got.out != "Installation shop: deleted\n" {
		t.Errorf("%+v", got)
	}
}

func TestWaitEndsWhenTheInstallationIsDeleted(t *testing.T) {
	namespace := newNamespace(t)
	shop := create(t, newInstallation(namespace, "shop", ""), job("job-1", "Progressing"))
	p := begin(t, resource.Kubeconfig, "wait", "shop", "-n", namespace)
	p.err.await(t, "shop (Progressing)")
	if err := cluster.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if got := p.end(t); got.code != 3 || !strings.HasSuffix(got.err, "Error: the Installation shop was deleted\n") {
		t.Errorf("%+v", got)
	}
}

func TestWaitCanBeInterrupted(t *testing.T) {
	namespace := newNamespace(t)
	create(t, newInstallation(namespace, "shop", ""), job("job-1", "Progressing"))
	for _, args := range [][]string{{"wait", "shop"}, {"inspect", "--watch"}} {
		p := begin(t, resource.Kubeconfig, append(args, "-n", namespace)...)
		if args[0] == "wait" {
			p.err.await(t, "shop (Progressing)")
		} else {
			p.out.await(t, "Progressing")
		}
		if err := p.command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if got := p.end(t); got.code != 130 || !strings.Contains(got.err, "interrupted") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestWaitSurvivesBrokenWatches(t *testing.T) {
	namespace := newNamespace(t)
	shop := create(t, newInstallation(namespace, "shop", ""), job("job-1", "Progressing"))
	proxy, err := resource.ProxyKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := begin(t, proxy, "wait", "shop", "-n", namespace)
	p.err.await(t, "shop (Progressing)")
	if err := resource.CutConnections(t.Context()); err != nil {
		t.Fatal(err)
	}
	update(t, shop, job("job-1", "Completing"))
	p.err.await(t, "shop (Completing)")
	// What happens while watches are refused is not missed.
	refuse := lab.Rule{Name: "refuse", Verbs: []string{"watch", "list"}, Share: 1, Times: 4, Action: "status", Status: 503}
	if err := resource.SetFaults(t.Context(), lab.Faults{Rules: []lab.Rule{refuse}}); err != nil {
		t.Fatal(err)
	}
	if err := resource.CutConnections(t.Context()); err != nil {
		t.Fatal(err)
	}
	update(t, shop, job("job-1", "Succeeded"))
	if got := p.end(t); got.code != 0 || got.out != "Installation shop: Succeeded\n" {
		t.Errorf("%+v", got)
	}
	if err := resource.SetFaults(t.Context(), lab.Faults{}); err != nil {
		t.Fatal(err)
	}
}

func TestWaitSurvivesRestartOfTheServer(t *testing.T) {
	namespace := newNamespace(t)
	shop := create(t, newInstallation(namespace, "shop", ""), job("job-1", "Progressing"))
	p := begin(t, resource.Kubeconfig, "wait", "shop", "-n", namespace)
	p.err.await(t, "shop (Progressing)")
	if err := running.Kill(t.Context(), "resource/apiserver"); err != nil {
		t.Fatal(err)
	}
	p.err.await(t, "the connection to the API server is lost")
	if err := running.Restart(t.Context(), "resource/apiserver"); err != nil {
		t.Fatal(err)
	}
	p.err.await(t, "the connection to the API server is back")
	update(t, shop, job("job-1", "Succeeded"))
	if got := p.end(t); got.code != 0 || got.out != "Installation shop: Succeeded\n" {
		t.Errorf("%+v", got)
	}
}

// TestWaitBeginsThroughFaults breaks the first request of each kind.
func TestWaitBeginsThroughFaults(t *testing.T) {
	namespace := newNamespace(t)
	create(t, newInstallation(namespace, "shop", ""), job("job-1", "Succeeded"))
	proxy, err := resource.ProxyKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, rule := range []lab.Rule{{Name: "cut", Action: "cut"}, {Name: "ill", Action: "status", Status: 500}, {Name: "conflict", Action: "status", Status: 504}} {
		rule.Share, rule.Times, rule.Verbs = 1, 3, []string{"list", "watch"}
		if err := resource.SetFaults(t.Context(), lab.Faults{Seed: uint64(100 + i), Rules: []lab.Rule{rule}}); err != nil {
			t.Fatal(err)
		}
		if got := cli(t, proxy, "wait", "shop", "-n", namespace); got.code != 0 {
			t.Errorf("%s: %+v", rule.Name, got)
		}
	}
	if err := resource.SetFaults(t.Context(), lab.Faults{}); err != nil {
		t.Fatal(err)
	}
}

// TestWaitDoesNotHopeForeverAtFirst ends at once where waiting makes no sense.
func TestWaitDoesNotHopeForeverAtFirst(t *testing.T) {
	config, err := clientcmd.LoadFromFile(resource.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://127.0.0.1:1"
	}
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	if got := cli(t, file, "wait", "shop"); got.code != 1 || !strings.Contains(got.err, "connection refused") {
		t.Errorf("the server does not listen: %+v", got)
	}
	for _, user := range config.AuthInfos {
		user.Token = "wrong"
	}
	for _, cluster := range config.Clusters {
		cluster.Server = resource.Server
	}
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	if got := cli(t, file, "wait", "shop"); got.code != 4 || !strings.Contains(got.err, "does not accept the credentials of the kubeconfig") {
		t.Errorf("the credentials are unknown: %+v", got)
	}
}

func TestInspectWatch(t *testing.T) {
	namespace := newNamespace(t)
	shop := plant(t, namespace, "shop", "", "shop-web", "Progressing")
	p := begin(t, resource.Kubeconfig, "inst", "inspect", "shop", "--watch", "--until", "finished", "-n", namespace)
	p.out.await(t, "DeployItem "+namespace+"/shop-web: Progressing\n")
	web := &v1alpha1.DeployItem{}
	web.Namespace, web.Name = namespace, "shop-web"
	update(t, web, itemJob("job-1", "Succeeded", ""))
	p.out.await(t, "DeployItem "+namespace+"/shop-web: Succeeded\n")
	if err := cluster.Delete(t.Context(), web); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	p.out.await(t, "DeployItem "+namespace+"/shop-web: deleted\n")
	update(t, shop, job("job-1", "Failed"))
	if got := p.end(t); got.code != 2 || !strings.Contains(got.out, "Installation "+namespace+"/shop: Failed\n") {
		t.Errorf("%+v", got)
	}
}
