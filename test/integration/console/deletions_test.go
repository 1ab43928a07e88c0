package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
)

// deployed are an open Installation, whose Target has its kubeconfig, and a closed one, whose Target has it
// in a Secret. Both have deployed an object.
func deployed(t *testing.T, space string) {
	t.Helper()
	planned(t, space)
	for _, name := range []string{"open", "closed"} {
		inst := &v1alpha1.Installation{}
		if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, inst); err != nil {
			t.Fatal(err)
		}
		env.Request(t, inst, v1alpha1.ReconcileOperation)
		env.WaitSucceeded(t, inst)
	}
}

// TestDeletionsOfRights: users of six kinds of rights see what a deletion takes away, as far as they may ask
// the cluster of a Target; of the rest they see what is recorded in what they may list.
func TestDeletionsOfRights(t *testing.T) {
	at := startPlanning(t)
	accounts, space := env.Namespace(t), env.Namespace(t)
	deployed(t, space)
	create(t, in(accounts, "stranger", accounts, ours)...)
	create(t, in(space, "partial", accounts, parts)...)
	create(t, verbs(space, "reader", accounts)...)
	create(t, verbs(space, "named", accounts, secrets("values"))...)
	create(t, verbs(space, "full", accounts, secrets())...)
	create(t, everywhere("admin", accounts, "cluster-admin"))
	began, err := env.Resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const hidden, asked = "there is no such Installation", ""
	noHost, noEdge, noAccess := "you may not read Target "+space+"/host", "you may not read Target "+space+"/edge", "you may not read Secret "+space+"/access"
	for _, test := range []struct{ account, open, closed string }{
		{"stranger", hidden, hidden}, {"partial", noHost, noEdge}, {"reader", asked, noAccess},
		{"named", asked, noAccess}, {"full", asked, asked}, {"admin", asked, asked},
	} {
		t.Run(test.account, func(t *testing.T) {
			v := logIn(t, at, tokenOf(t, accounts, test.account))
			for name, want := range map[string]string{"open": test.open, "closed": test.closed} {
				status, said := v.ask(http.MethodGet, "/plan/deletion/"+space+"/"+name, "", nil)
				shows(t, name, said)
				if want == hidden {
					if status != http.StatusNotFound || !strings.Contains(said, hidden) {
						t.Errorf("%s: %d %s", name, status, said)
					}
					continue
				}
				var deletion console.Deletion
				if err := json.Unmarshal([]byte(said), &deletion); err != nil || status != http.StatusOK || len(deletion.Uninstalls) != 1 {
					t.Fatalf("%s: %d %s: %v", name, status, said, err)
				}
				found := deletion.Uninstalls[0]
				if len(found.Objects) != 1 || found.Objects[0].Name != name || (len(found.Unknown) == 0) != (want == asked) || !strings.Contains(strings.Join(found.Unknown, "; "), want) {
					t.Errorf("%s: %s, want %q", name, said, want)
				}
			}
		})
	}
	readNothing(t, began)
}
