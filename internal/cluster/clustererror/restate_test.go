package clustererror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func FuzzRestated(f *testing.F) {
	f.Add(422, "Invalid", "FieldValueInvalid", "spec.x", `Invalid value: "canary-7c1": field is immutable`)
	f.Add(403, "canary-7c1", "canary-7c1", "data[canary-7c1]", "admission webhook canary-7c1 denied")
	f.Add(400, "", "", "metadata.labels.canary-7c1", "canary-7c1")
	f.Add(422, "Invalid", "", "", "ValidatingAdmissionPolicy 'canary-7c1-canary-7c1-canary-7c1' with binding 'canary-7c1-canary-7c1-canary-7c1' denied request: the password canary-7c1-canary-7c1-canary-7c1 is weak")
	f.Add(500, "InternalError", "", "", `failed calling webhook "canary-7c1-canary-7c1-canary-7c1": Post "https://canary-7c1-canary-7c1-canary-7c1.ns.svc:443/": EOF`)
	f.Add(403, "Forbidden", "", "", "exceeded quota: canary-7c1-canary-7c1-canary-7c1, requested: canary-7c1-canary-7c1-canary-7c1=1, used: pods=1, limited: pods=1")
	f.Fuzz(func(t *testing.T, code int, reason, cause, field, message string) {
		said := &metav1.Status{Reason: metav1.StatusReason(reason), Message: message, Details: &metav1.StatusDetails{Name: message, Causes: []metav1.StatusCause{{Type: metav1.CauseType(cause), Field: field, Message: message}}}}
		// All of it is in the request, as far as a cluster knows.
		about := sending("POST", "/api/v1/namespaces/ns/configmaps", map[string]any{"kind": "ConfigMap", "data": map[string]any{"x": message, "y": cause, "z": reason}})
		result, err := json.Marshal(restated("GET of x", code, said, about))
		if err != nil {
			t.Fatal(err)
		}
		// Words of the message that are long enough not to be ours by chance.
		for _, word := range strings.Fields(message) {
			if len(word) > 20 && strings.Contains(string(result), word) && !strings.Contains(field, word) {
				t.Errorf("%s repeats %q", result, word)
			}
		}
	})
}

// TestCorpora: the fuzz targets have inputs that were found once.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzRestated"} {
		if entries, err := os.ReadDir("testdata/fuzz/" + name); err != nil || len(entries) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRestated(t *testing.T) {
	cause := func(kind metav1.CauseType, field, message string) *metav1.Status {
		return &metav1.Status{Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: kind, Field: field, Message: message}}}}
	}
	tests := []struct {
		reason string
		code   int
		said   *metav1.Status
		want   string
	}{
		{"a field with a value that is wrong", 422, cause(metav1.CauseTypeFieldValueInvalid, "spec.replicas", "Invalid value: "+word), "Invalid (422) to PUT of x: spec.replicas: the value is invalid"},
		{"a field that cannot be changed", 422, cause(metav1.CauseTypeFieldValueInvalid, "spec.selector", word+": field is immutable"), "spec.selector: the value is invalid (it cannot be changed: delete the object, or keep the value)"},
		{"a wrong type", 422, cause(metav1.CauseTypeTypeInvalid, "spec.replicas", `"`+word+`": spec.replicas in body must be of type integer: "string"`), "the value has the wrong type (it must be of type integer)"},
		{"a key of a map is data", 422, cause(metav1.CauseTypeFieldValueInvalid, "spec.template.annotations["+word+"]", ""), "spec.template.annotations[*]: the value is invalid"},
		{"an index is not a key", 422, cause(metav1.CauseTypeFieldValueRequired, "spec.containers[0].image", ""), "spec.containers[0].image: a value is required"},
		{"what is below data is data", 422, cause(metav1.CauseTypeFieldValueInvalid, "data."+word, ""), "data.*: the value is invalid"},
		{"what is below labels is data", 422, cause(metav1.CauseTypeFieldValueInvalid, "metadata.labels."+word, ""), "metadata.labels.*: the value is invalid"},
		{"a sentence is no field", 422, cause(metav1.CauseTypeFieldValueInvalid, "the password "+word, ""), "Invalid (422) to PUT of x: the value is invalid"},
		{"an unknown cause is not repeated", 422, cause("Cause"+word, "spec.a", word), "Invalid (422) to PUT of x: spec.a"},
		{"a conflict of owners", 409, cause(metav1.CauseTypeFieldManagerConflict, ".spec.replicas", "conflict with "+word), "spec.replicas: another field manager owns it"},
		{"a webhook that says something", 403, &metav1.Status{Reason: metav1.StatusReasonForbidden, Message: "admission webhook " + word + " denied the request"}, "Forbidden (403) to PUT of x: an admission webhook of the cluster refuses it"},
		{"a right that is missing", 403, &metav1.Status{Reason: metav1.StatusReasonForbidden, Message: "User " + word + " cannot patch resource"}, "the credentials lack this permission"},
		{"an unknown reason is replaced by that of the code", 409, &metav1.Status{Reason: metav1.StatusReason(word)}, "Conflict (409) to PUT of x"},
		{"an unknown reason with an unknown code", 418, &metav1.Status{Reason: metav1.StatusReason(word), Message: word}, "418 I'm a teapot to PUT of x"},
		{"a code that is not valid", -1, &metav1.Status{}, "-1  to PUT of x"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			result := restated("PUT of x", test.code, test.said, nil)
			encoded, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(result.Message, test.want) || strings.Contains(string(encoded), word) {
				t.Errorf("got %s", encoded)
			}
		})
	}
	t.Run("a server that lists causes without end", func(t *testing.T) {
		said := cause(metav1.CauseTypeFieldValueInvalid, "spec.a", "")
		for range 1000 {
			said.Details.Causes = append(said.Details.Causes, said.Details.Causes[0])
		}
		if result := restated("PUT of x", 422, said, nil); len(result.Details.Causes) != maxCauses || len(result.Message) > 1000 {
			t.Errorf("%d causes, %d bytes", len(result.Details.Causes), len(result.Message))
		}
	})
	t.Run("a path without end", func(t *testing.T) {
		result := restated("PUT of x", 422, cause(metav1.CauseTypeFieldValueInvalid, strings.Repeat("a", 10000), ""), nil)
		if len(result.Message) > 200 || result.Details.Causes[0].Field != "" {
			t.Errorf("%d bytes", len(result.Message))
		}
	})
}

// answer is what a cluster has said, and to what.
func answer(method, path string, code int, body string) (*http.Request, *http.Response) {
	request := httptest.NewRequest(method, "https://127.0.0.1:6443"+path, nil)
	return request, &http.Response{StatusCode: code, Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// TestRestate: whatever a server answers, what comes back is a status in our words.
func TestRestate(t *testing.T) {
	const named = "/api/v1/namespaces/" + word + "/secrets/" + word
	tests := []struct {
		reason, path string
		code         int
		body, want   string
	}{
		{"a status", named, 403, `{"kind":"Status","reason":"Forbidden","message":"` + word + `"}`, "the API server answers Forbidden (403) to GET of secrets"},
		{"no status", named, 403, "<html>" + word, "the API server answers Forbidden (403) to GET of secrets"},
		{"an answer of another kind", named, 500, `{"kind":"Secret","message":"` + word + ` already exists"}`, "the API server answers InternalError (500) to GET of secrets"},
		{"nothing", named, 404, "", "NotFound (404) to GET of secrets: the cluster does not know this kind"},
		{"an object that is not there", named, 404, `{"kind":"Status","reason":"NotFound","message":"secrets not found"}`, "NotFound (404) to GET of secrets: it does not exist"},
		{"a garden about something else than credentials", "/apis/core.gardener.cloud/v1beta1/namespaces/a/shoots/b", 500, `{"kind":"Status","message":"` + word + `"}`, "InternalError (500) to GET of shoots"},
		{"a subresource", "/apis/apps/v1/namespaces/a/deployments/" + word + "/scale", 409, "", "Conflict (409) to GET of deployments/scale"},
		{"a namespace itself", "/api/v1/namespaces/" + word, 403, "", "to GET of namespaces"},
		{"a kind of the cluster", "/apis/rbac.authorization.k8s.io/v1/clusterroles/" + word, 403, "", "to GET of clusterroles"},
		{"an address that is not of an API server", "/" + word, 403, "", "Forbidden (403) to GET"},
		{"the root", "/", 403, "", "Forbidden (403) to GET"},
		{"more than anybody reads", named, 403, `{"kind":"Status","message":"` + strings.Repeat(word, 10000), "Forbidden (403) to GET of secrets"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			request, response := answer(http.MethodGet, test.path, test.code, test.body)
			defer response.Body.Close() //nolint:errcheck // it is in memory
			if err := Restate(request, response); err != nil {
				t.Fatal(err)
			}
			result, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			status := metav1.Status{}
			if err := json.Unmarshal(result, &status); err != nil || status.Kind != "Status" || int(status.Code) != test.code {
				t.Fatalf("%v: %s", err, result)
			}
			if !strings.Contains(status.Message, test.want) || strings.Contains(string(result), word) {
				t.Errorf("got %s", result)
			}
			if response.Header.Get("Content-Type") != "application/json" || response.Header.Get("Content-Encoding") != "" || response.ContentLength != int64(len(result)) {
				t.Errorf("the headers are about the answer of before: %v", response.Header)
			}
		})
	}
}

// TestInOurWords: events of a watch go by another way, and say no more.
func TestInOurWords(t *testing.T) {
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired, Message: word}}
	explained := Explain(io.ErrUnexpectedEOF, TalkToCluster, "x")
	tests := []struct {
		reason string
		err    error
		want   string
	}{
		{"the version is too old", gone, "the API server answers Expired (410) to a watch of secrets"},
		{"an event that cannot be decoded", errors.New("unable to decode " + word), "the watch of secrets has ended, and begins again"},
		{"what is about the connection stays", dialed(syscall.ECONNREFUSED), "connection refused"},
		{"what is explained already stays", explained, explained.Error()},
		{"an end without a reason stays", io.EOF, "EOF"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := InOurWords(test.err, "secrets")
			if text := err.Error(); !strings.Contains(text, test.want) {
				t.Errorf("it says %q", text)
			}
			if apierrors.ReasonForError(err) != apierrors.ReasonForError(test.err) {
				t.Errorf("the reason is %q", apierrors.ReasonForError(err))
			}
		})
	}
	t.Run("no error", func(t *testing.T) {
		if err := InOurWords(nil, "secrets"); err != nil {
			t.Error(err)
		}
	})
}

func TestIsNamespaceMissing(t *testing.T) {
	status := func(kind string, code int) error {
		said := &metav1.Status{Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Kind: kind, Name: word}}
		return fmt.Errorf("create it: %w", &apierrors.StatusError{ErrStatus: *restated("POST of x", code, said, nil)})
	}
	for _, test := range []struct {
		reason string
		err    error
		want   bool
	}{
		{"the namespace is missing", status("namespaces", 404), true},
		{"the object is missing", status("configmaps", 404), false},
		{"an unrelated error", errors.New("x"), false},
		{"no error", nil, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := IsNamespaceMissing(test.err); got != test.want {
				t.Errorf("%t: %v", got, test.err)
			}
		})
	}
}
