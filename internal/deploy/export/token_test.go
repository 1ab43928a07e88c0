package export

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

const (
	robot = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: ns}}`
	// tokenSecret is a Secret with the token of the ServiceAccount with UID.
	tokenSecret = `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: token, namespace: ns, annotations: {kubernetes.io/service-account.name: robot, kubernetes.io/service-account.uid: UID}}, data: {token: eA==}}`
	tokenExport = `{key: token, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: Secret, name: token, namespace: ns}}`
)

// withAccounts is a cluster that knows ServiceAccounts.
func withAccounts() *fakecluster.Cluster {
	cluster := fakecluster.New()
	cluster.Know(schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, "serviceaccounts", meta.RESTScopeNamespace)
	return cluster
}

// TestTokenOfAnEarlierAccount exports a token only if it is one of the ServiceAccount that
// there is: kube-controller-manager may have filled the Secret for one that was deleted.
func TestTokenOfAnEarlierAccount(t *testing.T) {
	const live = "the UID of the ServiceAccount that there is"
	tests := []struct {
		reason, secret, uid string
		account             bool
		fault               error
		waits, fails        string
		reads               int
	}{
		{reason: "the token is of the ServiceAccount", secret: tokenSecret, uid: live, account: true, reads: 2},
		{reason: "the token is of an earlier ServiceAccount", secret: tokenSecret, uid: "gone", account: true, reads: 2, waits: "a value at .data.token of Secret ns/token that counts: its token is of an earlier ServiceAccount robot, which was deleted"},
		{reason: "the ServiceAccount does not exist", secret: tokenSecret, uid: "gone", reads: 2, waits: "its token is of ServiceAccount robot, which does not exist"},
		{reason: "without the right to read ServiceAccounts, the Secret is believed", secret: tokenSecret, uid: "gone", account: true, fault: apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, "robot", nil), reads: 2},
		{reason: "the API server does not answer", secret: tokenSecret, uid: live, account: true, fault: errors.New("no answer"), reads: 2, fails: "look at what Secret ns/token belongs to: no answer"},
		{reason: "the token controller has not filled it: the user has", secret: strings.Replace(tokenSecret, ", kubernetes.io/service-account.uid: UID", "", 1), account: true, reads: 1},
		{reason: "a Secret of another type costs no request", secret: strings.Replace(tokenSecret, "kubernetes.io/service-account-token", "Opaque", 1), uid: "gone", account: true, reads: 1},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := withAccounts()
			if test.account {
				uid := string(cluster.Put(parse(t, robot)).GetUID())
				test.uid = strings.Replace(test.uid, live, uid, 1)
			}
			cluster.Put(parse(t, strings.Replace(test.secret, "UID", test.uid, 1)))
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Kind == "ServiceAccount" {
					return fakecluster.Fault{Before: test.fault}
				}
				return fakecluster.Fault{}
			}
			reading := one(t, tokenExport).Begin(cluster, func() {})
			defer reading.Close()
			missing, err := reading.Look(t.Context())
			if (missing == "") != (test.waits == "" && test.fails == "" || err != nil) || !strings.Contains(missing, test.waits) {
				t.Errorf("missing %q, want %q", missing, test.waits)
			}
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
			if got := cluster.Counts()["get"]; got != test.reads {
				t.Errorf("%d reads, want %d", got, test.reads)
			}
		})
	}
}

// TestTokenIsReplaced waits until the Secret is created again for the ServiceAccount that exists.
func TestTokenIsReplaced(t *testing.T) {
	cluster, wakes := withAccounts(), 0
	uid := string(cluster.Put(parse(t, robot)).GetUID())
	cluster.Put(parse(t, strings.Replace(tokenSecret, "UID", "gone", 1)))
	reading := one(t, tokenExport).Begin(cluster, func() { wakes++ })
	defer reading.Close()
	expect := func(want string, absent bool) {
		t.Helper()
		missing, err := reading.Look(t.Context())
		awaited, isAbsent := reading.Awaited()
		if err != nil || !strings.Contains(missing, want) || isAbsent != absent || awaited.GetName() != "token" {
			t.Fatalf("missing %q, absent %t, error %v, want %q", missing, isAbsent, err, want)
		}
	}
	expect("an earlier ServiceAccount", false)
	cluster.Remove("Secret", "ns", "token")
	expect("Secret ns/token", true)
	cluster.Put(parse(t, strings.Replace(tokenSecret, "UID", uid, 1)))
	if wakes != 2 {
		t.Errorf("%d triggers", wakes)
	}
	if missing, err := reading.Look(t.Context()); err != nil || missing != "" || reading.Result() != "eA==" {
		t.Errorf("missing %q, error %v, result %v", missing, err, reading.Result())
	}
	if awaited, absent := reading.Awaited(); awaited != nil || absent {
		t.Errorf("awaited %v although all is there", awaited)
	}
}
