package componentfunc

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
)

func TestGetResourceKey(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	relative := map[string]any{"resource": map[string]any{"name": "db-config"}, "referencePath": []any{map[string]any{"name": "db"}}}
	tests := []struct {
		reason    string
		in        *Component
		arg       any
		want, err string
	}{
		{"a URI", web, "cd://resources/web-chart", "component:\n  name: example.org/shop/web\n  version: 1.4.2\nresource:\n  name: web-chart\n", ""},
		{"a URI through a reference", web, "cd://componentReferences/db/resources/db-config", "component:\n  name: example.org/shop/db\n  version: 3.1.0\nresource:\n  name: db-config\n", ""},
		{"overwrites count for URIs", open(t, "web", "1.4.2", "", newerDB), "cd://componentReferences/db/resources/db-config", "", "component version example.org/shop/db:3.2.0 has none"},
		{"YAML", web, "resource: {name: db-config}\nreferencePath: [{name: db}]", "component:\n  name: example.org/shop/db\n  version: 3.1.0\nresource:\n  name: db-config\n", ""},
		{"JSON", web, `{"resource": {"name": "web-chart"}}`, "component:\n  name: example.org/shop/web\n  version: 1.4.2\nresource:\n  name: web-chart\n", ""},
		{"the extra identity belongs to it", web, "resource: {name: tool, arch: arm64, os: linux}", "component:\n  name: example.org/shop/web\n  version: 1.4.2\nresource:\n  arch: arm64\n  name: tool\n  os: linux\n", ""},
		{"as much of it as is needed may be given", web, "resource: {name: tool, arch: arm64}", "component:\n  name: example.org/shop/web\n  version: 1.4.2\nresource:\n  arch: arm64\n  name: tool\n  os: linux\n", ""},
		{"the version where it is needed", web, `resource: {name: twin, version: 2.0.0}`, "component:\n  name: example.org/shop/web\n  version: 1.4.2\nresource:\n  name: twin\n  version: 2.0.0\n", ""},
		{"a reference with an extra identity is found by all of it", web, "resource: {name: x}\nreferencePath: [{name: cache, tier: fast}]", "", "component version example.org/shop/cache:2.0.0 has none with the identity"},
		{"a reference with an extra identity is found by its name alone", web, "resource: {name: x}\nreferencePath: [{name: cache}]", "", "component version example.org/shop/cache:2.0.0 has none with the identity"},
		{"a reference is not found by an attribute that it does not have", web, "resource: {name: x}\nreferencePath: [{name: cache, tier: slow}]", "", "failed to get component reference with name cache"},
		{"a reference needs a name", web, "resource: {name: x}\nreferencePath: [{tier: fast}]", "", "failed to get component reference with name"},
		{"overwrites count", open(t, "web", "1.4.2", "", newerDB), "resource: {name: db-chart, arch: amd64}\nreferencePath: [{name: db}]", "component:\n  name: example.org/shop/db\n  version: 3.2.0\nresource:\n  arch: amd64\n  name: db-chart\n", ""},
		{"several resources match", web, "resource: {name: tool}", "", `unable to resolve relative resource reference: failed to get resource with name tool: 2 of component version example.org/shop/web:1.4.2 match`},
		{"no such resource", web, "resource: {name: ghost}", "", "unable to resolve relative resource reference: failed to get resource with name ghost"},
		{"no such reference", web, "resource: {name: x}\nreferencePath: [{name: ghost}]", "", "unable to resolve relative resource reference: failed to get component reference with name ghost"},
		{"no name", web, "resource: {arch: arm64}", "", "at least resource name must be specified for resource reference"},
		{"no resource", web, "referencePath: []", "", "at least resource name must be specified for resource reference"},
		{"a text that is neither", web, "top-secret-word", "", "failed to unmarshal argument into a relative resource reference"},
		{"a text that is no YAML", web, "a: [top-secret-word", "", "failed to unmarshal argument into a relative resource reference"},
		{"an attribute that is not a string", web, "resource: {name: 1}", "", "but an attribute of resource is a number: put it in quotes"},
		{"a resource that is not a map", web, "resource: top-secret-word", "", "but resource is a string"},
		{"a path that is not a list", web, "resource: {name: x}\nreferencePath: {name: top-secret-word}", "", "but referencePath is a map"},
		{"a step that is not a map", web, "resource: {name: x}\nreferencePath: [top-secret-word]", "", "but referencePath[0] is a string"},
		{"half a URI", web, "cd://resources", "", "failed to parse argument into URI"},
		{"a URI of nothing", web, "cd://resources/ghost", "", "ghost cannot be found"},
		{"a URI through nothing", web, "cd://componentReferences/ghost/resources/x", "", "ghost cannot be found"},
		{"a URI of another scheme, which may hold a password", web, "https://a:top-secret-word@example.org/x", "", "failed to unmarshal argument into a relative resource reference"},
		{"an empty text", web, "", "", "unable to provide key for empty relative artifact reference"},
		{"no component", open(t, "", "", ""), "cd://resources/web-chart", "", "unable to use this function without ocm component version"},
		{"a map, which only spiff takes", web, relative, "", "unable to assert the first argument as string: it is a map"},
		{"a number", web, int64(1), "", "unable to assert the first argument as string: it is a number"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.in.GoTemplate()["getResourceKey"](t.Context(), []any{test.arg})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "top-secret-word") {
					t.Errorf("got %v, %v, want %q", got, err, test.err)
				}
				return
			}
			if want := base64.StdEncoding.EncodeToString([]byte(test.want)); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
	for name, arg := range map[string]any{"map": relative, "URI": "cd://componentReferences/db/resources/db-config"} {
		t.Run(name, func(t *testing.T) {
			got, err := web.Spiff()["getResourceKey"](t.Context(), []any{arg})
			if want := base64.StdEncoding.EncodeToString([]byte(tests[1].want)); err != nil || got != want {
				t.Errorf("spiff, %s: got %v, %v", name, got, err)
			}
		})
	}
	for reason, test := range map[string]struct {
		args []any
		want string
	}{
		"none": {nil, "unable to provide key for empty relative artifact reference"},
		"two":  {[]any{"a", "b"}, "this function requires 1 argument, but 2 were provided"},
	} {
		t.Run(reason, func(t *testing.T) {
			for name, function := range map[string]Function{"GoTemplate": web.GoTemplate()["getResourceKey"], "Spiff": web.Spiff()["getResourceContent"]} {
				if _, err := function(t.Context(), test.args); err == nil || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("%s: %s: got %v", name, reason, err)
				}
			}
		})
	}
}

func TestGetResourceContent(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	tests := []struct {
		reason, engine string
		function       Function
		arg            any
		want           any
		err            string
	}{
		{"text", "GoTemplate", web.GoTemplate()["getResourceContent"], "cd://resources/config", "replicas: 2\nhosts: [a.example.org, b.example.org]\n", ""},
		{"a value", "Spiff", web.Spiff()["getResourceContent"], "cd://resources/config", map[string]any{"replicas": int64(2), "hosts": []any{"a.example.org", "b.example.org"}}, ""},
		{"bytes", "GoTemplate", web.GoTemplate()["getResourceContent"], "cd://resources/icon", "AAEC", ""},
		{"bytes", "Spiff", web.Spiff()["getResourceContent"], "resource: {name: icon}", "AAEC", ""},
		{"text of another component", "GoTemplate", web.GoTemplate()["getResourceContent"], "cd://componentReferences/db/resources/db-config", "not: yaml: at all\n", ""},
		{"text that is no YAML", "GoTemplate", web.GoTemplate()["getResourceContent"], "cd://resources/notes", "not: yaml: at all\n", ""},
		{"text that is no YAML", "Spiff", web.Spiff()["getResourceContent"], "cd://resources/notes", nil, `content of resource "notes" of component version example.org/shop/web:1.4.2`},
		{"nothing", "GoTemplate", web.GoTemplate()["getResourceContent"], "cd://resources/lost", nil, `read resource "lost" of component version example.org/shop/web:1.4.2`},
		{"no content", "GoTemplate", web.GoTemplate()["getResourceContent"], "resource: {name: twin, version: 1.0.0}", nil, "has no content"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.function(t.Context(), []any{test.arg})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s, %s: got %v, %v", test.reason, test.engine, got, err)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%s, %s: %v\n%s", test.reason, test.engine, err, diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	web := open(t, "web", "1.4.2", "")
	resource, err := web.GoTemplate()["getResource"](t.Context(), []any{"name", "config"})
	if err != nil {
		t.Fatal(err)
	}
	file := resource.(map[string]any)["access"]
	tests := []struct {
		reason    string
		in        *Component
		args      []any
		want, err string
	}{
		{"an access", web, []any{file}, "replicas: 2\nhosts: [a.example.org, b.example.org]\n", ""},
		{"no component", open(t, "", "", ""), []any{file}, "", "the Installation has no component"},
		{"an access that the template has put together", web, []any{map[string]any{"type": "wget", "url": "http://example.org/?top-secret-word"}}, "", "is not that of a resource of the component"},
		{"an access that the template has changed", web, []any{map[string]any{"type": "localFilesystemBlob", "fileName": "../top-secret-word"}}, "", "is not that of a resource of the component"},
		{"a text", web, []any{"top-secret-word"}, "", "expect argument 1 to be an access, which is a map, but it is a string"},
		{"no argument", web, nil, "", "this function requires 1 argument, but 0 were provided"},
		{"two arguments", web, []any{file, file}, "", "this function requires 1 argument, but 2 were provided"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.in.GoTemplate()["resolve"](t.Context(), test.args)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "top-secret-word") {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestContentsAreBounded reads a content that is a byte too long.
func TestContentsAreBounded(t *testing.T) {
	d := &descriptor.Descriptor{
		Schema: descriptor.SchemaV2, Name: "example.org/big", Version: "1.0.0",
		Resources: []descriptor.Resource{
			{Element: descriptor.Element{Name: "long"}, Access: descriptor.Typed(`{"type":"localFilesystemBlob","fileName":"long"}`)},
			{Element: descriptor.Element{Name: "longer"}, Access: descriptor.Typed(`{"type":"localFilesystemBlob","fileName":"longer"}`)},
		},
	}
	session := component.NewSession(component.NewShared(), component.Options{})
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	reference, err := session.SetInline(d, fstest.MapFS{"long": {Data: make([]byte, MaxContent)}, "longer": {Data: make([]byte, MaxContent+1)}})
	if err != nil {
		t.Fatal(err)
	}
	version, err := session.Resolve(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Session: session, Version: version})
	if err != nil {
		t.Fatal(err)
	}
	functions := c.GoTemplate()
	if content, err := functions["getResourceContent"](t.Context(), []any{"cd://resources/long"}); err != nil || len(content.(string)) != MaxContent {
		t.Errorf("the longest content: %v", err)
	}
	for name, arg := range map[string]any{"getResourceContent": "cd://resources/longer", "resolve": map[string]any{"type": "localFilesystemBlob", "fileName": "longer"}} {
		t.Run(name, func(t *testing.T) {
			if _, err := functions[name](t.Context(), []any{arg}); err == nil || !strings.Contains(err.Error(), "more than the limit of 8388608") {
				t.Errorf("got %v", err)
			}
		})
	}
}
