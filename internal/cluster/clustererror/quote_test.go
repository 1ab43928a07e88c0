package clustererror

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sending is a request with an object.
func sending(method, path string, object map[string]any) *request {
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	sent, err := http.NewRequest(method, "https://127.0.0.1:6443"+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	sent.Header.Set("Authorization", "Bearer "+word+"-token")
	return requestOf(sent)
}

// pod is what is sent in most rows.
func pod() *request {
	return sending(http.MethodPost, "/api/v1/namespaces/team-blue/pods", map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web", "namespace": "team-blue", "labels": map[string]any{"owner": "blue"}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "example.org/app:1", "env": []any{map[string]any{"name": "PASSWORD", "value": word}}}}},
	})
}

// TestQuoted has what real API servers say (test/integration/deployer asks one for most of
// it), and what stays of it.
func TestQuoted(t *testing.T) {
	for _, row := range []struct{ reason, said, want string }{
		{"a policy with a message", `pods "web" is forbidden: ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest-everywhere' denied request: images need a tag`,
			`admission policy no-latest (binding no-latest-everywhere) of the cluster refuses it: "images need a tag"`},
		{"a policy without a message tells its expression", `ValidatingAdmissionPolicy 'small' with binding 'small' denied request: failed expression: object.spec.replicas <= 5`,
			`admission policy small of the cluster refuses it: "failed expression: object.spec.replicas <= 5"`},
		{"a mutating policy", `policy 'defaults' with binding 'all' denied request: no match`, `admission policy defaults (binding all) of the cluster refuses it: "no match"`},
		{"a message that is computed from the object", `ValidatingAdmissionPolicy 'p' with binding 'p' denied request: the password ` + word + ` of ` + strings.ToUpper(word) + `x is too weak`,
			`admission policy p of the cluster refuses it: "the … of … is too weak"`},
		{"a message with nothing but the object", `ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ` + word, `admission policy p of the cluster refuses it`},
		{"no message", `ValidatingAdmissionPolicy 'p' with binding 'p' denied request: `, `admission policy p of the cluster refuses it`},
		{"a policy whose name is a value", `ValidatingAdmissionPolicy '` + word + `' with binding 'p' denied request: no`, ""},
		{"a policy whose name has a value", `ValidatingAdmissionPolicy 'x` + word + `x' with binding 'p' denied request: no`, ""},
		{"a policy whose name is the token", `ValidatingAdmissionPolicy '` + word + `-token' with binding 'p' denied request: no`, ""},
		{"a policy without a valid name", `ValidatingAdmissionPolicy 'Not a name' with binding 'p' denied request: no`, ""},
		{"orders to a terminal, and lines", "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: \x1b[31mno\n\tway\x07\u202e out", `admission policy p of the cluster refuses it: "[31mno way out"`},
		{"a message without end", `ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ` + strings.Repeat("no ", 10000), `admission policy p of the cluster refuses it: "` + strings.TrimSpace(strings.Repeat("no ", 100)) + `…"`},
		{"a name without end", `ValidatingAdmissionPolicy '` + strings.Repeat("a", 1000) + `' with binding 'p' denied request: no`, ""},

		{"a webhook", `admission webhook "validate.nginx.ingress.kubernetes.io" denied the request: host "` + word + `" is taken`, "admission webhook validate.nginx.ingress.kubernetes.io of the cluster refuses it"},
		{"a webhook without a reason", `admission webhook "a.example.org" denied the request without explanation`, "admission webhook a.example.org of the cluster refuses it"},
		{"a webhook whose name is a value", `admission webhook "` + word + `" denied the request`, ""},
		{"a webhook without endpoints", `Internal error occurred: failed calling webhook "v.example.org": failed to call webhook: Post "https://policy.guard.svc:443/validate?timeout=10s": no endpoints available for service "policy"`,
			"admission webhook v.example.org of the cluster cannot be asked at Service guard/policy (its Service has no pods that are ready): repair it, or remove its configuration"},
		{"a webhook whose Service does not exist", `failed calling webhook "v.example.org": failed to call webhook: Post "https://policy.guard.svc:443/?timeout=10s": service "policy" not found`,
			"admission webhook v.example.org of the cluster cannot be asked at Service guard/policy (its Service does not exist): repair it, or remove its configuration"},
		{"a webhook at an address", `failed calling webhook "v.example.org": failed to call webhook: Post "https://127.0.0.1:1/?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused`,
			"admission webhook v.example.org of the cluster cannot be asked (connection refused): repair it, or remove its configuration"},
		{"a webhook that is slow", `failed calling webhook "v.example.org": failed to call webhook: Post "https://a.b.svc:443/": context deadline exceeded`,
			"admission webhook v.example.org of the cluster cannot be asked at Service b/a (no answer in time): repair it, or remove its configuration"},
		{"a webhook with an untrusted certificate", `failed calling webhook "v.example.org": failed to call webhook: Post "https://a.b.svc:443/": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
			"admission webhook v.example.org of the cluster cannot be asked at Service b/a (its certificate is not trusted): repair it, or remove its configuration"},
		{"a webhook that says something else", `failed calling webhook "v.example.org": ` + word, "admission webhook v.example.org of the cluster cannot be asked: repair it, or remove its configuration"},

		{"a quota", `pods "web" is forbidden: exceeded quota: team-blue-compute, requested: pods=1,requests.cpu=2, used: pods=5,requests.cpu=7500m, limited: pods=5,requests.cpu=8`,
			"quota team-blue-compute of the namespace is used up (requested pods=1, requests.cpu=2; used pods=5, requests.cpu=7500m; limit pods=5, requests.cpu=8)"},
		{"a quota of counted objects", `exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1`,
			"quota q of the namespace is used up (requested count/deployments.apps=1; used count/deployments.apps=1; limit count/deployments.apps=1)"},
		{"amounts that are not valid", `exceeded quota: q, requested: ` + word + `, used: a=b, limited: x=1;rm`, "quota q of the namespace is used up"},
		{"a quota whose name is a value", `exceeded quota: ` + word + `, requested: pods=1, used: pods=1, limited: pods=1`, ""},
		{"a quota that wants requests", `pods "web" is forbidden: failed quota: compute: must specify limits.cpu for: app; requests.memory for: app,` + word,
			"quota compute of the namespace refuses containers that do not say what they need (limits.cpu, requests.memory)"},
		{"a quota for unspecified resources in older words", `failed quota: compute: must specify limits.cpu,limits.memory`, "quota compute of the namespace refuses containers that do not say what they need (limits.cpu, limits.memory)"},
		{"a quota that is new", `status unknown for quota: compute, resources: pods`, "quota compute of the namespace is not counted yet"},

		{"limits", `pods "web" is forbidden: [maximum cpu usage per Container is 500m, but limit is 2, minimum memory usage per Pod is 64Mi. No request is specified]`,
			"a LimitRange of the namespace refuses it: maximum cpu usage per Container is 500m, but limit is 2; minimum memory usage per Pod is 64Mi. No request is specified"},
		{"the limit of a claim", `persistentvolumeclaims "data" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 10Gi`,
			"a LimitRange of the namespace refuses it: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 10Gi"},
		{"a ratio", `cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000`, "a LimitRange of the namespace refuses it: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"},
		{"a limit that is a value", `maximum ` + word + ` usage per ` + word + ` is ` + word, ""},

		{"a Pod Security level", `pods "web" is forbidden: violates PodSecurity "restricted:v1.31": privileged (container "` + word + `" must not set securityContext.privileged=true), allowPrivilegeEscalation != false (container "app" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true)`,
			"the Pod Security level restricted (v1.31) of the namespace refuses it: privileged, allowPrivilegeEscalation != false, runAsNonRoot != true"},
		{"a Pod Security level and an unknown check", `violates PodSecurity "baseline:latest": ` + word, "the Pod Security level baseline (latest) of the namespace refuses it"},
		{"a level that does not exist", `violates PodSecurity "` + word + `:latest": privileged`, ""},

		{"a permission", `pods "web" is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in API group "" in the namespace "team-blue"`, "the credentials lack this permission: create pods"},
		{"a permission for something else", `User "x" cannot create resource "` + word + `" in API group ""`, ""},
		{"something else", "the answer is " + word, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if got := quoted(row.said, pod()); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
			if got := quoted(row.said, nil); got != "" {
				t.Errorf("of an unknown request it repeats %q", got)
			}
		})
	}
}

// TestMessagesOfWhichObject: a message is repeated only where the request has the whole
// object, and never about a Secret.
func TestMessagesOfWhichObject(t *testing.T) {
	const said = `ValidatingAdmissionPolicy 'p' with binding 'p' denied request: images need a tag`
	configMap := map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": "b"}}
	const path = "/api/v1/namespaces/ns/configmaps/a"
	for _, row := range []struct {
		reason string
		about  *request
		want   bool
	}{
		{"a creation", sending(http.MethodPost, path, configMap), true},
		{"an update", sending(http.MethodPut, path, configMap), true},
		{"a patch has not all of the object", sending(http.MethodPatch, path, configMap), false},
		{"a deletion has nothing of it", sending(http.MethodDelete, path, map[string]any{"kind": "DeleteOptions"}), false},
		{"all of a Secret is secret", sending(http.MethodPost, path, map[string]any{"kind": "Secret"}), false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			got := quoted(said, row.about)
			if !strings.HasPrefix(got, "admission policy p of the cluster refuses it") || strings.Contains(got, "images") != row.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestRequestOf: what cannot be read may be anything.
func TestRequestOf(t *testing.T) {
	if about := requestOf(httptest.NewRequest(http.MethodGet, "https://127.0.0.1/api/v1/pods", nil)); about == nil || about.whole {
		t.Errorf("a request without a body: %+v", about)
	}
	if about := requestOf(httptest.NewRequest(http.MethodPost, "https://127.0.0.1/api/v1/pods", strings.NewReader("{}"))); about != nil {
		t.Errorf("a body that was read already: %+v", about)
	}
	for reason, body := range map[string]string{"no JSON": "kind: ConfigMap", "no object": "[]", "more than is read": `{"a":"` + strings.Repeat("a", maxRead) + `"}`} {
		sent, err := http.NewRequest(http.MethodPost, "https://127.0.0.1/api/v1/pods", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if about := requestOf(sent); about != nil {
			t.Errorf("%s: %+v", reason, about)
		}
	}
	about := sending(http.MethodPost, "/api/v1/configmaps", map[string]any{"data": map[string]any{"a": "aHVudGVyMmh1bnRlcjI=", "b": []any{true, nil, 4711}}})
	for text, want := range map[string]bool{word: true, "4711": true, "configmaps": false} {
		if about.has(text) != want {
			t.Errorf("it has %q: %t", text, !want)
		}
	}
}

// TestCausesAreQuoted: policies say it in a cause as well, and it stands once in the text.
func TestCausesAreQuoted(t *testing.T) {
	const said = `ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest' denied request: images need a tag`
	result := restated("POST of pods", 422, &metav1.Status{Reason: metav1.StatusReasonInvalid, Message: `pods "web" is forbidden: ` + said, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: said}}}}, pod())
	if want := `the API server answers Invalid (422) to POST of pods: admission policy no-latest of the cluster refuses it: "images need a tag"`; result.Message != want {
		t.Errorf("%q", result.Message)
	}
}
