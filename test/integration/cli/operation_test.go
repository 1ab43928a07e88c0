package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

func operation(t *testing.T, installation *v1alpha1.Installation) string {
	t.Helper()
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil {
		t.Fatal(err)
	}
	return installation.Annotations[v1alpha1.OperationAnnotation]
}

func TestOperations(t *testing.T) {
	namespace := newNamespace(t)
	idle := create(t, newInstallation(namespace, "idle", ""), job("job-1", "Succeeded"))
	busy := create(t, newInstallation(namespace, "busy", ""), job("job-1", "Progressing"))
	part := create(t, newInstallation(namespace, "part", "idle"), job("job-1", "Succeeded"))
	const added = " annotation was added to the installation\n"
	tests := []struct {
		reason  string
		command string
		on      *v1alpha1.Installation
		want    outcome
		pending string
	}{
		{"a job is asked for", "reconcile", idle, outcome{out: "The reconcile" + added}, "reconcile"},
		{"a reconcile is pending already", "reconcile", idle, outcome{out: "The reconcile" + added, err: "Warning: operation \"reconcile\" was already pending\n"}, "reconcile"},
		{"a reconcile is pending when an interrupt is requested", "interrupt", idle, outcome{out: "The interrupt" + added, err: "Warning: operation \"reconcile\" was pending and is replaced\nNote: no job is running\n"}, "interrupt"},
		{"a job is running", "reconcile", busy, outcome{out: "The reconcile" + added, err: "Note: a job is running; the new one starts when it has ended\n"}, "reconcile"},
		{"a part gets its job from its root only", "reconcile", part, outcome{code: 1, err: "Error: the command is only supported for root installations: part is a part of idle, reconcile that\n"}, ""},
		{"a part can be interrupted", "interrupt", part, outcome{out: "The interrupt" + added, err: "Note: no job is running\n"}, "interrupt"},
	}
	for _, test := range tests {
		got := cli(t, resource.Kubeconfig, "inst", test.command, test.on.Name, "-n", namespace)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s: %s", test.reason, diff)
		}
		if pending := operation(t, test.on); pending != test.pending {
			t.Errorf("%s: operation %q, want %q", test.reason, pending, test.pending)
		}
	}
	got := cli(t, resource.Kubeconfig, "inst", "reconcile", "x", "-n", namespace)
	if got.code != 1 || got.out != "" || !strings.HasPrefix(got.err, "Error: failed to read installation: ") {
		t.Errorf("no such Installation: %+v", got)
	}
}

// TestReconcileThroughFaults loses the answer to the request, so that the command cannot know at
// first whether it took effect.
func TestReconcileThroughFaults(t *testing.T) {
	namespace := newNamespace(t)
	proxy, err := resource.ProxyKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason, name string
		rule         lab.Rule
	}{
		{"the answer is lost", "lost", lab.Rule{Action: "lose"}},
		{"the request is lost", "cut", lab.Rule{Action: "cut"}},
		{"the server is overloaded", "overload", lab.Rule{Action: "status", Status: 429}},
		{"the server is ill", "ill", lab.Rule{Action: "status", Status: 500}},
	}
	for i, test := range tests {
		installation := create(t, newInstallation(namespace, test.name, ""), job("job-1", "Succeeded"))
		test.rule.Name, test.rule.Share, test.rule.Times = test.name, 1, 1
		test.rule.Verbs, test.rule.Names = []string{"patch"}, []string{test.name}
		if err := resource.SetFaults(t.Context(), lab.Faults{Seed: uint64(i + 1), Rules: []lab.Rule{test.rule}}); err != nil {
			t.Fatal(err)
		}
		got := cli(t, proxy, "inst", "reconcile", test.name, "-n", namespace)
		if got.code != 0 || operation(t, installation) != "reconcile" {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
	if err := resource.SetFaults(t.Context(), lab.Faults{}); err != nil {
		t.Fatal(err)
	}
}

func TestReconcileAndWait(t *testing.T) {
	tests := []struct {
		reason string
		phase  string
		code   int
		tree   string
	}{
		{"the new job succeeds", "Succeeded", 0, "Installation shop: Succeeded\n[✅ Succeeded] Installation shop\n\n"},
		{"the new job fails", "Failed", 2, "[❌ Failed] Installation shop\n    Last error: no such chart\n\n"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			namespace := newNamespace(t)
			shop := create(t, newInstallation(namespace, "shop", ""), job("job-1", "Succeeded"))
			p := begin(t, resource.Kubeconfig, "inst", "reconcile", "shop", "--wait", "-n", namespace)
			p.err.await(t, `shop (Succeeded): operation "reconcile" has not been picked up yet`)
			take(t, shop, "job-2")
			p.err.await(t, "shop (Succeeded): the job has not begun yet")
			update(t, shop, job("job-2", "Progressing"))
			p.err.await(t, "shop (Progressing): the job is running")
			update(t, shop, func(i *v1alpha1.Installation) {
				job("job-2", test.phase)(i)
				if test.code != 0 {
					i.Status.LastError = newError("no such chart")
				}
			})
			got := p.end(t)
			if got.code != test.code || !strings.HasSuffix(got.out, test.tree) {
				t.Errorf("%+v", got)
			}
			if test.code != 0 && !strings.HasSuffix(got.err, "Error: the Installation shop ended in phase Failed: no such chart\n") {
				t.Errorf("%+v", got)
			}
		})
	}
}
