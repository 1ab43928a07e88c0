package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/test/landscape"
)

// TestFailedOfRights: the roots that users of six kinds of rights can run again are those that they see and
// may change.
func TestFailedOfRights(t *testing.T) {
	at := startActing(t)
	accounts, a, b := env.Namespace(t), env.Namespace(t), env.Namespace(t)
	for _, space := range []string{a, b} {
		created := env.Create(t, landscape.NewInstallation(space, "failed", "{{ fail `on purpose` }}"))
		t.Cleanup(func() { release(t, created) })
		failed := env.WaitFinished(t, created, "")
		if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed {
			t.Fatalf("the phase is %s", failed.Status.InstallationPhase)
		}
	}
	create(t, in(accounts, "stranger", accounts, ours)...)
	create(t, verbs(a, "reader", accounts)...)
	create(t, verbs(a, "changer", accounts, on("patch"))...)
	// Who may change Installations and not list them sees none.
	blind := in(a, "blind", accounts, nil)
	blind[0].(*rbacv1.Role).Rules = []rbacv1.PolicyRule{on("patch")}
	create(t, blind...)
	create(t, append(verbs(a, "both", accounts, on("patch")), verbs(b, "both", accounts)...)...)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	for _, test := range []struct {
		account string
		want    []string
	}{
		{"stranger", nil}, {"reader", nil}, {"blind", nil}, {"changer", []string{a}}, {"both", []string{a}}, {"admin", []string{a, b}},
	} {
		t.Run(test.account, func(t *testing.T) {
			status, said := logIn(t, at, tokenOf(t, accounts, test.account)).ask(http.MethodGet, "/actions", "", nil)
			var roots []console.FailedRoot
			if err := json.Unmarshal([]byte(said), &roots); err != nil || status != http.StatusOK {
				t.Fatalf("%d %s: %v", status, said, err)
			}
			for _, space := range []string{a, b} {
				has := slices.ContainsFunc(roots, func(root console.FailedRoot) bool { return root.Namespace == space && root.Name == "failed" })
				if has != slices.Contains(test.want, space) {
					t.Errorf("%s: %t in %s", space, has, said)
				}
			}
		})
	}
}
