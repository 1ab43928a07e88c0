package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// dataflow plants the landscape of the user's document, except that no second
// passes between the roots, so that they come by name.
func dataflow(t *testing.T) string {
	t.Helper()
	namespace := newNamespace(t)
	plant(t, namespace, "dataflow-1-secret", "", "dataflow-secret-item-shn92", "Succeeded")
	plant(t, namespace, "dataflow-2-gitrepository", "", "dataflow-gitrepository-item-62j66", "Succeeded")
	create(t, newInstallation(namespace, "dataflow-3-root", ""), job("job-1", "Succeeded"))
	plant(t, namespace, "dataflow-tokenprovider-tw4h5", "dataflow-3-root", "dataflow-tokenprovider-tw4h5-item-mm6bt", "Succeeded")
	plant(t, namespace, "dataflow-tokenconsumer-778g7", "dataflow-3-root", "dataflow-tokenconsumer-778g7-item-tlzcf", "Succeeded")
	return namespace
}

const dataflowTree = `[✅ Succeeded] Installation dataflow-1-secret
    └── [✅ Succeeded] Execution dataflow-1-secret
        └── [✅ Succeeded] DeployItem dataflow-secret-item-shn92

[✅ Succeeded] Installation dataflow-2-gitrepository
    └── [✅ Succeeded] Execution dataflow-2-gitrepository
        └── [✅ Succeeded] DeployItem dataflow-gitrepository-item-62j66

[✅ Succeeded] Installation dataflow-3-root
    ├── [✅ Succeeded] Installation dataflow-tokenconsumer-778g7
    │   └── [✅ Succeeded] Execution dataflow-tokenconsumer-778g7
    │       └── [✅ Succeeded] DeployItem dataflow-tokenconsumer-778g7-item-tlzcf
    └── [✅ Succeeded] Installation dataflow-tokenprovider-tw4h5
        └── [✅ Succeeded] Execution dataflow-tokenprovider-tw4h5
            └── [✅ Succeeded] DeployItem dataflow-tokenprovider-tw4h5-item-mm6bt

`

func TestInspect(t *testing.T) {
	namespace := dataflow(t)
	broken := newNamespace(t)
	plant(t, broken, "shop", "", "shop-web-t6kkv", "Failed")
	plant(t, broken, "tools", "", "tools-alpha-kj2c8", "Succeeded")
	lone := "[✅ Succeeded] Installation dataflow-1-secret\n    └── [✅ Succeeded] Execution dataflow-1-secret\n        └── [✅ Succeeded] DeployItem dataflow-secret-item-shn92\n\n"
	failed := "[❌ Failed] Installation shop\n    └── [❌ Failed] Execution shop\n        └── [❌ Failed] DeployItem shop-web-t6kkv\n\n"
	tests := []struct {
		reason string
		args   []string
		want   outcome
	}{
		{"the command of the user's document", []string{"inst", "inspect", "-n", namespace}, outcome{out: dataflowTree}},
		{"the short form of the command", []string{"inspect", "-n", namespace}, outcome{out: dataflowTree}},
		{"the aliases of the command", []string{"i", "status", "-n", namespace}, outcome{out: dataflowTree}},
		{"a flag without effect", []string{"installation", "i", "-e", "-n", namespace}, outcome{out: dataflowTree}},
		{"a single Installation", []string{"inst", "inspect", "dataflow-1-secret", "-n", namespace}, outcome{out: lone}},
		{"failed Installations only", []string{"inst", "inspect", "-f", "-n", broken}, outcome{out: failed}},
		{"failed Installations only, if nothing failed", []string{"inst", "inspect", "-f", "-n", namespace}, outcome{}},
		{"failed Installations only as JSON, if nothing failed", []string{"inst", "inspect", "-f", "-j", "-n", namespace}, outcome{out: "[]"}},
		{"the deployed objects of each item", []string{"inst", "inspect", "dataflow-1-secret", "-w", "-n", namespace}, outcome{out: "[✅ Succeeded] Installation dataflow-1-secret\n" +
			"    Blueprint: blueprint\n    └── [✅ Succeeded] Execution dataflow-1-secret\n        └── [✅ Succeeded] DeployItem dataflow-secret-item-shn92\n" +
			"            Type: landscaper.gardener.cloud/kubernetes-manifest\n\n"}},
		{"a namespace without Installations", []string{"inst", "inspect", "-n", "nowhere"}, outcome{err: "No installations found in namespace nowhere.\n"}},
		{"no such Installation", []string{"inst", "inspect", "x", "-n", namespace}, outcome{code: 1,
			err: "Error: cannot collect installation: there is no Installation x in namespace " + namespace + ": see what exists with landscaper-cli installations inspect -A\n"}},
		{"no such Installation, for scripts", []string{"inst", "inspect", "x", "-n", namespace, "--strict-exit-codes"}, outcome{code: 3,
			err: "Error: cannot collect installation: there is no Installation x in namespace " + namespace + ": see what exists with landscaper-cli installations inspect -A\n"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if diff := cmp.Diff(test.want, cli(t, resource.Kubeconfig, test.args...), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInspectAllNamespaces(t *testing.T) {
	namespaces := []string{newNamespace(t), newNamespace(t)}
	for _, namespace := range namespaces {
		plant(t, namespace, "twin", "", "twin-item", "Succeeded")
	}
	got := cli(t, resource.Kubeconfig, "inst", "inspect", "-A", "-n", "ignored")
	for _, namespace := range namespaces {
		want := "[✅ Succeeded] Installation " + namespace + "/twin\n    └── [✅ Succeeded] Execution " + namespace + "/twin\n        └── [✅ Succeeded] DeployItem " + namespace + "/twin-item\n"
		if !strings.Contains(got.out, want) {
			t.Errorf("%s is missing in\n%s", want, got.out)
		}
	}
}

func TestInspectForPrograms(t *testing.T) {
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Succeeded")
	plant(t, namespace, "part", "shop", "part-item", "Succeeded")
	type shape []struct {
		Installation     v1alpha1.Installation
		SubInstallations []struct{ Installation v1alpha1.Installation }
		Execution        struct {
			Execution   v1alpha1.Execution
			DeployItems []struct{ DeployItem v1alpha1.DeployItem }
		}
	}
	for _, mode := range []string{"json", "yaml"} {
		got := cli(t, resource.Kubeconfig, "inst", "inspect", "-n", namespace, "-o", mode)
		if mode == "json" && strings.Contains(got.out, "\n") {
			t.Errorf("JSON is one line: %s", got.out)
		}
		var trees shape
		if err := yaml.Unmarshal([]byte(got.out), &trees); err != nil {
			t.Fatalf("%s: %v\n%s", mode, err, got.out)
		}
		if len(trees) != 1 || trees[0].Installation.Name != "shop" || trees[0].Installation.Kind != "Installation" ||
			trees[0].SubInstallations[0].Installation.Name != "part" ||
			trees[0].Execution.Execution.Kind != "Execution" || trees[0].Execution.DeployItems[0].DeployItem.Name != "shop-item" {
			t.Errorf("%s: %s", mode, got.out)
		}
	}
	var envelope struct {
		Kind  string
		Items []struct {
			Kind, Name, Phase, State, JobID string
			Ready                           bool
			Children                        []struct{ Name string }
		}
	}
	got := cli(t, resource.Kubeconfig, "inst", "inspect", "-n", namespace, "-o", "tree-json")
	if err := json.Unmarshal([]byte(got.out), &envelope); err != nil {
		t.Fatal(err, got.out)
	}
	if root := envelope.Items[0]; envelope.Kind != "InstallationTree" || !root.Ready || root.State != "Ready" || root.JobID != "job-1" || len(root.Children) != 2 {
		t.Errorf("tree-json: %s", got.out)
	}
}

// TestInspectCosts holds the promise of three requests, whatever the size.
func TestInspectCosts(t *testing.T) {
	namespace := dataflow(t)
	user, err := resource.AddUser(t.Context(), lab.UserOptions{Name: "counted", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		t.Fatal(err)
	}
	mark, err := resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := cli(t, user.Kubeconfig, "inst", "inspect", "-n", namespace); got.out != dataflowTree {
		t.Fatal(got)
	}
	requests, err := resource.Requests(t.Context(), mark, "counted")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, request := range requests {
		seen = append(seen, request.Verb+" "+request.Resource)
	}
	slices.Sort(seen)
	group := "." + v1alpha1.GroupName
	if diff := cmp.Diff([]string{"list deployitems" + group, "list executions" + group, "list installations" + group}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestInspectOfMany holds the promise of at most four requests for 1,000 Installations.
func TestInspectOfMany(t *testing.T) {
	namespace := newNamespace(t)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for i := range 1000 {
		name := fmt.Sprintf("many-%03d", i)
		group.Go(func() error {
			if i < 501 {
				if err := cluster.Create(ctx, newItem(namespace, name, name)); err != nil {
					return err
				}
			}
			return cluster.Create(ctx, newInstallation(namespace, name, ""))
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	user, err := resource.AddUser(t.Context(), lab.UserOptions{Name: "many", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		t.Fatal(err)
	}
	mark, err := resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := cli(t, user.Kubeconfig, "inst", "inspect", "-n", namespace)
	t.Logf("inspect of 1,000 Installations took %s", time.Since(began).Round(time.Millisecond))
	if got.code != 0 || strings.Count(got.out, "Installation many-") != 1000 {
		t.Fatalf("code %d, %d Installations: %s", got.code, strings.Count(got.out, "Installation many-"), got.err)
	}
	requests, err := resource.Requests(t.Context(), mark, "many")
	if err != nil || len(requests) > 4 {
		t.Errorf("%d requests, %v: %+v", len(requests), err, requests)
	}
}

func TestInspectWithoutPermissions(t *testing.T) {
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Succeeded")
	role := func(name string, resources ...string) string {
		create := map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name},
			"rules": []any{map[string]any{"apiGroups": []string{v1alpha1.GroupName}, "resources": resources, "verbs": []string{"get", "list", "watch"}}},
		}
		apply(t, create)
		return name
	}
	user := func(name string, roles ...string) string {
		user, err := resource.AddUser(t.Context(), lab.UserOptions{Name: name, ClusterRoles: roles})
		if err != nil {
			t.Fatal(err)
		}
		return user.Kubeconfig
	}
	partial := user("partial", role("partial", "installations", "executions"))
	tree := "[✅ Succeeded] Installation shop\n    └── [✅ Succeeded] Execution shop\n\n"
	got := cli(t, partial, "inst", "inspect", "-n", namespace)
	if got.code != 0 || got.out != tree || !strings.HasPrefix(got.err, "Warning: the tree is not complete: list deployitems."+v1alpha1.GroupName+" in namespace "+namespace) {
		t.Errorf("without DeployItems, the rest is shown: %+v", got)
	}
	if got := cli(t, partial, "inst", "inspect", "-n", namespace, "--strict"); got.code != 4 || got.out != tree {
		t.Errorf("--strict: %+v", got)
	}
	if got := cli(t, partial, "wait", "shop", "-n", namespace); got.code != 0 {
		t.Errorf("waiting needs no DeployItems: %+v", got)
	}
	nothing := user("nothing")
	if got := cli(t, nothing, "inst", "inspect", "-n", namespace, "--strict-exit-codes"); got.code != 4 || !strings.Contains(got.err, "forbidden") {
		t.Errorf("without Installations: %+v", got)
	}
	if got := cli(t, nothing, "wait", "shop", "-n", namespace); got.code != 4 {
		t.Errorf("waiting without Installations: %+v", got)
	}
}

func TestInspectWithoutDefinitions(t *testing.T) {
	for _, args := range [][]string{{"inst", "inspect", "--strict-exit-codes"}, {"wait", "shop"}, {"inst", "reconcile", "shop", "--wait"}} {
		got := cli(t, empty.Kubeconfig, args...)
		if got.code != 3 || !strings.Contains(got.err, "."+v1alpha1.GroupName+" is not installed in the cluster "+empty.Server) || !strings.Contains(got.err, "(context ") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestContextAndNamespaceOfKubeconfig(t *testing.T) {
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Succeeded")
	config, err := clientcmd.LoadFromFile(resource.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	second := config.Contexts[config.CurrentContext].DeepCopy()
	second.Namespace = namespace
	config.Contexts["second"] = second
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	if got := cli(t, "", "inst", "inspect", "--kubeconfig", file, "--context", "second"); !strings.Contains(got.out, "Installation shop\n") {
		t.Errorf("the namespace of the context: %+v", got)
	}
	if got := cli(t, "", "inst", "inspect", "--kubeconfig", file); got.err != "No installations found in namespace default.\n" {
		t.Errorf("the current context has no namespace: %+v", got)
	}
	if got := cli(t, file, "inst", "inspect", "--as", "stranger", "--strict-exit-codes"); got.code != 4 || !strings.Contains(got.err, `User "stranger"`) {
		t.Errorf("--as: %+v", got)
	}
	if got := cli(t, file, "__complete", "inst", "inspect", "--context", ""); !strings.Contains(got.out, "second\n") {
		t.Errorf("completion of contexts: %+v", got)
	}
	if got := cli(t, file, "__complete", "inst", "inspect", "-n", ""); !strings.Contains(got.out, namespace+"\n") {
		t.Errorf("completion of namespaces: %+v", got)
	}
	if got := cli(t, file, "__complete", "wait", "-n", namespace, ""); !strings.HasPrefix(got.out, "shop\n") {
		t.Errorf("completion of Installations: %+v", got)
	}
	if got := cli(t, file, "__complete", "wait", "-n", namespace, "shop", ""); strings.HasPrefix(got.out, "shop\n") {
		t.Errorf("a complete argument is proposed again: %+v", got)
	}
}

func TestInspectReportsDanglingReference(t *testing.T) {
	namespace := newNamespace(t)
	create(t, newInstallation(namespace, "shop", ""), func(i *v1alpha1.Installation) {
		job("job-1", "Failed")(i)
		i.Status.ExecutionReference = &v1alpha1.ObjectReference{Namespace: namespace, Name: "gone"}
		i.Status.LastError = newError("the Execution gone does not exist")
	})
	want := outcome{out: "[❌ Failed] Installation shop\n    Last error: the Execution gone does not exist\n    └── [?] Execution gone\n\n"}
	if diff := cmp.Diff(want, cli(t, resource.Kubeconfig, "inst", "inspect", "-n", namespace), cmp.AllowUnexported(outcome{})); diff != "" {
		t.Error(diff)
	}
}
