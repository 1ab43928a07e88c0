package plan

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"an address without URL is none", `{status: {advertisedAddresses: [{name: external}]}}`, Shoot{}},
		{"being created", `{status: {lastOperation: {type: Create, state: Processing}}}`, Shoot{Creating: true}},
		{"created", `{status: {lastOperation: {type: Create, state: Succeeded}}}`, Shoot{}},
		{"it sleeps", `{status: {hibernated: true}}`, Shoot{Hibernated: true}},
		{"it is to sleep", `{spec: {hibernation: {enabled: true}}}`, Shoot{Hibernated: true}},
		{"its authorities are being replaced", `{status: {credentials: {rotation: {certificateAuthorities: {phase: Prepared}}}}}`, Shoot{authorities: "Prepared"}},
		{"fields of other types count as missing", `{spec: {hibernation: {enabled: "yes"}}, status: {advertisedAddresses: [a], lastOperation: x, hibernated: 1}}`, Shoot{}},
		{"it has no status yet", `{}`, Shoot{}},
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
			// What came before has left room for nine and a half.
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
