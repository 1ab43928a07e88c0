package cli

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestTargetsApply creates Targets, and does not take what others have made.
func TestTargetsApply(t *testing.T) {
	namespace := newNamespace(t)
	run := func(args ...string) outcome {
		return cli(t, resource.Kubeconfig, append([]string{"targets", "create", "k8s-cluster", "-n", namespace, "--target-kubeconfig", empty.Kubeconfig, "--apply"}, args...)...)
	}
	if got, want := run("--name", "edge", "-s", "access"), (outcome{out: "Secret access: created\nTarget edge: created\n"}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := run("--name", "edge", "-s", "access"), (outcome{out: "Secret access: unchanged\nTarget edge: unchanged\n"}); got != want {
		t.Errorf("%+v", got)
	}
	target := &v1alpha1.Target{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "edge"}, target); err != nil || target.Spec.SecretRef == nil || target.Spec.SecretRef.Name != "access" {
		t.Errorf("%+v, error %v", target.Spec, err)
	}
	if got := cli(t, resource.Kubeconfig, "doctor", "-n", namespace); !strings.Contains(got.out, "✅ targets: all clusters answer (1)") {
		t.Errorf("the Target does not work: %+v", got)
	}
	foreign := &corev1.Secret{}
	foreign.Namespace, foreign.Name, foreign.Data = namespace, "foreign", map[string][]byte{"config": []byte("of another client")}
	if err := cluster.Create(t.Context(), foreign, client.FieldOwner("another-client")); err != nil {
		t.Fatal(err)
	}
	got := run("--name", "second", "-s", "foreign")
	if got.code != 1 || got.out != "" || !strings.Contains(got.err, "apply Secret foreign") || !strings.Contains(got.err, "another client has created it") || strings.Contains(got.err, "of another client") {
		t.Errorf("%+v", got)
	}
	if got := run("--name", "edge", "-o", "file"); got.code != 1 || !strings.Contains(got.err, "leave out --output-file") {
		t.Errorf("%+v", got)
	}
	got = cli(t, resource.Kubeconfig, "targets", "create", "self", "--name", "here", "-n", namespace, "--service-account", "deployer", "--apply")
	if want := (outcome{out: "Target here: created\n"}); got != want {
		t.Errorf("%+v", got)
	}
}
