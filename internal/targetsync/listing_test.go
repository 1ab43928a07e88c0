package targetsync

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestReadShoot(t *testing.T) {
	tests := []struct {
		reason, object string
		want           shoot
	}{
		{"complete", `{status: {advertisedAddresses: [{name: external, url: "https://a"}], lastOperation: {type: Reconcile, state: Processing}}}`, shoot{reachable: true}},
		{"an issuer is no API server", `{status: {advertisedAddresses: [{name: service-account-issuer, url: "https://a"}]}}`, shoot{}},
		{"an address without URL is none", `{status: {advertisedAddresses: [{name: external}]}}`, shoot{}},
		{"being created", `{status: {lastOperation: {type: Create, state: Processing}}}`, shoot{creating: true}},
		{"created", `{status: {lastOperation: {type: Create, state: Succeeded}}}`, shoot{}},
		{"it sleeps", `{status: {hibernated: true}}`, shoot{hibernated: true}},
		{"it is to sleep", `{spec: {hibernation: {enabled: true}}}`, shoot{hibernated: true}},
		{"its authorities are being replaced", `{status: {credentials: {rotation: {certificateAuthorities: {phase: Prepared}}}}}`, shoot{authorities: "Prepared"}},
		{"fields of other types count as missing", `{spec: {hibernation: {enabled: "yes"}}, status: {advertisedAddresses: [a], lastOperation: x, hibernated: 1}}`, shoot{}},
		{"it has no status yet", `{}`, shoot{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(test.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			read := readShoot(object, func(string) bool { return true })
			if diff := cmp.Diff(test.want, *read.shoot, cmp.AllowUnexported(shoot{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWaits(t *testing.T) {
	answer := func(code int, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: int32(code), Reason: reason}}
	}
	invalid, internal := answer(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid), answer(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	forbidden := answer(http.StatusForbidden, metav1.StatusReasonForbidden)
	tests := []struct {
		reason string
		of     shoot
		err    error
		want   bool
	}{
		{"its address is not there yet", shoot{creating: true}, invalid, true},
		{"its authority is not there yet", shoot{creating: true}, internal, true},
		{"a right is missing, created or not", shoot{creating: true}, forbidden, false},
		{"it was created long ago", shoot{}, internal, false},
		{"it sleeps", shoot{hibernated: true}, internal, true},
		{"it sleeps, but a right is missing", shoot{hibernated: true}, forbidden, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := waits(&test.of, test.err); (got != "") != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestCopies: whatever a source holds, a list of it leaves little in memory.
func TestCopies(t *testing.T) {
	const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}]}`
	secret := func(content string) *unstructured.Unstructured {
		encode := base64.StdEncoding.EncodeToString
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "data": map[string]any{
			"kubeconfig": encode([]byte(content)), "more": encode(bytes.Repeat([]byte("x"), maxCopied/10)),
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
			held := &copies{selects: func(string) bool { return test.selects }}
			object := secret(test.content)
			var err error
			for range test.count {
				if _, failure := held.read(object); failure != nil {
					err = failure
				}
			}
			if errors.Is(err, errTooMuch) != test.tooMuch || held.tooMuch() != test.tooMuch || !test.tooMuch && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
