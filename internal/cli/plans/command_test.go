package plans

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

var digests = []string{"sha256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("b", 64)}

// planOf is a stored plan that changes a field, of an Installation with a UID.
func planOf(t *testing.T, digest, uid, created, value string, unknown int) string {
	t.Helper()
	result := &preview.Result{Digest: digest, Summary: diff.Summary{Update: 1, Unknown: unknown}, Items: []preview.Item{{Path: "shop/db", Action: diff.Update, Changes: []diff.Change{
		{Action: diff.Update, Kind: "ConfigMap", Name: "c", Fields: []diff.Field{{Path: "data.a", Before: "0", After: value}}},
	}}}}
	content, err := deliveryplan.Encode(result, deliveryplan.Permits{Digest: digest})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{apiVersion: delivery.landscaper.dev/v1alpha1, kind: DeliveryPlan, metadata: {name: %s, creationTimestamp: %q}, spec: {installation: {name: shop, uid: %s}, digest: %q, summary: {change: 1, unknown: %d}, parts: 1, content: %s}}`,
		deliveryplan.NameOf("shop", digest), created, uid, digest, unknown, base64.StdEncoding.EncodeToString(content))
}

// TestPlans: what the commands show of stored plans, and what they refuse to approve.
func TestPlans(t *testing.T) {
	const shop = `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, metadata: {name: shop, uid: u}, spec: {}}`
	const tools = `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, metadata: {name: tools, uid: v}, spec: {}}`
	now := time.Now().UTC().Format(time.RFC3339)
	approval := `{apiVersion: delivery.landscaper.dev/v1alpha1, kind: DeliveryApproval, metadata: {name: a, creationTimestamp: "` + now + `"}, spec: {installation: shop, digest: "` + digests[0] + `", approvedBy: ann}}`
	tooOld := strings.NewReplacer("name: a", "name: b", now, "2026-01-01T00:00:00Z", "ann", "bob").Replace(approval)
	const two = `{apiVersion: delivery.landscaper.dev/v1alpha1, kind: DeliveryPolicy, metadata: {name: p}, spec: {approval: {approvers: 2}}}`
	old, present := planOf(t, digests[0], "u", "2026-01-01T00:00:00Z", "1", 0), planOf(t, digests[1], "u", "2026-01-02T00:00:00Z", "2", 0)
	for _, test := range []struct {
		reason  string
		objects []string
		args    string
		code    int
		out     string
		err     string
	}{
		{"all plans", []string{shop, old, present, approval}, "list", 0, "INSTALLATION  PLAN                                                                     CHANGES      APPROVED BY\nshop          " + digests[1] + "  1 to change  -\nshop          " + digests[0] + "  1 to change  ann\n", ""},
		{"the newest plan, compared with the one before", []string{shop, old, present, approval}, "show shop", 0, "shop/db\n  ~ change ConfigMap c\n      ~ data.a: 0 -> 2\nPlan: 0 to create, 1 to change, 0 to delete, 0 unchanged\nDigest: " + digests[1] + "\nApproved by: no user\n\nCompared with plan " + digests[0] + ", which ann has approved:\n-       ~ data.a: 0 -> 1\n+       ~ data.a: 0 -> 2\n- Digest: " + digests[0] + "\n+ Digest: " + digests[1] + "\n", ""},
		{"an earlier plan", []string{shop, old, present, approval}, "show shop --digest sha256:aaaaaaaaaa", 0, "Approved by: ann\n", ""},
		{"an approval that is too old does not count", []string{shop, old, approval, tooOld, two}, "show shop", 0, "Approved by: ann (1 of 2)\nToo old, withdrawn, or without the unknown parts: bob\n", ""},
		{"one of two, and an earlier plan that no job needs", []string{shop, old, present, approval, strings.ReplaceAll(tooOld, digests[0], digests[1]), two}, "list", 0, digests[1] + "  1 to change  - (0 of 2)\nshop          " + digests[0] + "  1 to change  ann\n", ""},
		{"for programs", []string{shop, present}, "show shop -o json", 0, `"digest": "` + digests[1], ""},
		{"no plan", []string{shop, tools, present}, "show tools", 3, "", "Error: no plan of Installation tools is stored"},
		{"the plan of an earlier Installation of the name", []string{shop, planOf(t, digests[0], "w", "2026-01-01T00:00:00Z", "1", 0)}, "show shop", 3, "", "Error: no plan of Installation shop is stored"},
		{"no Installation", []string{shop}, "show none", 3, "", "Error: "},
		{"a short digest could mean any plan", []string{shop, present}, "approve shop --digest sha256:bb", 64, "", `Error: --digest "sha256:bb": write sha256: and at least 10 digits`},
		{"another plan than the stored ones", []string{shop, present}, "approve shop --digest " + digests[0], 3, "", "Error: Installation shop has no plan " + digests[0] + ": the present one is " + digests[1]},
		{"no plan is approved unseen", []string{shop, present}, "approve shop", 64, "", "Error: name the plan with --digest"},
		{"the plan before the present one is of no use to the next job", []string{shop, planOf(t, digests[0], "u", "2026-01-01T00:00:00Z", "1", 2), present}, "approve shop --digest " + digests[0], 1, "", "Warning: the next job needs an approval of plan " + digests[1] + ": look at it with landscaper-cli plans show shop\nError: plan " + digests[0]},
		{"unknown parts are accepted by those who say so", []string{shop, planOf(t, digests[0], "u", "2026-01-01T00:00:00Z", "1", 2)}, "approve shop --digest " + digests[0], 1, "", "Error: plan " + digests[0] + " has 2 parts that only the job can know"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s, c := connectiontest.New(t, test.objects...), &terminaltest.Console{}
			command := NewCommand
			code := s.Run(t, c, command, terminaltest.Fields(test.args)...)
			if code != test.code || !strings.Contains(c.Out.String(), test.out) || !strings.HasPrefix(c.Err.String(), test.err) {
				t.Errorf("code %d, %q, %q", code, c.Out.String(), c.Err.String())
			}
			if len(s.Writes()) > 0 {
				t.Errorf("it writes %v", s.Writes())
			}
		})
	}
}
