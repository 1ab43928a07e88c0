package cluster

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/cluster/clustererror"
)

// recorder remembers the requests that a server gets.
type recorder struct {
	mutex sync.Mutex
	asked []string
}

// ask remembers a request with its query and what it accepts.
func (r *recorder) ask(request *http.Request) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	line := request.Method + " " + request.URL.Path
	if query := request.URL.Query(); len(query) > 0 {
		line += "?" + query.Encode()
	}
	r.asked = append(r.asked, line)
}

func (r *recorder) requests() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]string(nil), r.asked...)
}

// page is a list of ConfigMaps.
func page(next string, names ...string) string {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":%q,"uid":"u"},"data":{"x":"1"}}`, name)
	}
	return fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}

func names(objects []*unstructured.Unstructured) string {
	var list []string
	for _, object := range objects {
		list = append(list, object.GetName())
	}
	return strings.Join(list, " ")
}

// TestList reads all pages of a list, in one namespace or in all, by labels.
func TestList(t *testing.T) {
	tests := []struct {
		reason, namespace string
		selector          labels.Set
		first             string
	}{
		{"a namespace", "a", nil, "GET /api/v1/namespaces/a/configmaps?limit=500"},
		{"all namespaces", "", nil, "GET /api/v1/configmaps?limit=500"},
		{"labels", "a", labels.Set{"k": "v"}, "GET /api/v1/namespaces/a/configmaps?labelSelector=k%3Dv&limit=500"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			seen := &recorder{}
			connection, pool := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
				seen.ask(request)
				if request.URL.Query().Get("continue") == "" {
					write(out, http.StatusOK, page("more", "one", "two"))
					return
				}
				write(out, http.StatusOK, page("", "three"))
			})
			objects, err := connection.List(t.Context(), configMaps, test.namespace, test.selector)
			if err != nil || names(objects) != "one two three" || objects[0].Object["data"] == nil {
				t.Errorf("%s, error %v", names(objects), err)
			}
			want := []string{test.first, strings.Replace(test.first, "?", "?continue=more&", 1)}
			if diff := cmp.Diff(want, seen.requests()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
			if used := pool.memory.Used.Load(); used != 0 {
				t.Errorf("%d bytes stay booked", used)
			}
		})
	}
}

// TestListMetadata asks for the metadata only, and gives the objects their kind.
func TestListMetadata(t *testing.T) {
	accepted := ""
	connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
		accepted = request.Header.Get("Accept")
		write(out, http.StatusOK, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"namespace":"a","name":"one","uid":"u","finalizers":["f"]}}]}`)
	})
	objects, err := connection.ListMetadata(t.Context(), configMaps, "a")
	if err != nil || names(objects) != "one" || objects[0].GroupVersionKind() != configMapsKind || objects[0].GetUID() != "u" || len(objects[0].GetFinalizers()) != 1 {
		t.Errorf("%v, error %v", objects, err)
	}
	if !strings.Contains(accepted, "as=PartialObjectMetadataList") {
		t.Errorf("it accepts %s", accepted)
	}
}

// TestListFails: a failure of any page is returned without a list: in an incomplete list, objects
// would look deleted.
func TestListFails(t *testing.T) {
	connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
		if request.URL.Query().Get("continue") == "" {
			write(out, http.StatusOK, page("more", "one"))
			return
		}
		write(out, http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	})
	for what, list := range map[string]func() ([]*unstructured.Unstructured, error){
		"objects": func() ([]*unstructured.Unstructured, error) {
			return connection.List(t.Context(), configMaps, "a", nil)
		},
		"metadata": func() ([]*unstructured.Unstructured, error) {
			return connection.ListMetadata(t.Context(), configMaps, "a")
		},
	} {
		t.Run(what, func(t *testing.T) {
			if objects, err := list(); objects != nil || !apierrors.IsResourceExpired(err) {
				t.Errorf("%v, error %v", objects, err)
			}
		})
	}
}

// TestKindOf finds the kind behind each name that people use.
func TestKindOf(t *testing.T) {
	connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
		switch request.URL.Path {
		case "/api/v1":
			write(out, http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","shortNames":["cm"],"kind":"ConfigMap","namespaced":true,"verbs":["list"]}]}`)
		case "/apis/broken.example/v1":
			write(out, http.StatusInternalServerError, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`)
		default:
			write(out, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	})
	tests := []struct{ version, name, want, fails string }{
		{"v1", "ConfigMap", "ConfigMap", ""},
		{"v1", "configMap", "ConfigMap", ""},
		{"v1", "configmaps", "ConfigMap", ""},
		{"v1", "configmap", "ConfigMap", ""},
		{"v1", "CM", "ConfigMap", ""},
		{"v1", "Nothing", "Nothing", ""},
		{"unknown.example/v1", "Nothing", "Nothing", ""},
		{"broken.example/v1", "Nothing", "Nothing", "ask for the resources of broken.example/v1"},
	}
	for _, test := range tests {
		t.Run(test.version+" "+test.name, func(t *testing.T) {
			version, err := schema.ParseGroupVersion(test.version)
			if err != nil {
				t.Fatal(err)
			}
			kind, err := connection.KindOf(t.Context(), version, test.name)
			if kind != version.WithKind(test.want) || (err == nil) != (test.fails == "") || (err != nil && !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("%s, error %v", kind, err)
			}
		})
	}
}

// TestWrites shows how each write goes over the wire: who owns the fields, and whether
// anything is stored.
func TestWrites(t *testing.T) {
	tests := []struct {
		reason string
		do     func(*Connection) (*unstructured.Unstructured, error)
		want   string
		form   string
	}{
		{"an update", func(c *Connection) (*unstructured.Unstructured, error) {
			return c.Update(t.Context(), configMaps, newConfigMap(), "me")
		}, "PUT /api/v1/namespaces/a/configmaps/b?fieldManager=me", "application/json"},
		{"the preview of an update", func(c *Connection) (*unstructured.Unstructured, error) {
			return c.Preview(t.Context(), configMaps, newConfigMap(), "me")
		}, "PUT /api/v1/namespaces/a/configmaps/b?dryRun=All&fieldManager=me", "application/json"},
		{"a merge", func(c *Connection) (*unstructured.Unstructured, error) {
			return c.Apply(t.Context(), configMaps, newConfigMap(), ApplyOptions{Owner: "me"})
		}, "PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=me&force=false", "application/apply-patch+yaml"},
		{"a merge that takes fields over", func(c *Connection) (*unstructured.Unstructured, error) {
			return c.Apply(t.Context(), configMaps, newConfigMap(), ApplyOptions{Owner: "me", Force: true})
		}, "PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=me&force=true", "application/apply-patch+yaml"},
		{"a merge that changes nothing", func(c *Connection) (*unstructured.Unstructured, error) {
			return c.Apply(t.Context(), configMaps, newConfigMap(), ApplyOptions{Owner: "me", Force: true, DryRun: true})
		}, "PATCH /api/v1/namespaces/a/configmaps/b?dryRun=All&fieldManager=me&force=true", "application/apply-patch+yaml"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			seen, form := &recorder{}, ""
			connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
				seen.ask(request)
				form = request.Header.Get("Content-Type")
				body, _ := io.ReadAll(request.Body)
				write(out, http.StatusOK, string(body))
			})
			stored, err := test.do(connection)
			if err != nil || stored.GetName() != "b" {
				t.Fatalf("stored %v, error %v", stored, err)
			}
			if diff := cmp.Diff([]string{test.want}, seen.requests()); diff != "" || form != test.form {
				t.Errorf("as %s, -want +got\n%s", form, diff)
			}
		})
	}
}

// TestClient shows that a client as controllers know it has the credentials of the
// connection, and its rules.
func TestClient(t *testing.T) {
	var credentials string
	connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
		credentials = request.Header.Get("Authorization")
		switch request.URL.Path {
		case "/api":
			write(out, http.StatusOK, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/apis":
			write(out, http.StatusOK, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		case "/api/v1":
			write(out, http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","kind":"ConfigMap","namespaced":true,"verbs":["get"]}]}`)
		case "/api/v1/namespaces/a/configmaps/b":
			write(out, http.StatusOK, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":"b"},"data":{"x":"1"}}`)
		default:
			write(out, http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"you sent `+secretWord+`","reason":"Forbidden","code":403}`)
		}
	})
	c, err := connection.Client(clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	found := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "b"}, found); err != nil || found.Data["x"] != "1" {
		t.Errorf("%v, error %v", found, err)
	}
	if credentials != "Bearer "+secretWord {
		t.Error("the credentials of the Target are missing")
	}
	err = c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "other"}, found)
	if !apierrors.IsForbidden(err) || strings.Contains(err.Error(), secretWord) {
		t.Errorf("what a cluster says is repeated: %v", err)
	}
}

// TestNamespaceMissing tells a missing namespace from a missing object.
func TestNamespaceMissing(t *testing.T) {
	for details, want := range map[string]bool{`{"kind":"namespaces","name":"a"}`: true, `{"kind":"configmaps","name":"b"}`: false, `null`: false} {
		t.Run(details, func(t *testing.T) {
			connection, _ := connected(t, 0, func(out http.ResponseWriter, _ *http.Request) {
				write(out, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":`+details+`}`)
			})
			if _, err := connection.Create(t.Context(), configMaps, newConfigMap(), "me"); clustererror.IsNamespaceMissing(err) != want {
				t.Error(err)
			}
		})
	}
	if clustererror.IsNamespaceMissing(nil) || clustererror.IsNamespaceMissing(&meta.NoKindMatchError{}) {
		t.Error("what is no answer says nothing about a namespace")
	}
}
