package access

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// TestWget: the author of a component version chooses address and request; only what the operator
// allows is sent.
func TestWget(t *testing.T) {
	var got atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://10.0.0.1:9/", http.StatusFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		got.Store(r.Method + " " + string(body))
	}))
	defer server.Close()
	const body = "czNjcjN0" // s3cr3t
	home := egress.Policy{AllowLoopback: true}
	for _, test := range []struct {
		reason, access string
		policy         egress.Policy
		rules          WgetRules
		want, err      string
	}{
		{"a download", `"url":"HERE"`, home, WgetRules{}, "GET ", ""},
		{"a download that says so", `"url":"HERE","verb":"get"`, home, WgetRules{}, "GET ", ""},
		{"a request that changes something", `"url":"HERE","verb":"DELETE"`, home, WgetRules{AnyRequestRemedy: "the switch allows it"}, "", "field verb of the access of type wget: only GET without a body is sent: the switch allows it"},
		{"a request that is not heard of", `"url":"HERE","verb":"s3cr3t"`, home, WgetRules{}, "", "field verb"},
		{"a body", `"url":"HERE","body":"` + body + `"`, home, WgetRules{}, "", "field body"},
		{"the operator allows any request", `"url":"HERE","verb":"POST","body":"` + body + `"`, home, WgetRules{AnyRequest: true}, "POST s3cr3t", ""},
		{"a private network", `"url":"http://10.0.0.1:9"`, home, WgetRules{PrivateRemedy: "the switch allows it"}, "", "(private network): use another address; the switch allows it"},
		{"a private network behind a redirect", `"url":"HERE/away"`, home, WgetRules{}, "", "(private network)"},
		{"a private network that the operator refuses to all", `"url":"http://10.0.0.1:9"`, egress.Policy{DenyPrivate: true}, WgetRules{Private: true}, "", "egress.denyPrivate of the server refuses it"},
		{"this machine is not a private network", `"url":"HERE"`, egress.Policy{}, WgetRules{AnyRequest: true, Private: true}, "", "(loopback)"},
		{"what the operator lists goes before", `"url":"HERE"`, egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, WgetRules{}, "GET ", ""},
		{"a program of the user goes anywhere", `"url":"HERE"`, egress.Unrestricted(), WgetRules{}, "GET ", ""},
	} {
		for _, kind := range []string{"wget", "web", "Wget/v1"} {
			t.Run(test.reason+"/"+kind, func(t *testing.T) {
				got.Store("")
				wget, err := NewWget(HTTPOptions{Egress: test.policy, Timeouts: ample}, test.rules)
				if err != nil {
					t.Fatal(err)
				}
				reader := &Reader{HTTP: newClient(true), Wget: wget}
				access := descriptor.Typed(fmt.Sprintf(`{"type":%q,%s}`, kind, strings.ReplaceAll(test.access, "HERE", server.URL)))
				blob, err := reader.Open(t.Context(), nil, access)
				if err == nil {
					_ = blob.Close()
				}
				if (err == nil) != (test.err == "") || err != nil && (!strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t")) {
					t.Errorf("%v, want %q", err, test.err)
				}
				if got.Load() != test.want {
					t.Errorf("the server got %q, want %q", got.Load(), test.want)
				}
			})
		}
	}
	_, err := (&Reader{HTTP: newClient(true)}).Open(t.Context(), nil, descriptor.Typed(`{"type":"wget","url":"`+server.URL+`","verb":"POST"}`))
	if !errors.Is(err, ErrAnyRequest) {
		t.Errorf("without rules the strictest count: %v", err)
	}
}
