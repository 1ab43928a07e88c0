package change

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// TestPause: which policies a pause and its end write.
func TestPause(t *testing.T) {
	const policies = "/apis/delivery.landscaper.dev/v1alpha1/namespaces/default/deliverypolicies/"
	for _, test := range []struct {
		reason  string
		command constructor
		args    string
		code    int
		out     string
		err     string
		writes  string
	}{
		{"a pause is a policy for one Installation", NewPauseCommand, "shop --reason why", 0, "Paused shop until it is resumed\n", "", "PATCH pause-shop"},
		{"a part is paused with its root", NewPauseCommand, "shop-web", 1, "", "Error: the command is only supported for root installations", ""},
		{"a pause of nothing", NewPauseCommand, "none", 3, "", "Error: ", ""},
		{"a policy is paused", NewPauseCommand, "--policy nights", 0, "Paused nights until it is resumed\n", "", "PATCH nights"},
		{"a policy is resumed", NewResumeCommand, "--policy nights", 0, "Resumed nights\n", "", "PATCH nights"},
		{"a policy that does not exist is not made", NewPauseCommand, "--policy none", 3, "", "Error: there is no DeliveryPolicy none, or the cluster does not serve the kind", "PATCH none"},
		{"the end of a pause deletes its policy", NewResumeCommand, "tools", 0, "Resumed tools\n", "", "DELETE pause-tools"},
		{"the end of no pause", NewResumeCommand, "shop", 3, "", "Error: there is no DeliveryPolicy pause-shop", "DELETE pause-shop"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, shop, part, tools,
				`{apiVersion: delivery.landscaper.dev/v1alpha1, kind: DeliveryPolicy, metadata: {name: nights}, spec: {}}`,
				`{apiVersion: delivery.landscaper.dev/v1alpha1, kind: DeliveryPolicy, metadata: {name: pause-tools}, spec: {installations: [tools], paused: {}}}`)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != test.code || c.Out.String() != test.out || !strings.HasPrefix(c.Err.String(), test.err) {
				t.Errorf("code %d, %q, %q", code, c.Out.String(), c.Err.String())
			}
			if got := strings.ReplaceAll(strings.Join(s.Writes(), ","), policies, ""); got != test.writes {
				t.Errorf("changed %s, want %s", got, test.writes)
			}
			if written := s.Object(policies + "pause-shop"); strings.HasSuffix(test.args, "why") && !strings.Contains(written, `"spec":{"installations":["shop"],"paused":{"reason":"why"}}`) {
				t.Errorf("written %s", written)
			}
		})
	}
}
