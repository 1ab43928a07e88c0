package fault

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		method, url string
		want        Request
		reason      string
	}{
		{http.MethodGet, "/api/v1/pods", Request{Verb: "list", Resource: "pods"}, "the core group, all namespaces"},
		{http.MethodGet, "/api/v1/namespaces/ns/pods/p", Request{Verb: "get", Resource: "pods", Namespace: "ns", Name: "p"}, "an object in a namespace"},
		{http.MethodGet, "/api/v1/namespaces/ns/pods?watch=true", Request{Verb: "watch", Resource: "pods", Namespace: "ns"}, "a watch is a list with a parameter"},
		{http.MethodGet, "/api/v1/namespaces/ns/pods/p/log", Request{Verb: "get", Resource: "pods", Subresource: "log", Namespace: "ns", Name: "p"}, "a subresource"},
		{http.MethodGet, "/api/v1/namespaces/ns", Request{Verb: "get", Resource: "namespaces", Name: "ns"}, "a namespace itself"},
		{http.MethodPut, "/api/v1/namespaces/ns/finalize", Request{Verb: "update", Resource: "namespaces", Subresource: "finalize", Name: "ns"}, "a namespace's subresource is no resource in it"},
		{http.MethodPatch, "/apis/apps/v1/namespaces/ns/deployments/d/status", Request{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "ns", Name: "d"}, "another group"},
		{http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", Request{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, "a cluster-wide kind"},
		{http.MethodDelete, "/api/v1/namespaces/ns/configmaps", Request{Verb: "deletecollection", Resource: "configmaps", Namespace: "ns"}, "a delete without a name is of all"},
		{http.MethodGet, "/readyz", Request{Verb: "get", Path: "/readyz"}, "not about a resource"},
		{http.MethodGet, "/apis/apps/v1", Request{Verb: "get", Path: "/apis/apps/v1"}, "discovery is not about a resource"},
	} {
		if got := Parse(httptest.NewRequest(row.method, row.url, nil)); got != row.want {
			t.Errorf("%s %s: %+v, want %+v: %s", row.method, row.url, got, row.want, row.reason)
		}
	}
}

func TestRuleMatches(t *testing.T) {
	status := Request{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "ns", Name: "d"}
	for _, row := range []struct {
		rule    Rule
		request Request
		want    bool
		reason  string
	}{
		{Rule{}, status, true, "empty lists match everything"},
		{Rule{Verbs: []string{"get", "update"}}, status, true, "one of the verbs is enough"},
		{Rule{Verbs: []string{"get"}}, status, false, "another verb"},
		{Rule{Resources: []string{"deployments.apps"}}, status, false, "a subresource is a resource of its own"},
		{Rule{Resources: []string{"deployments.apps/status"}}, status, true, "named with its subresource"},
		{Rule{Resources: []string{"*.apps/status"}}, status, true, "a pattern"},
		{Rule{Resources: []string{"*"}}, status, true, "* is every resource"},
		{Rule{Resources: []string{"*"}}, Request{Verb: "get", Path: "/readyz"}, false, "but nothing that is no resource"},
		{Rule{Resources: []string{"deployments"}}, status, false, "the group belongs to the name"},
		{Rule{Namespaces: []string{"other"}}, status, false, "another namespace"},
		{Rule{Names: []string{"d*"}}, status, true, "a pattern for names"},
		{Rule{Action: ActionStall}, status, false, "only watches can stall"},
	} {
		if got := row.rule.matches(row.request); got != row.want {
			t.Errorf("%+v matches %+v: %t, want %t: %s", row.rule, row.request, got, row.want, row.reason)
		}
	}
}

func TestSharesComeOut(t *testing.T) {
	const number = 10000
	for _, share := range []float64{0.01, 0.3, 0.9, 1} {
		hits := 0
		for nth := range number {
			if (Rule{Name: "r", Share: share}).hits(1, Request{Verb: "get", Resource: "pods"}, nth) {
				hits++
			}
		}
		if got := float64(hits) / number; math.Abs(got-share) > 0.02 {
			t.Errorf("share %v came out as %v", share, got)
		}
	}
}

func TestEngineLogsAndStopsAfterTimes(t *testing.T) {
	var log bytes.Buffer
	e := newEngine(&log)
	e.set(Rules{Rules: []Rule{
		{Name: "slow", Share: 1, Action: ActionDelay, Delay: 1},
		{Name: "twice", Share: 1, Times: 2, Action: ActionStatus, Status: 500},
		{Name: "then", Share: 1, Action: ActionCut},
	}})
	var broken []string
	for range 3 {
		delays, breaks := e.decide(Request{Verb: "get"})
		if len(delays) != 1 {
			t.Errorf("delays %+v", delays)
		}
		broken = append(broken, breaks.Name)
	}
	if got := strings.Join(broken, " "); got != "twice twice then" {
		t.Errorf("broken by %s, want twice twice then: the first rule that hits decides", got)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 6 {
		t.Errorf("%d lines in the log, want 3 delays, 2 + 1 breaks:\n%s", lines, &log)
	}
}

// TestEngineCountsAnew: a rule counts on while it is there, and begins anew when it comes back.
func TestEngineCountsAnew(t *testing.T) {
	once := Rule{Name: "once", Share: 1, Times: 1, Action: ActionCut}
	other := Rule{Name: "other", Verbs: []string{"delete"}, Share: 1, Action: ActionCut}
	e := newEngine(io.Discard)
	for _, step := range []struct {
		reason string
		rules  []Rule
		hits   bool
	}{
		{"a new rule hits", []Rule{once}, true},
		{"a rule that is used up does not hit when another rule comes", []Rule{once, other}, false},
		{"a rule that is removed does not hit", []Rule{other}, false},
		{"a rule that is removed and added again hits anew", []Rule{other, once}, true},
	} {
		e.set(Rules{Rules: step.rules})
		if _, breaks := e.decide(Request{Verb: "get"}); (breaks != nil) != step.hits {
			t.Errorf("%s: broken %t, want %t", step.reason, breaks != nil, step.hits)
		}
	}
}

func TestCheckNamesTheRule(t *testing.T) {
	for _, row := range []struct {
		rules  []Rule
		reason string
	}{
		{[]Rule{{Share: 1, Action: ActionCut}}, "a rule without a name cannot be removed"},
		{[]Rule{{Name: "a", Share: 1, Action: ActionCut}, {Name: "a", Share: 1, Action: ActionCut}}, "nor can one of two"},
		{[]Rule{{Name: "a", Share: 1, Action: "explode"}}, "unknown action"},
		{[]Rule{{Name: "a", Share: math.NaN(), Action: ActionCut}}, "no share"},
		{[]Rule{{Name: "a", Share: 1, Action: ActionDelay}}, "a delay of nothing"},
	} {
		if err := (Rules{Rules: row.rules}).Check(); err == nil || !strings.Contains(err.Error(), "rule ") {
			t.Errorf("%s: %v, want an error that names the rule", row.reason, err)
		}
	}
}
