package targetsync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// TestTokenRotation: the token of the source is renewed, tried, and stored together with
// the time.
func TestTokenRotation(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list", "watch"))
	s.put("one", kubeconfig(t, source, "one", "word"))
	made := s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*"})
	s.awaitReady("Synchronized")
	first := s.secret("access")
	s.again()
	s.change(func(spec *v1alpha1.TargetSyncSpec) { spec.TokenRotation = &v1alpha1.TokenRotation{Enabled: true} })
	sync := s.await("is rotated", func(sync *v1alpha1.TargetSync) bool {
		return sync.Status.LastTokenRotationTime != nil && sync.Status.ObservedGeneration == sync.Generation
	})
	second := s.secret("access")
	if string(first.Data["kubeconfig"]) == string(second.Data["kubeconfig"]) || ready(sync).Reason != "Synchronized" || condition(sync, v1alpha1.TargetSyncTokenRotated).Status != v1alpha1.ConditionTrue {
		t.Errorf("status %+v", sync.Status)
	}
	if at := second.Annotations[v1alpha1.TokenRotatedAnnotation]; at != sync.Status.LastTokenRotationTime.UTC().Format(time.RFC3339) {
		t.Errorf("the Secret says %s, the status %s", at, sync.Status.LastTokenRotationTime)
	}
	t.Run("a token is not renewed again before its time", func(t *testing.T) {
		s.again()
		if s.secret("access").ResourceVersion != second.ResourceVersion {
			t.Error("the token was renewed again")
		}
	})
	t.Run("the time of a lost status is read from the Secret", func(t *testing.T) {
		lost := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"lastTokenRotationTime":null}}`))
		if err := here.Status().Patch(t.Context(), &v1alpha1.TargetSync{ObjectMeta: s.meta("fleet")}, lost); err != nil {
			t.Fatal(err)
		}
		if again := s.again(); again.Status.LastTokenRotationTime == nil || s.secret("access").ResourceVersion != second.ResourceVersion {
			t.Errorf("%+v", again.Status)
		}
	})
	t.Run("at once on request, which is taken away then", func(t *testing.T) {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:""}}}`, v1alpha1.RotateTokenAnnotation)
		if err := here.Patch(t.Context(), made, client.RawPatch("application/merge-patch+json", patch)); err != nil {
			t.Fatal(err)
		}
		s.await("has served the request", func(sync *v1alpha1.TargetSync) bool {
			_, asked := sync.Annotations[v1alpha1.RotateTokenAnnotation]
			return !asked
		})
		if s.secret("access").ResourceVersion == second.ResourceVersion {
			t.Error("the token is the old one")
		}
	})
	t.Run("a failure leaves the present token and the synchronisation alone", func(t *testing.T) {
		role := read(t, there, &rbacv1.Role{ObjectMeta: s.meta(robot)})
		role.Rules = []rbacv1.PolicyRule{mayReadSecrets("list", "watch")}
		update(t, there, role)
		s.awaitRight(false)
		clock.forward(61 * 24 * time.Hour)
		// Tokens have the times of the API server: another round begins with both the same.
		t.Cleanup(func() { clock.forward(-61 * 24 * time.Hour) })
		s.put("two", kubeconfig(t, source, "two", "word"))
		before := s.secret("access")
		sync := s.again()
		if rotated := condition(sync, v1alpha1.TargetSyncTokenRotated); rotated.Status != v1alpha1.ConditionFalse || !strings.Contains(rotated.Message, "must be allowed to create tokens for itself") {
			t.Errorf("%+v", rotated)
		}
		if s.target("two") == nil || s.secret("access").ResourceVersion != before.ResourceVersion {
			t.Error("the synchronisation has stopped, or the token no longer exists")
		}
	})
}

// TestTokenIsTried: a token that the source has not accepted is not stored.
func TestTokenIsTried(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list", "watch"))
	s.put("one", kubeconfig(t, source, "one", "word"))
	proxy, err := source.ProxyKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	through, err := clientcmd.BuildConfigFromFlags("", proxy)
	if err != nil {
		t.Fatal(err)
	}
	access := s.secret("access")
	access.Data["kubeconfig"] = []byte(strings.Replace(string(access.Data["kubeconfig"]), source.Server, through.Host, 1))
	update(t, here, access)
	faults := lab.Faults{Rules: []lab.Rule{{Name: "unknown", Verbs: []string{"get"}, Resources: []string{"serviceaccounts"}, Share: 1, Action: "status", Status: 503}}}
	if err := source.SetFaults(t.Context(), faults); err != nil {
		t.Fatal(err)
	}
	s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*", TokenRotation: &v1alpha1.TokenRotation{Enabled: true}})
	sync := s.awaitReady("TokenNotRotated")
	if rotated := condition(sync, v1alpha1.TargetSyncTokenRotated); !strings.Contains(rotated.Message, "the source does not accept the new token, so the present one stays") {
		t.Errorf("%+v", rotated)
	}
	if s.secret("access").ResourceVersion != access.ResourceVersion || s.target("one") == nil {
		t.Error("the token is replaced, or the synchronisation has stopped")
	}
	if err := source.SetFaults(t.Context(), lab.Faults{}); err != nil {
		t.Fatal(err)
	}
	if sync := s.again(); ready(sync).Reason != "Synchronized" || sync.Status.LastTokenRotationTime == nil {
		t.Errorf("%+v", sync.Status)
	}
}
