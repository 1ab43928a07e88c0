package resilience

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// TestKilledServer kills the server at random moments while it works. Whatever it
// was doing, everything ends well and nothing is there twice.
func TestKilledServer(t *testing.T) {
	const installations, kills = 20, 20
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	server := startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	waitForContext(t, space)
	all := make([]*v1alpha1.Installation, 0, installations)
	for i := range installations {
		all = append(all, create(t, newInstallation(space, fmt.Sprintf("unit-%d", i), oneConfigMap)))
	}
	for range kills {
		// The moment of the kill is random on purpose; nothing waits for it.
		<-time.After(time.Duration(random.IntN(120)) * time.Millisecond)
		server.EndBy(syscall.SIGKILL)
		server = startServer(t, env.ServerKubeconfig)
	}
	for _, inst := range all {
		waitFor(t, client.ObjectKeyFromObject(inst), "succeeded", func(inst *v1alpha1.Installation) bool {
			return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && inst.Status.JobID == inst.Status.JobIDFinished &&
				inst.Annotations[v1alpha1.OperationAnnotation] == ""
		})
	}
	checkNothingIsDoubled(t, space, installations)
}

// checkNothingIsDoubled counts the objects of a namespace in which each
// Installation deploys one ConfigMap.
func checkNothingIsDoubled(t *testing.T, space string, installations int) {
	t.Helper()
	executions, items, targets := &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{executions, items, targets} {
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
	}
	if len(executions.Items) != installations || len(items.Items) != installations || len(targets.Items) != installations+1 {
		t.Errorf("%d Executions, %d DeployItems and %d Targets for %d Installations", len(executions.Items), len(items.Items), len(targets.Items), installations)
	}
	deployed := &corev1.ConfigMapList{}
	if err := env.Workload.List(t.Context(), deployed, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, configMap := range deployed.Items {
		if configMap.Data["greeting"] == "hello" {
			count++
		}
	}
	if count != installations {
		t.Errorf("%d ConfigMaps are deployed, want %d", count, installations)
	}
	for _, exec := range executions.Items {
		if exec.Status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded {
			t.Errorf("Execution %s is in phase %s", exec.Name, exec.Status.ExecutionPhase)
		}
	}
}

// TestFaults lets requests fail as they do in real life. Everything ends well.
func TestFaults(t *testing.T) {
	writes := []string{"create", "update", "patch"}
	tests := []struct {
		reason string
		rules  []lab.Rule
	}{
		{"conflicts", []lab.Rule{{Name: "conflicts", Verbs: []string{"update", "patch"}, Share: 0.4, Action: "status", Status: 409}}},
		{"writes whose answer is lost", []lab.Rule{{Name: "lost", Verbs: writes, Share: 0.25, Action: "lose"}}},
		{"an API server that is busy or broken", []lab.Rule{{Name: "busy", Verbs: writes, Share: 0.2, Action: "status", Status: 429}, {Name: "broken", Verbs: writes, Share: 0.2, Action: "status", Status: 500}}},
	}
	rules, err := env.ChartRules(serverUser + "-proxied")
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: serverUser + "-proxied", ThroughProxy: true, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			const installations = 10
			if err := env.Resource.SetFaults(t.Context(), lab.Faults{}); err != nil {
				t.Fatal(err)
			}
			startServer(t, user.Kubeconfig)
			space := namespace(t)
			waitForContext(t, space)
			if err := env.Resource.SetFaults(t.Context(), lab.Faults{Seed: 42, Rules: test.rules}); err != nil {
				t.Fatal(err)
			}
			var all []*v1alpha1.Installation
			for i := range installations {
				all = append(all, create(t, newInstallation(space, fmt.Sprintf("unit-%d", i), oneConfigMap)))
			}
			for _, inst := range all {
				waitSucceeded(t, inst)
			}
			decisions, err := env.Resource.Decisions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			hits := 0
			for _, decision := range decisions {
				if decision.Hit {
					hits++
				}
			}
			if hits < installations {
				t.Errorf("only %d requests failed, so this shows nothing", hits)
			}
			t.Logf("%d requests failed", hits)
			if err := env.Resource.SetFaults(t.Context(), lab.Faults{}); err != nil {
				t.Fatal(err)
			}
			checkNothingIsDoubled(t, space, installations)
		})
	}
}

// TestJobsWithoutParent gives jobs to an Execution and a DeployItem as tools do.
func TestJobsWithoutParent(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	config := fmt.Appendf(nil, `{"apiVersion":"manifest.deployer.landscaper.gardener.cloud/v1alpha2","kind":"ProviderConfiguration","manifests":[{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"lonely","namespace":%q},"data":{"greeting":"hello"}}}]}`, space)
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "lonely"}, Spec: v1alpha1.ExecutionSpec{
		Context: "default",
		DeployItems: v1alpha1.DeployItemTemplateList{{
			Name: "one", Type: v1alpha1.ManifestDeployItemType, Target: &v1alpha1.ObjectReference{Name: "host", Namespace: space},
			Configuration: &runtime.RawExtension{Raw: config},
		}},
	}}
	if err := env.Admin.Create(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"first", "second"} {
		patch := fmt.Appendf(nil, `{"status":{"jobID":%q}}`, id)
		if err := env.Admin.Status().Patch(t.Context(), exec, client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
		events, err := env.Admin.Watch(t.Context(), &v1alpha1.ExecutionList{}, client.InNamespace(space))
		if err != nil {
			t.Fatal(err)
		}
		for event := range events.ResultChan() {
			if current, ok := event.Object.(*v1alpha1.Execution); ok && current.Status.JobIDFinished == id {
				if current.Status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded {
					t.Errorf("job %s ended in phase %s: %+v", id, current.Status.ExecutionPhase, current.Status.LastError)
				}
				break
			}
		}
		events.Stop()
	}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "lonely"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}

// TestInterrupt ends a job that cannot end by itself.
func TestInterrupt(t *testing.T) {
	startServer(t, env.ServerKubeconfig, "--pickup-timeout", "0")
	space := namespace(t)
	inst := create(t, newInstallation(space, "stuck", "deployItems:\n- name: a\n  type: acme.example/unknown\n  config: {apiVersion: v1, kind: Any}\n"))
	waitFor(t, client.ObjectKeyFromObject(inst), "waiting", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	request(t, inst, v1alpha1.InterruptOperation)
	done := waitFinished(t, inst, "")
	if done.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || done.Annotations[v1alpha1.OperationAnnotation] != "" {
		t.Errorf("phase %s, annotations %v", done.Status.InstallationPhase, done.Annotations)
	}
	item := itemsByName(t, space)["a"]
	if item.Status.Phase != v1alpha1.DeployItemPhases.Failed || item.Status.LastError == nil || item.Status.LastError.Reason != "InterruptOperation" || len(item.Status.Conditions) == 0 {
		t.Errorf("the item does not report the interruption: %+v", item.Status)
	}
}

// TestDeleteWithoutUninstall removes Landscaper's objects and leaves what was
// deployed.
func TestDeleteWithoutUninstall(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := waitSucceeded(t, create(t, newInstallation(space, "stay", oneConfigMap)))
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, v1alpha1.DeleteWithoutUninstallAnnotation)
	if err := env.Admin.Patch(t.Context(), inst, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "stay"}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("the ConfigMap was uninstalled: %v", err)
	}
}

// TestGracefulShutdown shows that a server which is asked to end does so by
// itself.
func TestGracefulShutdown(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	server.EndBy(syscall.SIGTERM)
	if code := server.ExitCode(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, server.Tail(20))
	}
	if _, err := os.Stat("/hacked"); err == nil {
		t.Error("a kubeconfig ran a program")
	}
}
