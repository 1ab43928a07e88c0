package cluster

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestKindsOfAServerThatIsAway shows that a kind whose own API server does not answer is
// not one that does not exist: whoever deletes would take its objects for gone.
func TestKindsOfAServerThatIsAway(t *testing.T) {
	const (
		form     = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		resource = `{"resource":"%s","responseKind":{"group":"","version":"","kind":"%s"},"scope":"Namespaced","verbs":["get"]}`
	)
	list := func(groups string) string {
		return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[` + groups + `]}`
	}
	group := func(name, freshness, resources string) string {
		return `{"metadata":{"name":"` + name + `"},"versions":[{"version":"v1","freshness":"` + freshness + `","resources":[` + resources + `]}]}`
	}
	described := func(plural, kind string) string {
		return strings.Replace(strings.Replace(resource, "%s", plural, 1), "%s", kind, 1)
	}
	aggregated := func(freshness, resources string) http.HandlerFunc {
		return func(out http.ResponseWriter, request *http.Request) {
			out.Header().Set("Content-Type", form)
			body := list(group("", "Current", described("configmaps", "ConfigMap")))
			if request.URL.Path == "/apis" {
				body = list(group("acme.example", freshness, resources))
			}
			_, _ = out.Write([]byte(body))
		}
	}
	one := func(out http.ResponseWriter, request *http.Request) {
		switch request.URL.Path {
		case "/api":
			write(out, http.StatusOK, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/api/v1":
			write(out, http.StatusOK, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["get"]}]}`)
		case "/apis":
			write(out, http.StatusOK, `{"kind":"APIGroupList","groups":[{"name":"acme.example","versions":[{"groupVersion":"acme.example/v1","version":"v1"}]}]}`)
		default:
			write(out, http.StatusServiceUnavailable, `{"kind":"Status","status":"Failure","reason":"ServiceUnavailable","code":503}`)
		}
	}
	tests := []struct {
		reason  string
		handler http.HandlerFunc
		kind    schema.GroupVersionKind
		// missing says that there is no such kind, away that nobody knows.
		missing, away bool
	}{
		{"one document: its server is away", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}, false, true},
		{"one document: another version", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.example", Version: "v2", Kind: "Tenant"}, true, false},
		{"one document: another group", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.test", Version: "v1", Kind: "Tenant"}, true, false},
		{"one document: a kind of another server", aggregated("Stale", ""), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, false, false},
		{"one document: its server is there, without the kind", aggregated("Current", described("others", "Other")), schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}, true, false},
		{"one document: any version, one of which is away", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.example", Kind: "Tenant"}, false, true},
		{"one document: any version", aggregated("Current", described("tenants", "Tenant")), schema.GroupVersionKind{Group: "acme.example", Kind: "Tenant"}, false, false},
		{"many documents: its server is away", one, schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}, false, true},
		{"many documents: a kind of another server", one, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			connection, _ := connected(t, 0, test.handler)
			_, err := connection.Mapping(t.Context(), test.kind)
			if meta.IsNoMatchError(err) != test.missing || (err != nil) != (test.missing || test.away) {
				t.Errorf("error %v", err)
			}
			if test.away && !strings.Contains(err.Error(), "does not say at present which kinds there are in acme.example/v1") {
				t.Errorf("error %v", err)
			}
		})
	}
}
