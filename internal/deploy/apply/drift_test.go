package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func TestCompare(t *testing.T) {
	const (
		manifest  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1","y":"1"}}`
		same      = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","labels":{"test.example/deployitem":"item"}},"data":{"x":"1","y":"1"}}`
		changed   = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","labels":{"test.example/deployitem":"item"}},"data":{"x":"top-secret-word","y":"1","z":"1"}}`
		foreign   = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"2"}}`
		ending    = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["acme.example/hold"]}}`
		annotated = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","annotations":{"created":"yes"},"labels":{"test.example/deployitem":"item"}},"data":{"x":"1","y":"1"}}`
	)
	tests := []struct {
		reason   string
		strategy deployer.UpdateStrategy
		policy   deployer.ManifestPolicy
		live     string
		extras   Extras
		want     string
		asks     string
	}{
		{"nothing has changed: no question", "update", "manage", same, Extras{}, "", ""},
		{"fields have changed", "update", "manage", changed, Extras{}, "ConfigMap ns/a (data.x, data.z)", "preview"},
		{"fields have changed, with merge patches", "patch", "manage", changed, Extras{}, "ConfigMap ns/a (data.x, data.z)", "preview"},
		{"a merge that overwrites leaves what is new", "mergeOverwrite", "manage", changed, Extras{}, "ConfigMap ns/a (data.x)", "preview"},
		{"a merge leaves all that is there", "merge", "manage", changed, Extras{}, "", ""},
		{"the API server knows the owners", "apply", "manage", changed, Extras{}, "ConfigMap ns/a (data.x)", "apply"},
		{"an object that does not exist", "update", "manage", "", Extras{}, "ConfigMap ns/a (it does not exist)", ""},
		{"an object that is being deleted", "update", "manage", ending, Extras{}, "ConfigMap ns/a (it is being deleted)", ""},
		{"what may not be changed", "update", "immutable", changed, Extras{}, "", ""},
		{"what is not ours", "update", "fallback", foreign, Extras{}, "", ""},
		{"what is to be ignored", "update", "ignore", "", Extras{}, "", ""},
		{"what is not deleted is compared all the same", "update", "keep", changed, Extras{}, "ConfigMap ns/a (data.x, data.z)", "preview"},
		{"an annotation for the creation only does not count", "update", "manage", annotated, Extras{AnnotateBeforeCreate: map[string]string{"created": "yes"}}, "", "preview"},
		{"a patch after the deployment belongs to the desired state", "update", "manage", changed, Extras{PatchAfterDeployment: map[string]any{"data": map[string]any{"x": "top-secret-word", "z": "1"}}}, "", "preview"},
		{"a patch that another client has reverted", "update", "manage", same, Extras{PatchAfterDeployment: map[string]any{"data": map[string]any{"x": "2"}}}, "ConfigMap ns/a (data.x)", ""},
		{"fields that may differ", "update", "manage", changed, Extras{Ignored: []Pointer{{"data", "x"}, {"data", "z"}}}, "", ""},
		{"fields that may differ, on the API server", "apply", "manage", changed, Extras{Ignored: []Pointer{{"data", "x"}}}, "", "apply"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			if test.live != "" {
				c.Put(parse(t, test.live))
			}
			before := c.Find("ConfigMap", "ns", "a")
			object := prepared(t, c, test.policy, nil, manifest)
			object.Extras = test.extras
			c.Counts()
			got, err := applier(c, test.strategy).Compare(t.Context(), object)
			if err != nil || got != test.want {
				t.Errorf("%q, error %v, want %q", got, err, test.want)
			}
			for verb, n := range c.Counts() {
				if (verb != "get" && verb != test.asks) || n != 1 {
					t.Errorf("%d times %s", n, verb)
				}
			}
			if diff := cmp.Diff(before, c.Find("ConfigMap", "ns", "a")); diff != "" {
				t.Errorf("the comparison has changed the object\n%s", diff)
			}
		})
	}
}

func TestCompareFails(t *testing.T) {
	refused := errors.New("a webhook does not allow dry runs")
	for _, verb := range []string{"get", "preview"} {
		c := fakecluster.New()
		c.Put(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"2"}}`))
		c.Fault = func(r fakecluster.Request) (fault fakecluster.Fault) {
			if r.Verb == verb {
				fault.Before = refused
			}
			return fault
		}
		object := prepared(t, c, "manage", nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1"}}`)
		if got, err := applier(c, "update").Compare(t.Context(), object); got != "" || err == nil || !strings.Contains(err.Error(), "compare ConfigMap ns/a") {
			t.Errorf("%s: %q, error %v", verb, got, err)
		}
	}
}

func TestDifferences(t *testing.T) {
	many := map[string]any{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}
	tests := []struct {
		reason string
		a, b   map[string]any
		want   string
	}{
		{"nothing is nothing", nil, map[string]any{"spec": map[string]any{}}, ""},
		{"a nested field", map[string]any{"spec": map[string]any{"a": int64(1)}}, map[string]any{"spec": map[string]any{"a": int64(2)}}, "spec.a"},
		{"a key with a dot that differs", map[string]any{"labels": map[string]any{"acme.example/a": "b"}}, map[string]any{"labels": map[string]any{"acme.example/a": "c"}}, "labels['acme.example/a']"},
		{"an element of a list", map[string]any{"l": []any{map[string]any{"a": "1"}, "x"}}, map[string]any{"l": []any{map[string]any{"a": "2"}, "x"}}, "l[0].a"},
		{"lists of other lengths", map[string]any{"l": []any{"x"}}, map[string]any{"l": []any{}}, "l"},
		{"a value of another type", map[string]any{"a": "1"}, map[string]any{"a": int64(1)}, "a"},
		{"many fields", many, map[string]any{}, "a, b, c, d, e and 2 more fields"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := listOf(differences(test.a, test.b)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
