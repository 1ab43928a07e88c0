package componentfunc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/content/component"
)

// newerDB replaces a version.
var newerDB = component.Overwrite{
	Source:       component.Reference{Name: "example.org/shop/db", Version: "3.1.0"},
	Substitution: component.Reference{Version: "3.2.0"},
}

func own(t *testing.T, c *Component) any {
	t.Helper()
	value, err := c.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestGetResource(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	v3 := open(t, "web", "1.4.2", "ocm.software/v3alpha1")
	none := open(t, "", "", "")
	tests := []struct {
		reason string
		in     *Component
		args   []any
		// path of the result has the value want; err is part of the error.
		path      []any
		want, err string
	}{
		{"by name", web, []any{"name", "web-image"}, []any{"access", "imageReference"}, "registry.example.org/images/web:1.4.2", ""},
		{"in a given descriptor", web, []any{own(t, web), "name", "web-image"}, []any{"version"}, "1.4.2", ""},
		{"in the schema v3", v3, []any{own(t, v3), "name", "web-image"}, []any{"version"}, "1.4.2", ""},
		{"in a given descriptor, without a component", none, []any{own(t, web), "name", "web-image"}, []any{"version"}, "1.4.2", ""},
		{"the first of several", web, []any{"name", "tool"}, []any{"extraIdentity", "arch"}, "amd64", ""},
		{"by extra identity", web, []any{"name", "tool", "arch", "arm64"}, []any{"extraIdentity", "arch"}, "arm64", ""},
		{"by extra identity only", web, []any{"os", "linux"}, []any{"name"}, "tool", ""},
		{"the version is not part of the identity", web, []any{"name", "web-image", "version", "1.4.2"}, nil, "", "NotFound"},
		{"the type is not part of the identity", web, []any{"type", "ociImage"}, nil, "", "NotFound"},
		{"nothing has the name", web, []any{"name", "ghost"}, nil, "", `NotFound: component descriptor of example.org/shop/web:1.4.2 has nothing with the identity {"name":"ghost"} under component.resources`},
		{"no arguments", web, nil, nil, "", "at least 2 arguments are expected"},
		{"only a descriptor", web, []any{own(t, web)}, nil, "", "at least 2 arguments are expected"},
		{"a key without a value", web, []any{"name", "web", "arch"}, nil, "", "odd number of key value pairs"},
		{"a value that is not a string", web, []any{"name", int64(3)}, nil, "", "expect argument 2 to be a string, but it is a number"},
		{"positions count the descriptor", web, []any{own(t, web), "name", []any{}}, nil, "", "expect argument 3 to be a string, but it is a list"},
		{"no component", none, []any{"name", "web"}, nil, "", "Unable to search for a resource as no ComponentDescriptor is defined."},
		{"a descriptor that is not there", web, []any{nil, "name", "web"}, nil, "", "Unable to search for a resource as no ComponentDescriptor is defined."},
		{"a map that is no descriptor", web, []any{map[string]any{"a": "b"}, "name", "web"}, nil, "", "unable to determine component descriptor schema version"},
		{"two schemas at once", web, []any{map[string]any{"apiVersion": "x", "meta": map[string]any{"schemaVersion": "v2"}}, "name", "web"}, nil, "", "unable to determine component descriptor schema version"},
		{"a schema of the future", web, []any{map[string]any{"apiVersion": "ocm.software/v9"}, "name", "web"}, nil, "", "unknown schema version"},
		{"a descriptor with a wrong list", web, []any{map[string]any{"meta": map[string]any{"schemaVersion": "v2"}, "component": map[string]any{"resources": "x"}}, "name", "web"}, nil, "", "component.resources is a string, expected a list"},
		{"a descriptor with a wrong element", web, []any{map[string]any{"apiVersion": "ocm.software/v3alpha1", "spec": map[string]any{"resources": []any{int64(1)}}}, "name", "web"}, nil, "", "spec.resources[0] is a number, expected a map"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.in.getResource(t.Context(), test.args)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || at(t, got, test.path...) != test.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestGetResources(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	all, err := web.getResources(t.Context(), []any{"name", "tool"})
	if err != nil {
		t.Fatal(err)
	}
	if list, ok := all.([]any); !ok || len(list) != 2 || at(t, all, 1, "extraIdentity", "arch") != "arm64" {
		t.Errorf("got %v", all)
	}
	if _, err := web.getResources(t.Context(), []any{"name", "ghost"}); err == nil || !strings.HasPrefix(err.Error(), "NotFound") {
		t.Errorf("got %v", err)
	}
}

// TestResultsAreCopies changes a result, as templates do with set.
func TestResultsAreCopies(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	for range 2 {
		resource, err := web.getResource(t.Context(), []any{"name", "web-image"})
		if err != nil {
			t.Fatal(err)
		}
		access, _ := at(t, resource, "access").(map[string]any)
		if access["imageReference"] != "registry.example.org/images/web:1.4.2" {
			t.Errorf("the change of another result is visible: %v", access)
		}
		access["imageReference"] = "changed"
		object, _ := own(t, web).(map[string]any)
		clear(object)
	}
}

func TestGetComponent(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	none := open(t, "", "", "")
	explicit := open(t, "web", "1.4.2", "ocm.software/v3alpha1")
	tests := []struct {
		reason    string
		in        *Component
		args      []any
		path      []any
		want, err string
	}{
		{"v2, though the descriptor has the other schema", web, []any{"name", "db"}, []any{"component", "name"}, "example.org/shop/db", ""},
		{"v2 without the annotation, though the own descriptor has the other schema", open(t, "db", "3.1.0", ""), []any{"name", "base"}, []any{"component", "name"}, "example.org/shop/base", ""},
		{"the schema of the annotation", explicit, []any{"name", "db"}, []any{"metadata", "name"}, "example.org/shop/db", ""},
		{"v2 of the annotation", open(t, "db", "3.1.0", "v2"), []any{"name", "base"}, []any{"component", "name"}, "example.org/shop/base", ""},
		{"a given descriptor", explicit, []any{own(t, explicit), "name", "cache", "tier", "fast"}, []any{"metadata", "name"}, "example.org/shop/cache", ""},
		{"a given descriptor, without a component", none, []any{own(t, web), "name", "db"}, []any{"component", "version"}, "3.1.0", ""},
		{"overwrites count", open(t, "web", "1.4.2", "", newerDB), []any{"name", "db"}, []any{"component", "version"}, "3.2.0", ""},
		{"no such reference", web, []any{"name", "ghost"}, nil, "", "NotFound"},
		{"no component", none, []any{"name", "db"}, nil, "", "Unable to search for a component as no ComponentDescriptor is defined."},
		{"a component that is not there", none, []any{map[string]any{"meta": map[string]any{"schemaVersion": "v2"}, "component": map[string]any{
			"componentReferences": []any{map[string]any{"name": "x", "componentName": "example.org/ghost", "version": "1.0.0"}},
		}}, "name", "x"}, nil, "", `component version "example.org/ghost:1.0.0" not found`},
		{"a reference of the wrong form", none, []any{map[string]any{"meta": map[string]any{"schemaVersion": "v2"}, "component": map[string]any{
			"componentReferences": []any{map[string]any{"name": "x", "componentName": map[string]any{}}},
		}}, "name", "x"}, nil, "", `invalid component descriptor: component reference {"name":"x"}`},
		{"an unknown schema, without a component", open(t, "", "", "v4"), []any{own(t, web), "name", "db"}, nil, "", "unknown schema version"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.in.getComponent(t.Context(), test.args)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || at(t, got, test.path...) != test.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	// The text before the cause is a known one.
	if _, err := none.getComponent(t.Context(), tests[9].args); !strings.HasPrefix(err.Error(), "unable to resolve component x:1.0.0: ") {
		t.Errorf("got %v", err)
	}
	// What comes back can be given to the next call.
	db, err := web.getComponent(t.Context(), []any{"name", "db"})
	if err != nil {
		t.Fatal(err)
	}
	base, err := web.getComponent(t.Context(), []any{db, "name", "base"})
	if err != nil || at(t, base, "component", "name") != "example.org/shop/base" {
		t.Errorf("got %v, %v", base, err)
	}
}

func TestGetRepositoryContext(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	tests := []struct {
		reason string
		args   []any
		err    string
	}{
		{"the last one", []any{own(t, web)}, ""},
		{"of the other schema", []any{own(t, open(t, "db", "3.1.0", ""))}, ""},
		{"no argument", nil, "Unable to get effective component descriptor as no ComponentDescriptor is defined."},
		{"no component", []any{nil}, "Unable to get effective component descriptor as no ComponentDescriptor is defined."},
		{"too many", []any{own(t, web), "x"}, "this function requires 1 argument, but 2 were provided"},
		{"a text", []any{"web"}, "invalid component descriptor: argument 1 is a string"},
		{"another map", []any{map[string]any{"a": "b"}}, "invalid component descriptor"},
		{"a descriptor without any", []any{own(t, open(t, "cache", "2.0.0", ""))}, "invalid component descriptor: that of example.org/shop/cache:2.0.0 has no repository context"},
	}
	want := map[string]any{"type": "OCIRegistry", "baseUrl": "registry.example.org", "subPath": "delivery"}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := web.getRepositoryContext(t.Context(), test.args)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestRepositoryContextOfOwn takes the place where the descriptor was found if it
// names none itself.
func TestRepositoryContextOfOwn(t *testing.T) {
	cache := open(t, "cache", "2.0.0", "")
	got, err := cache.getRepositoryContext(t.Context(), []any{own(t, cache)})
	if diff := cmp.Diff(any(map[string]any{"type": "local"}), got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
