package clustererror

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxFailure is how many bytes of an answer about a failure are read.
const maxFailure = 64 << 10

// Restate replaces the message of a cluster's failure by one of ours. The original message quotes
// the request, which may hold secret values of any kind, and the user who chose the address would
// read answers of a server that only this process can reach. Values from fixed sets stay: codes,
// reasons, types of causes, the form of field paths; and so do names that belong to the cluster,
// such as policies and quotas (quote.go).
func Restate(request *http.Request, response *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxFailure))
	if err != nil {
		return fmt.Errorf("read what the cluster says about a failure: %w", err)
	}
	var said metav1.Status
	if json.Unmarshal(raw, &said) != nil || said.Kind != "Status" {
		said = metav1.Status{}
		if response.StatusCode == http.StatusNotFound {
			// An API server answers this for a path that it does not serve.
			said.Message = unknownPath
		}
	}
	body, err := json.Marshal(restated(described(request), response.StatusCode, &said, requestOf(request)))
	if err != nil {
		return fmt.Errorf("encode a failure: %w", err)
	}
	replace(response, body)
	return nil
}

// unknownPath is what the library says about an answer of an API server without a
// status.
const unknownPath = "the server could not find the requested resource"

// restated is the status of a server with a message of ours. Asked is the description of the
// request, about the request itself; nil if it is unknown.
func restated(asked string, code int, said *metav1.Status, about *request) *metav1.Status {
	result := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Code:     int32(code), //nolint:gosec // a status code has three digits
		Reason:   reasonOf(code, said.Reason),
		Details:  &metav1.StatusDetails{},
	}
	var fields []string
	if said.Details != nil {
		result.Details.RetryAfterSeconds = said.Details.RetryAfterSeconds
		if said.Details.Kind == missingNamespace {
			result.Details.Kind = missingNamespace
		}
		for _, cause := range said.Details.Causes[:min(len(said.Details.Causes), maxCauses)] {
			shown := metav1.StatusCause{Type: causeOf(cause.Type), Field: fieldPath(cause.Field)}
			shown.Message = words(cause.Message, about)
			result.Details.Causes = append(result.Details.Causes, shown)
			if text := problemOf(shown); text != "" {
				fields = append(fields, text)
			}
		}
	}
	if strings.Contains(said.Message, unknownPath) {
		result.Details.Causes = append(result.Details.Causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse})
	}
	result.Message = fmt.Sprintf("the API server answers %s to %s", answerOf(code, result.Reason), asked)
	if hint := words(said.Message, about); hint != "" && len(fields) == 0 {
		result.Message += ": " + hint
	}
	if len(fields) > 0 {
		result.Message += ": " + strings.Join(fields, "; ")
	}
	return result
}

// missingNamespace is the kind in the details of a failure if the namespace is missing, not the
// object.
const missingNamespace = "namespaces"

// IsNamespaceMissing reports whether an object could not be created because there is no
// such namespace.
func IsNamespaceMissing(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == missingNamespace
}

// described describes a request, without names.
func described(request *http.Request) string {
	if resource := resourceOf(request); resource != "" {
		return request.Method + " of " + resource
	}
	return request.Method
}

// resourceOf returns the resource that an address is about; "" for other addresses.
func resourceOf(request *http.Request) string {
	steps := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[steps[0]]
	if skip == 0 || len(steps) <= skip {
		return ""
	}
	steps = steps[skip:]
	if steps[0] == "namespaces" && len(steps) > 2 {
		steps = steps[2:]
	}
	resource := steps[0]
	if len(steps) > 2 {
		resource += "/" + steps[2]
	}
	return resource
}

// maxCauses is how many causes are shown.
const maxCauses = 10

func answerOf(code int, reason metav1.StatusReason) string {
	if reason == "" {
		return fmt.Sprintf("%d %s", code, http.StatusText(code))
	}
	return fmt.Sprintf("%s (%d)", reason, code)
}

// standardReasons are those that API servers have.
var standardReasons = map[metav1.StatusReason]bool{
	metav1.StatusReasonUnauthorized: true, metav1.StatusReasonForbidden: true, metav1.StatusReasonNotFound: true,
	metav1.StatusReasonAlreadyExists: true, metav1.StatusReasonConflict: true, metav1.StatusReasonGone: true,
	metav1.StatusReasonInvalid: true, metav1.StatusReasonServerTimeout: true, metav1.StatusReasonStoreReadError: true,
	metav1.StatusReasonTimeout: true, metav1.StatusReasonTooManyRequests: true, metav1.StatusReasonBadRequest: true,
	metav1.StatusReasonMethodNotAllowed: true, metav1.StatusReasonNotAcceptable: true,
	metav1.StatusReasonRequestEntityTooLarge: true, metav1.StatusReasonUnsupportedMediaType: true,
	metav1.StatusReasonInternalError: true, metav1.StatusReasonExpired: true, metav1.StatusReasonServiceUnavailable: true,
}

// byCode are the reasons of answers without a reason.
var byCode = map[int]metav1.StatusReason{
	http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusForbidden: metav1.StatusReasonForbidden,
	http.StatusBadRequest: metav1.StatusReasonBadRequest, http.StatusConflict: metav1.StatusReasonConflict,
	http.StatusGone: metav1.StatusReasonGone, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
	http.StatusInternalServerError: metav1.StatusReasonInternalError, http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
	http.StatusMethodNotAllowed: metav1.StatusReasonMethodNotAllowed, http.StatusRequestEntityTooLarge: metav1.StatusReasonRequestEntityTooLarge,
}

func reasonOf(code int, said metav1.StatusReason) metav1.StatusReason {
	if standardReasons[said] {
		return said
	}
	return byCode[code]
}

// causes are the types of causes, with their meaning.
var causes = map[metav1.CauseType]string{
	metav1.CauseTypeFieldValueNotFound:       "what the value refers to does not exist",
	metav1.CauseTypeFieldValueRequired:       "a value is required",
	metav1.CauseTypeFieldValueDuplicate:      "the value is there twice",
	metav1.CauseTypeFieldValueInvalid:        "the value is invalid",
	metav1.CauseTypeFieldValueNotSupported:   "the value is not supported",
	metav1.CauseTypeForbidden:                "it is forbidden here",
	metav1.CauseTypeTooLong:                  "the value is too long",
	metav1.CauseTypeTooMany:                  "there are too many values",
	metav1.CauseTypeInternal:                 "the server failed to check it",
	metav1.CauseTypeTypeInvalid:              "the value has the wrong type",
	metav1.CauseTypeFieldManagerConflict:     "another field manager owns it",
	metav1.CauseTypeResourceVersionTooLarge:  "the version is newer than what the server has",
	corev1.NamespaceTerminatingCause:         "the namespace is being deleted: remove what holds it, or use another one",
	metav1.CauseTypeUnexpectedServerResponse: "",
}

func causeOf(said metav1.CauseType) metav1.CauseType {
	if _, known := causes[said]; known {
		return said
	}
	return ""
}

// problemOf names the field of a cause and what is wrong with it.
func problemOf(cause metav1.StatusCause) string {
	text := causes[cause.Type]
	switch {
	case cause.Message != "" && text != "":
		text += " (" + cause.Message + ")"
	case text == "":
		text = cause.Message
	}
	switch {
	case cause.Field == "":
		return text
	case text == "":
		return cause.Field
	}
	return cause.Field + ": " + text
}

var (
	// pathForm matches field paths, and no sentences.
	pathForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+|\[[^\[\]]*\])*$`)
	// mapKey is the key of a map in a path. Keys are data; indices are not.
	mapKey = regexp.MustCompile(`\[[^\[\]]*[^\[\]0-9][^\[\]]*\]`)
	// wrongType matches the text of decoders about a value of a wrong type.
	wrongType = regexp.MustCompile(`must be of type (string|integer|number|boolean|array|object)\b|of type (string|bool|u?int(?:8|16|32|64)?|float64|\[\]uint8)$`)
)

// maxPath is how long a field path is shown.
const maxPath = 200

// fieldPath returns the path of a field without keys of maps, "" for any other text.
func fieldPath(said string) string {
	// Conflicts of field managers write paths with a leading dot.
	said = strings.TrimPrefix(said, ".")
	if len(said) > maxPath || !pathForm.MatchString(said) {
		return ""
	}
	path := mapKey.ReplaceAllString(said, "[*]")
	// Below these, names of fields are data as well, in any notation.
	for _, data := range []string{"data.", "stringData.", "binaryData.", "metadata.labels.", "metadata.annotations."} {
		if strings.HasPrefix(path, data) {
			return data + "*"
		}
	}
	return path
}

// phrases are texts of API servers without a word of the request; a match reveals nothing. The
// first match counts.
var phrases = []struct{ said, result string }{
	// A garden about credentials of a shoot. Without these, "not found" would be about the shoot.
	{"advertised addresses in Shoot", "the shoot has no address of an API server in status.advertisedAddresses"},
	{".ca-client", "the garden does not have the authority that signs for clients of this shoot (its InternalSecret ca-client does not exist)"},
	{".ca-cluster", "the garden does not have the authority of this shoot's API server (its ConfigMap ca-cluster does not exist)"},
	{"field is immutable", "it cannot be changed: delete the object, or keep the value"},
	{"is immutable when", "it cannot be changed: delete the object, or keep the value"},
	{"updates to statefulset spec for fields other than", "only few fields of a StatefulSet can be changed: delete the object, or keep the value"},
	{"pod updates may not change fields other than", "only few fields of a Pod can be changed: delete the object, or keep the value"},
	{"does not match template `labels`", "the selector does not match the labels of the template"},
	{"a lowercase RFC 1123 subdomain must consist of", "it must be a name in lower case with dots and dashes"},
	{"a lowercase RFC 1123 label must consist of", "it must be a name in lower case with dashes"},
	{"a valid label must be", "it must be a valid label"},
	{"a DNS-1035 label must consist of", "it must be a name in lower case with dashes that begins with a letter"},
	{"must be between 1 and 65535", "it must be between 1 and 65535"},
	{"must be greater than or equal to 0", "it must not be negative"},
	{"must be specified for an update", "it must be there for an update"},
	{"must be no more than", "it is too long"},
	{"may not specify a duration less than 10 minutes", "it must be at least 10 minutes"},
	{"strict decoding error", "the manifest has a field that does not exist or is there twice"},
	{"illegal base64 data", "a value is not base64"},
	{"admission webhook", "an admission webhook of the cluster refuses it"},
	{"ValidatingAdmissionPolicy", "an admission policy of the cluster refuses it"},
	{"error looking up service account", "the ServiceAccount that it names does not exist"},
	{"no PriorityClass with name", "the PriorityClass that it names does not exist"},
	{"failed calling webhook", "an admission webhook of the cluster cannot be asked"},
	{"violates PodSecurity", "the Pod Security level of the namespace refuses it"},
	{"exceeded quota", "a quota of the namespace is used up"},
	{"because it is being terminated", "the namespace is being deleted: remove what holds it, or use another one"},
	{"attempting to grant RBAC permissions not currently held", "the credentials may not grant permissions that they do not have"},
	{"cannot create resource", "the credentials lack this permission"},
	{"cannot get resource", "the credentials lack this permission"},
	{"cannot list resource", "the credentials lack this permission"},
	{"cannot watch resource", "the credentials lack this permission"},
	{"cannot patch resource", "the credentials lack this permission"},
	{"cannot update resource", "the credentials lack this permission"},
	{"cannot delete resource", "the credentials lack this permission"},
	{"the object has been modified", "it was changed by another client at the same time"},
	{"Precondition failed: UID", "it is another object with the same name"},
	{unknownPath, "the cluster does not know this kind"},
	{"already exists", "it exists already"},
	{"not found", "it does not exist"},
}

// words returns the message of ours for a message of an API server, "" for other messages.
func words(said string, about *request) string {
	if result := quoted(said, about); result != "" {
		return result
	}
	index := slices.IndexFunc(phrases, func(phrase struct{ said, result string }) bool { return strings.Contains(said, phrase.said) })
	if index >= 0 {
		return phrases[index].result
	}
	if match := wrongType.FindStringSubmatch(said); match != nil {
		return "it must be of type " + match[1] + match[2]
	}
	return ""
}

// replace sets the body of an answer.
func replace(response *http.Response, body []byte) {
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Encoding")
	response.Header.Set("Content-Type", "application/json")
}

// InOurWords restates a failure that arrives as an event of a watch, which the transport does not
// restate.
func InOurWords(err error, resource string) error {
	var said apierrors.APIStatus
	switch {
	case err == nil, IsConnection(err), alreadyExplained(err), errors.Is(err, io.EOF):
		return err
	case errors.As(err, &said):
		status := said.Status()
		return &apierrors.StatusError{ErrStatus: *restated("a watch of "+resource, int(status.Code), &status, nil)}
	}
	return fmt.Errorf("the watch of %s has ended, and begins again", resource)
}
