package syncplan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestReadShoot(t *testing.T) {
	tests := []struct {
		reason, object string
		want           Shoot
	}{
		{"complete", `{status: {advertisedAddresses: [{name: external, url: "https://a"}], lastOperation: {type: Reconcile, state: Processing}}}`, Shoot{reachable: true}},
		{"an issuer is no API server", `{status: {advertisedAddresses: [{name: service-account-issuer, url: "https://a"}]}}`, Shoot{}},
		{"an Ingress in front of a shoot is no API server", `{status: {advertisedAddresses: [{name: ingress/dashboard, url: "https://a"}]}}`, Shoot{}},
		{"a VirtualService in front of a shoot is no API server", `{status: {advertisedAddresses: [{name: virtualservice/api, url: "https://a"}]}}`, Shoot{}},
		{"an address without a name is no API server", `{status: {advertisedAddresses: [{url: "https://a"}]}}`, Shoot{}},
		{"an address inside of the garden's network", `{status: {advertisedAddresses: [{name: ingress/x, url: "https://b"}, {name: internal, url: "https://a"}]}}`, Shoot{reachable: true}},
		{"a seed with a wildcard certificate", `{status: {advertisedAddresses: [{name: wildcard-tls-seed-bound, url: "https://a"}]}}`, Shoot{reachable: true}},
		{"a shoot without a domain", `{status: {advertisedAddresses: [{name: unmanaged, url: "https://a"}]}}`, Shoot{reachable: true}},
		{"an address without URL does not count", `{status: {advertisedAddresses: [{name: external}]}}`, Shoot{}},
		{"being created", `{status: {lastOperation: {type: Create, state: Processing}}}`, Shoot{Creating: true}},
		{"created", `{status: {lastOperation: {type: Create, state: Succeeded}}}`, Shoot{}},
		{"a hibernated shoot", `{status: {hibernated: true}}`, Shoot{Hibernated: true}},
		{"a shoot that is to hibernate", `{spec: {hibernation: {enabled: true}}}`, Shoot{Hibernated: true}},
		{"a shoot whose authorities are being replaced", `{status: {credentials: {rotation: {certificateAuthorities: {phase: Prepared}}}}}`, Shoot{authorities: "Prepared"}},
		{"fields of other types count as missing", `{spec: {hibernation: {enabled: "yes"}}, status: {advertisedAddresses: [a], lastOperation: x, hibernated: 1}}`, Shoot{}},
		{"a shoot without a status", `{}`, Shoot{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(test.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			read := ReadShoot(object, func(string) bool { return true })
			if diff := cmp.Diff(test.want, *read.Shoot, cmp.AllowUnexported(Shoot{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCopies: whatever a source holds, a list of it leaves little in memory.
func TestCopies(t *testing.T) {
	const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}]}`
	const large = 10_000
	secret := func(content string) *unstructured.Unstructured {
		encode := base64.StdEncoding.EncodeToString
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "data": map[string]any{
			"kubeconfig": encode([]byte(content)), "more": encode(bytes.Repeat([]byte("x"), large)),
		}}}
	}
	for _, test := range []struct {
		reason, content string
		selects         bool
		count           int
		tooMuch         bool
	}{
		{"a few large ones", kubeconfig, true, 9, false},
		{"too many of them", kubeconfig, true, 10, true},
		{"those that are not selected do not count", kubeconfig, false, 20, false},
		{"nor those that are not copied", "no kubeconfig", true, 20, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			// The space that is left is enough for nine and a half.
			held := &Copies{Selects: func(string) bool { return test.selects }, size: maxCopied - 95*large/10}
			object := secret(test.content)
			var err error
			for range test.count {
				if _, failure := held.Read(object); failure != nil {
					err = failure
				}
			}
			if errors.Is(err, ErrTooMuch) != test.tooMuch || held.TooMuch() != test.tooMuch || !test.tooMuch && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestReadSecret: what a source holds is copied as it is, or it is said why not; what it
// holds is never told.
func TestReadSecret(t *testing.T) {
	const word = "hunter2hunter2"
	text := func(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) }
	all, none := func(string) bool { return true }, func(string) bool { return false }
	tests := []struct {
		reason, data string
		selects      func(string) bool
		problem      string
		fails        bool
	}{
		{"no kubeconfig in it", `{password: ` + text(word) + `}`, all, "has no key kubeconfig", false},
		{"nothing in it", `{}`, all, "has no key kubeconfig", false},
		{"nothing at all", `null`, all, "has no key kubeconfig", false},
		{"an empty kubeconfig", `{kubeconfig: ""}`, all, "", false},
		{"a kubeconfig that is not valid", `{kubeconfig: ` + text(word) + `}`, all, "", false},
		{"a kubeconfig that runs a program", `{kubeconfig: ` + text("apiVersion: v1\nkind: Config\nusers: [{name: u, user: {exec: {command: "+word+"}}}]") + `}`, all, "", false},
		{"a value that is not base64", `{kubeconfig: "` + word + `!"}`, all, "", true},
		{"a map for a value", `{kubeconfig: {a: ` + word + `}}`, all, "", true},
		{"a number for a value", `{kubeconfig: 1}`, all, "", true},
		{"a list for the data", `[` + word + `]`, all, "", true},
		{"what is not selected is not even read", `[` + word + `]`, none, "", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("metadata: {name: a, uid: u}\ndata: "+test.data), &object.Object); err != nil {
				t.Fatal(err)
			}
			read, err := readSecret(object, test.selects)
			if (err != nil) != test.fails || err != nil && strings.Contains(err.Error(), word) {
				t.Fatalf("error %v", err)
			}
			if err != nil || read.Copied == nil {
				return
			}
			if problem := read.Copied.problem; problem == nil || !strings.Contains(problem.Error(), test.problem) || strings.Contains(problem.Error(), word) {
				t.Errorf("problem %v", problem)
			}
			if read.Copied.Data != nil || read.Copied.hash == "" {
				t.Error("what must not be copied is kept, or not identified")
			}
		})
	}
}

// TestAuthoritiesCanBeStored: what a source says of a rotation becomes an annotation, and
// is compared with that later. What changes on its way would let every run ask for new
// credentials.
func TestAuthoritiesCanBeStored(t *testing.T) {
	for _, test := range []struct{ reason, phase string }{
		{"what a garden says", "Prepared"},
		{"nothing", ""},
		{"more than a garden says", strings.Repeat("x", 1000)},
		{"a letter of several bytes at the end", strings.Repeat("x", maxAuthorities-1) + "ü"},
		{"bytes that are not text", "\xff\xfe"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{}}
			if err := unstructured.SetNestedField(object.Object, test.phase, "status", "credentials", "rotation", "certificateAuthorities", "phase"); err != nil {
				t.Fatal(err)
			}
			read := ReadShoot(object, func(string) bool { return true })
			made := WantedSecret(fleet(), Step{Name: "eu", Of: &read}, nil, nil, now, now)
			encoded, err := json.Marshal(made)
			if err != nil {
				t.Fatal(err)
			}
			stored := &corev1.Secret{}
			if err := json.Unmarshal(encoded, stored); err != nil {
				t.Fatal(err)
			}
			if got := FactsOf(stored).authorities; got != read.Shoot.authorities || len(got) > maxAuthorities {
				t.Errorf("stored %q, compared with %q", got, read.Shoot.authorities)
			}
		})
	}
}
