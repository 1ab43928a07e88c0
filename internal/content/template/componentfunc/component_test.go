package componentfunc

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// open returns what templates see of a component of the test data; of none if the
// name is empty.
func open(t testing.TB, name, version, schema string, overwrites ...component.Overwrite) *Component {
	t.Helper()
	local, err := descriptor.NewTyped(map[string]any{"type": "local"})
	if err != nil {
		t.Fatal(err)
	}
	session := component.NewSession(component.NewShared(), component.Options{Default: local, Local: os.DirFS("testdata/components"), Overwrites: overwrites})
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	options := Options{Session: session, Schema: schema, Context: local}
	if name != "" {
		if options.Version, err = session.Resolve(t.Context(), component.Reference{Name: "example.org/shop/" + name, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at follows keys and indices.
func at(t testing.TB, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := value.(map[string]any)
			if !ok {
				t.Fatalf("%v of %v: not a map but %T", step, path, value)
			}
			value = object[step]
		case int:
			list, ok := value.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("%v of %v: no such element of %T", step, path, value)
			}
			value = list[step]
		}
	}
	return value
}

func TestBindings(t *testing.T) {
	tests := []struct {
		reason, component, version, schema string
		// name is where the name is in a descriptor.
		name []any
		// list is where the descriptors are in components.
		list []any
	}{
		{"the schema of the own descriptor, v2", "web", "1.4.2", "", []any{"component", "name"}, []any{"components"}},
		{"the schema of the own descriptor, v3alpha1", "db", "3.1.0", "", []any{"metadata", "name"}, nil},
		{"v2 is asked for", "db", "3.1.0", "v2", []any{"component", "name"}, []any{"components"}},
		{"v3alpha1 is asked for", "web", "1.4.2", "ocm.software/v3alpha1", []any{"metadata", "name"}, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := open(t, test.component, test.version, test.schema)
			own, err := c.Descriptor()
			if err != nil {
				t.Fatal(err)
			}
			if got := at(t, own, test.name...); got != "example.org/shop/"+test.component {
				t.Errorf("cd is of %v", got)
			}
			all, err := c.Components(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			list, _ := at(t, all, test.list...).([]any)
			for _, each := range list {
				names = append(names, strings.TrimPrefix(fmt.Sprint(at(t, each, test.name...)), "example.org/shop/"))
			}
			want := []string{test.component}
			for _, name := range []string{"base", "cache", "db", "web"} {
				if name != test.component {
					want = append(want, name)
				}
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("the own component is first, the others by name:\n%s", diff)
			}
			if test.list != nil && at(t, all, "meta", "schemaVersion") != "v2" {
				t.Errorf("components have meta.schemaVersion %v", at(t, all, "meta"))
			}
		})
	}
}

func TestWithoutComponent(t *testing.T) {
	c := open(t, "", "", "from the future")
	own, err := c.Descriptor()
	if own != nil || err != nil {
		t.Errorf("cd is %v, %v", own, err)
	}
	if all, err := c.Components(t.Context()); all != nil || err != nil {
		t.Errorf("components is %v, %v", all, err)
	}
}

func TestUnknownSchema(t *testing.T) {
	version := open(t, "web", "1.4.2", "").options.Version
	if _, err := New(Options{Version: version, Schema: "v4"}); err == nil || !strings.HasPrefix(err.Error(), "unknown schema version") {
		t.Errorf("got %v", err)
	}
}

// TestNothingIsLost compares what templates see with the file.
func TestNothingIsLost(t *testing.T) {
	text, err := os.ReadFile("testdata/components/web.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := jsonvalue.FromYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, "web", "1.4.2", "")
	got, err := c.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	resource, err := c.getResource(t.Context(), []any{"name", "web-image"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(at(t, want, "component", "resources", 0), resource); diff != "" {
		t.Error(diff)
	}
}

// TestComponentsAreLoadedOnce loads the closure with the first use, and tries
// again after an error.
func TestComponentsAreLoadedOnce(t *testing.T) {
	c := open(t, "web", "1.4.2", "")
	if c.loaded {
		t.Error("loaded before anybody asked")
	}
	session := c.options.Session
	c.options.Session = nil
	if _, err := c.Components(t.Context()); err == nil {
		t.Error("no error without a session")
	}
	c.options.Session = session
	if _, err := c.Components(t.Context()); err != nil {
		t.Error(err)
	}
	// What is loaded needs no session any more.
	c.options.Session = nil
	if _, err := c.Components(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFunctionNames enumerates what is offered.
func TestFunctionNames(t *testing.T) {
	c := open(t, "", "", "")
	for engine, test := range map[string]struct {
		functions map[string]Function
		want      []string
	}{
		"GoTemplate": {c.GoTemplate(), []string{"getComponent", "getRepositoryContext", "getResource", "getResourceContent", "getResourceKey", "getResources", "ociRefRepo", "ociRefVersion", "parseOCIRef", "resolve"}},
		"Spiff":      {c.Spiff(), []string{"getComponent", "getResource", "getResourceContent", "getResourceKey", "ociRefRepo", "ociRefVersion", "parseOCIRef"}},
		"mappings":   {Pure(), []string{"ociRefRepo", "ociRefVersion", "parseOCIRef"}},
	} {
		t.Run(engine, func(t *testing.T) {
			var names []string
			for name := range test.functions {
				names = append(names, name)
			}
			slices.Sort(names)
			if diff := cmp.Diff(test.want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}
