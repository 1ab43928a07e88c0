package cluster

import (
	"net/http"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestID: the cluster is asked once; who may not read it has no ID, and what goes wrong is
// asked again.
func TestID(t *testing.T) {
	for _, test := range []struct {
		reason   string
		status   int
		body, id string
		fails    bool
		asked    int
	}{
		{"the UID of a namespace", http.StatusOK, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"kube-system","uid":"u1"}}`, "u1", false, 1},
		{"a Namespace that may not be read has no ID", http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`, "", false, 1},
		{"a control plane without it", http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, "", false, 1},
		{"a server error is returned, and asked again", http.StatusInternalServerError, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`, "", true, 2},
	} {
		t.Run(test.reason, func(t *testing.T) {
			asked := 0
			target := speaking(t, func(out http.ResponseWriter, request *http.Request) {
				if request.URL.Path != "/api/v1/namespaces/kube-system" {
					t.Errorf("asked for %s", request.URL.Path)
				}
				asked++
				write(out, test.status, test.body)
			})
			connection, err := NewPool(PoolOptions{Egress: lab}).Connect(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if id, err := connection.ID(t.Context()); id != test.id || (err != nil) != test.fails {
					t.Errorf("%q, error %v", id, err)
				}
			}
			if asked != test.asked {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// TestAddress: credentials make no difference, all that tells servers apart does, and
// nothing of it can be read.
func TestAddress(t *testing.T) {
	pool := NewPool(PoolOptions{Egress: lab})
	address := func(cluster, user string) string {
		t.Helper()
		target := targetOf(kubeconfig(cluster, user))
		found, err := pool.AddressOf(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		connection, err := pool.Connect(t.Context(), target)
		if err != nil || connection.Address() != found {
			t.Errorf("the connection has another address: %v", err)
		}
		return found
	}
	const host = `"server":"https://api.example.org:6443"`
	first := address(host, `"token":"a"`)
	for reason, test := range map[string]struct {
		cluster, user string
		same          bool
	}{
		"another token":          {host, `"token":"b"`, true},
		"a slash at the end":     {`"server":"https://api.example.org:6443/"`, `"token":"a"`, true},
		"another server":         {`"server":"https://api.example.org:6444"`, `"token":"a"`, false},
		"another path":           {`"server":"https://api.example.org:6443/tenant"`, `"token":"a"`, false},
		"another name to expect": {host + `,"tls-server-name":"other"`, `"token":"a"`, false},
	} {
		if got := address(test.cluster, test.user); (got == first) != test.same || strings.Contains(got, "example") {
			t.Errorf("%s: %s and %s", reason, got, first)
		}
	}
	if _, err := pool.AddressOf(t.Context(), &v1alpha1.Target{}); err == nil {
		t.Error("a Target without content has an address")
	}
}
