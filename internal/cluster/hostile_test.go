package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFailuresWithoutValues: what an API server says about any kind is told with
// fields and reasons, and without what it quotes.
func TestFailuresWithoutValues(t *testing.T) {
	invalid := func(kind, cause, field, message string) string {
		text, err := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonInvalid, Code: 422,
			Message: kind + ` "` + secretWord + `" is invalid: ` + field + ": " + message,
			Details: &metav1.StatusDetails{Name: secretWord, Kind: kind, Causes: []metav1.StatusCause{{Type: metav1.CauseType(cause), Field: field, Message: message}}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	status := func(code int, reason, message string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%q}`, reason, code, message)
	}
	tests := []struct {
		reason string
		code   int
		body   string
		want   string
	}{
		{"an immutable field", 422, invalid("Deployment", "FieldValueInvalid", "spec.selector", `Invalid value: "`+secretWord+`": field is immutable`), "Invalid (422) to POST of configmaps: spec.selector: the value is invalid (it cannot be changed: delete the object, or keep the value)"},
		{"a value that is not supported", 422, invalid("Service", "FieldValueNotSupported", "spec.type", `Unsupported value: "`+secretWord+`"`), "spec.type: the value is not supported"},
		{"a list", 422, invalid("Pod", "FieldValueRequired", "spec.containers[0].image", "Required value"), "spec.containers[0].image: a value is required"},
		{"a key of a map is data", 422, invalid("ConfigMap", "FieldValueInvalid", "data["+secretWord+"]", "x"), "data[*]: the value is invalid"},
		{"a key of a label after a dot", 422, invalid("ConfigMap", "FieldValueInvalid", "metadata.labels."+secretWord, "x"), "metadata.labels.*: the value is invalid"},
		{"a wrong type", 422, invalid("Widget", "FieldValueTypeInvalid", "spec.size", `Invalid value: "`+secretWord+`": spec.size in body must be of type integer: "string"`), "spec.size: the value has the wrong type (it must be of type integer)"},
		{"a path that is a sentence", 422, invalid("ConfigMap", "FieldValueInvalid", "the password is "+secretWord, "x"), "the value is invalid"},
		{"decoding", 400, status(400, "BadRequest", `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number `+secretWord+` into Go struct field ConfigMap.data of type string`), "BadRequest (400) to POST of configmaps: it must be of type string"},
		{"a webhook", 403, status(403, "Forbidden", `admission webhook "`+secretWord+`" denied the request: `+secretWord), "Forbidden (403) to POST of configmaps: an admission webhook of the cluster refuses it"},
		{"a right that is missing", 403, status(403, "Forbidden", `configmaps is forbidden: User "`+secretWord+`" cannot create resource "configmaps"`), "the credentials lack this permission"},
		{"a quota", 403, status(403, "Forbidden", `exceeded quota: `+secretWord), "a quota of the namespace is used up"},
		{"an unknown reason", 418, status(418, secretWord, secretWord), "418 I'm a teapot to POST of configmaps"},
		{"a path that is not served", 404, "404 page not found", "NotFound (404) to POST of configmaps: the cluster does not know this kind"},
		{"no API server", 500, "<html>" + secretWord, "InternalError (500) to POST of configmaps"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			connection, _ := connected(t, 0, func(out http.ResponseWriter, _ *http.Request) { write(out, test.code, test.body) })
			object := newConfigMap()
			_, err := connection.Create(t.Context(), configMaps, object, "x")
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretWord) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
