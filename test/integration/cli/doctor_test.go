package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestDoctor(t *testing.T) {
	namespace := newNamespace(t)
	got := cli(t, resource.Kubeconfig, "doctor", "-n", namespace)
	for _, want := range []string{"✅ API server: it answers, version v", "✅ definitions:", "✅ permissions:", "✅ clocks:", "✅ targets: all clusters answer (0)"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing: %+v", want, got)
		}
	}
	if got.code != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}

	create(t, newInstallation(namespace, "bad", ""), job("job-1", "Failed"))
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nowhere"}}
	target.Spec.Type = v1alpha1.KubernetesClusterTargetType
	// Nothing listens at this port of this machine.
	target.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: \"https://127.0.0.1:1\"}}]\nusers: [{name: a, user: {token: t}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"}`))
	if err := cluster.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	got = cli(t, resource.Kubeconfig, "doctor", "-n", namespace)
	if got.code != 1 || got.err != "Error: problems found: 1\n" || !strings.Contains(got.out, "❌ targets: Target "+namespace+"/nowhere: ") || !strings.Contains(got.out, "jobs: Installation "+namespace+"/bad has failed") {
		t.Errorf("%+v", got)
	}
	apply(t, map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": v1alpha1.ServerLease, "namespace": namespace},
		"spec": map[string]any{"holderIdentity": "server-1", "renewTime": "2026-01-01T00:00:00.000000Z"},
	})
	got = cli(t, resource.Kubeconfig, "doctor", "-n", namespace)
	if !strings.Contains(got.out, "❌ controllers: the server server-1 in namespace "+namespace+" does not run: it last renewed its lease ") {
		t.Errorf("%+v", got)
	}
	if got := cli(t, empty.Kubeconfig, "doctor", "-o", "json"); got.code != 1 || !strings.Contains(got.out, "installations.landscaper.gardener.cloud is not installed") {
		t.Errorf("nothing installed: %+v", got)
	}
}
