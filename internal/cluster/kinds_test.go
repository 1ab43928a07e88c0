package cluster

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestKindsOfAServerThatIsAway shows that a kind whose own API server does not answer is not one
// that does not exist: a deletion would take its objects for deleted.
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
		// missing says that there is no such kind, away that this is unknown.
		missing, away bool
	}{
		{"one document: the server of the group is unavailable", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}, false, true},
		{"one document: another version", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.example", Version: "v2", Kind: "Tenant"}, true, false},
		{"one document: another group", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.test", Version: "v1", Kind: "Tenant"}, true, false},
		{"one document: a kind of another server", aggregated("Stale", ""), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, false, false},
		{"one document: the server of the group is available, without the kind", aggregated("Current", described("others", "Other")), schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}, true, false},
		{"one document: any version, a version of which is unavailable", aggregated("Stale", ""), schema.GroupVersionKind{Group: "acme.example", Kind: "Tenant"}, false, true},
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

// TestVersionThatIsRemoved shows that an object is not missing only because the cluster has
// stopped to serve the version in which it was known.
func TestVersionThatIsRemoved(t *testing.T) {
	before := schema.GroupVersionKind{Group: "acme.example", Version: "v1beta1", Kind: "Tenant"}
	for _, test := range []struct {
		reason string
		// after are the versions that are served then.
		after string
		// missing says that the object counts as missing; otherwise it is found in after.
		missing bool
	}{
		{"an object of a kind with another served version", "v1", false},
		{"an object of a kind that does not exist is deleted", "", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			served, asked := "v1beta1", 0
			connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
				version := `{"groupVersion":"acme.example/` + served + `","version":"` + served + `"}`
				switch request.URL.Path {
				case "/api":
					write(out, http.StatusOK, `{"kind":"APIVersions","versions":[]}`)
				case "/apis":
					asked++
					if served == "" {
						write(out, http.StatusOK, `{"kind":"APIGroupList","groups":[]}`)
						return
					}
					write(out, http.StatusOK, `{"kind":"APIGroupList","groups":[{"name":"acme.example","versions":[`+version+`],"preferredVersion":`+version+`}]}`)
				case "/apis/acme.example/" + served:
					write(out, http.StatusOK, `{"kind":"APIResourceList","groupVersion":"acme.example/`+served+`","resources":[{"name":"tenants","kind":"Tenant","namespaced":true,"verbs":["get"]}]}`)
				case "/apis/acme.example/" + served + "/namespaces/ns/tenants/blue":
					write(out, http.StatusOK, `{"apiVersion":"acme.example/`+served+`","kind":"Tenant","metadata":{"name":"blue","namespace":"ns"}}`)
				case "/apis/acme.example/" + served + "/namespaces/ns/tenants/red":
					write(out, http.StatusNotFound, `{"kind":"Status","status":"Failure","reason":"NotFound","details":{"name":"red","kind":"tenants"},"code":404}`)
				default:
					http.NotFound(out, request)
				}
			})
			mapping, err := connection.Mapping(t.Context(), before)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := connection.Get(t.Context(), mapping, "ns", "red"); !apierrors.IsNotFound(err) || asked != 1 {
				t.Errorf("an object that does not exist: error %v, asked for kinds %d times", err, asked)
			}
			served = test.after
			_, err = connection.Get(t.Context(), mapping, "ns", "blue")
			_, deleteErr := connection.Delete(t.Context(), mapping, "ns", "blue", metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) != test.missing || IsUnserved(err) == test.missing || IsUnserved(deleteErr) == test.missing || (deleteErr == nil) != test.missing {
				t.Errorf("errors %v and %v", err, deleteErr)
			}
			if asked != 2 {
				t.Errorf("asked for kinds %d times", asked)
			}
			if test.missing {
				return
			}
			if _, err := connection.Mapping(t.Context(), before); !meta.IsNoMatchError(err) {
				t.Errorf("the version is still known: %v", err)
			}
			if mapping, err = connection.Mapping(t.Context(), before.GroupKind().WithVersion("")); err == nil {
				_, err = connection.Get(t.Context(), mapping, "ns", "blue")
			}
			if err != nil {
				t.Errorf("it is not found in the version that is served: %v", err)
			}
		})
	}
}
