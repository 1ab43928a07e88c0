package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/model/revision"
)

const emptyBlueprint = `{"inline":{"filesystem":{"blueprint.yaml":"apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"}}}`

// kept is a revision of the Installation mall as the server writes it.
func kept(generation int64, spec string) string {
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "mall", UID: "u"}}
	sum := sha256.Sum256([]byte(spec))
	return fmt.Sprintf(`
apiVersion: delivery.landscaper.dev/v1alpha1
kind: DeliveryRevision
metadata:
  name: %s
  labels: {delivery.landscaper.dev/installation-uid: u}
  ownerReferences: [{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, name: mall, uid: u}]
spec: {installation: mall, generation: %d, digest: %s, specification: %s}`, revision.Name(root, generation), generation, hex.EncodeToString(sum[:]), spec)
}

// specified is a specification as it is stored: with its fields in order.
func specified(size string) string {
	interval := map[string]string{"small": "12h0m0s", "large": "24h0m0s"}[size]
	return `{"automaticReconcile":{"succeededReconcile":{"interval":"` + interval + `"}},"blueprint":` + emptyBlueprint +
		`,"context":"default","exports":{},"importDataMappings":{"password":"p-` + size + `"},"imports":{"data":[{"dataRef":"h","name":"host"}]}}`
}

// what the plan reads besides.
const (
	hostValue      = `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: DataObject, metadata: {name: h}, data: a.example.org}`
	defaultContext = `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Context, metadata: {name: default}}`
)

func mall(size string) string {
	return `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: mall, uid: u, generation: 3}
spec: ` + specified(size) + `
status:
  phase: Failed
  jobID: j3-failed
  jobIDFinished: j3-failed
  observedGeneration: 3
  history:
  - {jobID: j3-failed, phase: Failed, generation: 3, importsHash: b, imports: [{name: host, fingerprint: two}]}
  - {jobID: j2-other, phase: Failed, generation: 2}
  - {jobID: j1-good, phase: Succeeded, generation: 1, importsHash: a, imports: [{name: host, fingerprint: one}]}
`
}

// TestRollback: what is shown, what is written, and what keeps a root from going back.
func TestRollback(t *testing.T) {
	const there = installations + "/mall"
	all := []string{mall("large"), kept(1, specified("small")), kept(3, specified("large")), part, hostValue, defaultContext}
	for _, test := range []struct {
		reason  string
		objects []string
		args    string
		code    int
		out     []string
		err     string
		written bool
	}{
		{"back to the last one that has succeeded, with the plan before", all, "mall --yes", 0, []string{
			"Installation mall: from generation 3 back to generation 1 of job j1-good, which ended as Succeeded\n",
			"automaticReconcile.succeededReconcile.interval: 24h0m0s -> 12h0m0s\n", "importDataMappings.password: (secret, changed)\n",
			"import host stays as it is: its value comes from data h, and has changed since (one, now two)\n",
			"Plan: ", "The Installation mall has the specification of generation 1 again, and a job with it was asked for\n",
		}, "", true},
		{"to a job, without a plan", all, "mall --to j1-g --without-plan --yes", 0, []string{"back to generation 1"}, "", true},
		{"only to look", all, "mall --without-plan --dry-run", 0, []string{"back to generation 1"}, "", false},
		{"without a terminal, nothing is changed without a word", all, "mall --without-plan", 1, nil, "Error: nothing was changed: say with --yes", false},
		{"to a job whose specification is not kept", all, "mall --to j2-other --yes", 1, nil, "Error: the Installation mall cannot go back: the specification of job j2-other, generation 2, is not kept", false},
		{"to the job that is there", all, "mall --to j3-failed --yes", 1, nil, "Error: the Installation mall cannot go back: job j3-failed has had the specification", false},
		{"to a job that does not exist", all, "mall --to none --yes", 1, nil, `Error: the history has no job "none"`, false},
		{"nothing is kept", all[:1], "mall --yes", 1, nil, "Error: the Installation mall cannot go back: no specification is kept", false},
		{"a part goes with its root", all, "shop-web --yes", 1, nil, "Error: the command is only supported for root installations", false},
		{"an Installation that does not exist", all, "none --yes", 3, nil, "Error: there is no Installation none", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s, c := connectiontest.New(t, test.objects...), &terminaltest.Console{}
			before := s.Object(there)
			if code := s.Run(t, c, NewRollbackCommand, terminaltest.Fields(test.args)...); code != test.code || !strings.HasPrefix(c.Err.String(), test.err) {
				t.Errorf("code %d, want %d: %s", code, test.code, c.Err.String())
			}
			for _, want := range test.out {
				if !strings.Contains(c.Out.String(), want) {
					t.Errorf("%q is missing in %s", want, c.Out.String())
				}
			}
			if strings.Contains(c.Out.String(), "p-small") || strings.Contains(c.Out.String(), "p-large") {
				t.Errorf("a fixed value is shown: %s", c.Out.String())
			}
			after := s.Object(there)
			if !test.written {
				if after != before || len(s.Writes()) > 0 {
					t.Errorf("changed %v", s.Writes())
				}
				return
			}
			for _, want := range []string{`"interval":"12h0m0s"`, `"password":"p-small"`, `"landscaper.gardener.cloud/operation":"reconcile"`, `"delivery.landscaper.dev/went-back":"3 1 Requested"`} {
				if !strings.Contains(after, want) {
					t.Errorf("%s is missing in %s", want, after)
				}
			}
			if len(s.Writes()) != 1 {
				t.Errorf("several writes: %v", s.Writes())
			}
		})
	}
}

// TestRollbackConflict: an Installation that was written since it was shown stays.
func TestRollbackConflict(t *testing.T) {
	s, c := connectiontest.New(t, mall("large"), kept(1, specified("small"))), &terminaltest.Console{}
	s.Refuse("PUT "+installations+"/mall", 409, metav1.StatusReasonConflict, "it was written")
	if code := s.Run(t, c, NewRollbackCommand, "mall", "--without-plan", "--yes"); code != 1 || !strings.HasPrefix(c.Err.String(), "Error: nothing was changed: the Installation was written meanwhile") {
		t.Errorf("code %d: %s", code, c.Err.String())
	}
}

// TestRollbackWithoutKind: a cluster without the kind says what to do.
func TestRollbackWithoutKind(t *testing.T) {
	s, c := connectiontest.New(t, mall("large")), &terminaltest.Console{}
	s.Gone("GET /apis/delivery.landscaper.dev/v1alpha1/namespaces/default/deliveryrevisions")
	if code := s.Run(t, c, NewRollbackCommand, "mall", "--yes"); code == 0 || !strings.HasPrefix(c.Err.String(), "Error: the cluster does not serve the kind DeliveryRevision: landscaper install --feature-gates=DeliveryPolicies=true brings it") {
		t.Errorf("code %d: %s", code, c.Err.String())
	}
}
