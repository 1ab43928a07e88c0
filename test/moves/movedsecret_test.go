package moves

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// bySecret is a tree whose Target refers to a Secret.
type bySecret struct {
	space  string
	secret *corev1.Secret
	inst   *v1alpha1.Installation
}

func deployBySecret(t *testing.T, p part) *bySecret {
	t.Helper()
	space := namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "access"}, StringData: map[string]string{"kubeconfig": env.TargetKubeconfig}}
	if err := env.Admin.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "by-secret"}, Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}}}
	if err := env.Admin.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	createTarget(t, space, "back", env.TargetKubeconfig)
	spec := root(p).spec(t, space)
	spec.Imports.Targets[0].Target = "by-secret"
	return &bySecret{space: space, secret: secret, inst: waitSucceeded(t, create(t, installationOf(space, "tree", spec)))}
}

// to lets the Secret lead to a cluster.
func (s *bySecret) to(t *testing.T, kubeconfig string) {
	t.Helper()
	s.secret.StringData = map[string]string{"kubeconfig": kubeconfig}
	if err := env.Admin.Update(t.Context(), s.secret); err != nil {
		t.Fatal(err)
	}
}

// again runs another job and returns what inspect shows then.
func (s *bySecret) again(t *testing.T) string {
	t.Helper()
	s.inst = again(t, s.inst, s.inst.Spec, v1alpha1.InstallationPhases.Succeeded)
	_, seen, _ := cli(t, "inst", "inspect", "tree", "-n", s.space, "--no-wrap")
	return seen
}

// TestSecretLeadsElsewhere: only the Secret to which a Target refers leads to another cluster. The
// item moves there, or says that it does not.
func TestSecretLeadsElsewhere(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	const leads = "leads to another cluster"
	t.Run("an item moves, and nothing is said of the cluster that it has left", func(t *testing.T) {
		s := deployBySecret(t, manifestsOf("one", oneMap))
		s.to(t, otherKubeconfig(t))
		if seen := s.again(t); strings.Contains(seen, leads) || strings.Contains(seen, "Warning") {
			t.Errorf("after the move, inspect says\n%s", seen)
		}
		wantOn(t, env.Admin, "new", s.space, true, "one")
		wantOn(t, env.Workload, "old", s.space, false, "one")
		wantNothingPending(t, s.space)
	})
	t.Run("an item that is deployed only after a change stays; plan and status say so until the Secret leads back", func(t *testing.T) {
		s := deployBySecret(t, manifestsOf("one", oneMap).onChange())
		stays := leads + ": the item stays on " + env.Target.Server + " until its specification changes, because of updateOnChangeOnly"
		s.to(t, otherKubeconfig(t))
		if code, seen, complaints := cli(t, "inst", "plan", "tree", "-n", s.space); code != 0 || !strings.Contains(seen, "1 unchanged") || !strings.Contains(complaints, stays) {
			t.Errorf("the plan (code %d) does not say %q:\n%s%s", code, stays, seen, complaints)
		}
		if seen := s.again(t); !strings.Contains(seen, stays) {
			t.Errorf("inspect does not say %q:\n%s", stays, seen)
		}
		wantOn(t, env.Workload, "old", s.space, true, "one")
		wantOn(t, env.Admin, "new", s.space, false, "one")
		s.to(t, rotated())
		if seen := s.again(t); strings.Contains(seen, leads) {
			t.Errorf("after the Secret leads back, inspect says\n%s", seen)
		}
		if _, seen, complaints := cli(t, "inst", "plan", "tree", "-n", s.space); strings.Contains(complaints, leads) {
			t.Errorf("after the Secret leads back, the plan says\n%s%s", seen, complaints)
		}
	})
}
