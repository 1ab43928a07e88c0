package itemcontext

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// TestParseKey: a key comes from a template, so that it may be anything.
func TestParseKey(t *testing.T) {
	const good = `{component: {name: acme.example/web, version: 1.0.0}, resource: {name: chart}}`
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	tests := []struct{ reason, text, want string }{
		{"a key as getResourceKey makes it", encoded(good), ""},
		{"a key with a line end, as a file has", encoded(good) + "\n", ""},
		{"a key in JSON", encoded(`{"component":{"name":"a","version":"1"},"resource":{"name":"b"}}`), ""},
		{"a key with more that identifies the resource", encoded(`{component: {name: a, version: "1"}, resource: {name: b, os: linux}}`), ""},
		{"a key with a field of a later version", encoded(`{component: {name: a, version: "1", later: x}, resource: {name: b}, more: y}`), ""},

		{"nothing", "", "must be set"},
		{"spaces", " \n", "must be set"},
		{"plain text", "acme.example/web:chart", "it is not base64"},
		{"for addresses, which is another alphabet", base64.URLEncoding.EncodeToString([]byte("{a: '???>>>'}")), "it is not base64"},
		{"without its end", encoded(good)[:41], "it is not base64"},
		{"no YAML", encoded("{component: [Tr0ubador"), "it is not a key of a resource"},
		{"null", encoded("null"), "must be set"},
		{"a list", encoded("[Tr0ubador]"), "it is not a key of a resource"},
		{"a text", encoded("Tr0ubador"), "it is not a key of a resource"},
		{"no component", encoded(`{resource: {name: b}}`), "must be set"},
		{"no version", encoded(`{component: {name: a}, resource: {name: b}}`), "must be set"},
		{"no name of the resource", encoded(`{component: {name: a, version: "1"}, resource: {os: linux}}`), "must be set"},
		{"an empty name", encoded(`{component: {name: a, version: "1"}, resource: {name: ""}}`), "must be set"},
		{"a resource that is a text", encoded(`{component: {name: a, version: "1"}, resource: Tr0ubador}`), "it is not a key of a resource"},
		{"bytes that are not UTF-8", encoded("\xff\xfe"), "it is not a key of a resource"},
		{"levels without end", encoded(strings.Repeat("[", 100_000)), "it is not a key of a resource"},
		{"what stands for more and more", encoded("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]"), "it is not a key of a resource"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			key, err := ParseKey(test.text)
			if test.want == "" {
				if err != nil || key.Component.Name == "" || key.Component.Version == "" || key.Resource["name"] == "" {
					t.Errorf("%+v, %v", key, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "use what the template function getResourceKey returns") {
				t.Fatalf("%+v, %.300v, want %q", key, err, test.want)
			}
			if strings.Contains(err.Error(), "Tr0ubador") || len(err.Error()) > 500 {
				t.Errorf("the key is repeated: %.300v", err)
			}
		})
	}
}

// reader answers for Contexts.
type reader struct {
	client.Reader
	found map[client.ObjectKey]bool
	fails error
	asked []client.ObjectKey
}

func (r *reader) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	r.asked = append(r.asked, key)
	switch {
	case r.fails != nil:
		return r.fails
	case !r.found[key]:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "contexts"}, key.Name)
	}
	object.SetName(key.Name)
	object.SetNamespace(key.Namespace)
	return nil
}

// TestContext: who is missing, who is merely late, and who does not answer.
func TestContext(t *testing.T) {
	own, standard := client.ObjectKey{Namespace: "ns", Name: "own"}, client.ObjectKey{Namespace: "ns", Name: v1alpha1.DefaultContextName}
	known := func(keys ...client.ObjectKey) *reader {
		r := &reader{found: map[client.ObjectKey]bool{}}
		for _, key := range keys {
			r.found[key] = true
		}
		return r
	}
	broken := errors.New("no route to host")
	tests := []struct {
		reason, name  string
		cache, server *reader
		outcome       job.Outcome
		want          string
		// asked is how often the API server is asked.
		asked int
	}{
		{"the cache has it, and the API server is not asked", "own", known(own), known(), 0, "", 0},
		{"no Context is named", "", known(standard), known(), 0, "", 0},
		{"the cache is behind", "own", known(), known(own), 0, "", 1},
		{"the Context is in another namespace", "own", known(client.ObjectKey{Namespace: "other", Name: "own"}), known(), job.Terminal, "there is no Context ns/own: create it, or correct the name", 1},
		{"the Context does not exist", "own", known(), known(), job.Terminal, "spec.context", 1},
		{"the default Context is about to be created", "", known(), known(), job.Transient, "there is no Context ns/default yet", 1},
		{"the default Context, by its name, is about to be created", "default", known(), known(), job.Transient, "there is no Context ns/default yet", 1},
		{"the cache does not answer, which says nothing about the Context", "own", &reader{fails: broken}, known(), job.Transient, "Context ns/own", 0},
		{"the API server does not answer", "own", known(), &reader{fails: broken}, job.Transient, "Context ns/own", 1},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{}
			item.Namespace, item.Spec.Context = "ns", test.name
			origins := Origins{Contexts: test.cache, Sources: &repocontext.Reader{Client: test.server}}
			found, err := origins.Context(t.Context(), item, "Fetch")
			if len(test.server.asked) != test.asked {
				t.Errorf("the API server was asked for %v", test.server.asked)
			}
			if test.want == "" {
				if err != nil || found.Namespace != "ns" {
					t.Errorf("%v, %v", found, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			explained := Explain(t.Context(), err, Errand{Operation: "Fetch", Reason: "Get", Field: "spec.config.source"})
			if job.OutcomeOf(explained) != test.outcome {
				t.Errorf("outcome %v, want %v: %v", job.OutcomeOf(explained), test.outcome, explained)
			}
		})
	}
}
