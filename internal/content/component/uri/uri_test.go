package uri

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

var errUnreachable = errors.New("the registry does not answer")

// finder has component versions by the name of the component.
type finder struct {
	versions map[string]*repository.Version
	contexts []string
}

func (f *finder) Referenced(_ context.Context, _ *repository.Version, reference *descriptor.Reference, in descriptor.Typed) (*repository.Version, error) {
	f.contexts = append(f.contexts, in.Kind())
	version, found := f.versions[reference.ComponentName]
	if !found {
		return nil, fmt.Errorf("look up %s: %w", reference.ComponentName, errUnreachable)
	}
	return version, nil
}

func version(name string, references map[string]string, resources ...descriptor.Resource) *repository.Version {
	d := &descriptor.Descriptor{Name: name, Version: "1.0.0", Resources: resources}
	for alias, component := range references {
		d.References = append(d.References, descriptor.Reference{Element: descriptor.Element{Name: alias, Version: "1.0.0"}, ComponentName: component})
	}
	return &repository.Version{Descriptor: d, Context: descriptor.Typed(`{"type":"own"}`)}
}

func resource(name string, extra map[string]string) descriptor.Resource {
	return descriptor.Resource{Element: descriptor.Element{Name: name, Version: "1.0.0", ExtraIdentity: extra}, Type: "thing"}
}

// components are web, which refers to db, which refers back.
func components() (*repository.Version, *finder) {
	web := version("example.org/web", map[string]string{"db": "example.org/db", "gone": "example.org/gone"},
		resource("schema", nil), resource("a b", nil), resource("image", map[string]string{"arch": "arm64"}),
		resource("twice", nil), resource("twice", nil))
	db := version("example.org/db", map[string]string{"web": "example.org/web"}, resource("schema", nil))
	return web, &finder{versions: map[string]*repository.Version{"example.org/web": web, "example.org/db": db}}
}

func TestResource(t *testing.T) {
	for _, test := range []struct {
		reason, uri, component, resource, fragment string
	}{
		{"a resource of the component itself", "cd://resources/schema", "example.org/web", "schema", ""},
		{"a resource of a referenced component", "cd://componentReferences/db/resources/schema", "example.org/db", "schema", ""},
		{"references that go round and come back", "cd://componentReferences/db/componentReferences/web/resources/schema", "example.org/web", "schema", ""},
		{"the singular, as some documents write it", "cd://componentReference/db/resource/schema", "example.org/db", "schema", ""},
		{"a fragment is kept as it was written", "cd://resources/schema#/properties/a~1b%20c", "example.org/web", "schema", "/properties/a~1b%20c"},
		{"a name with an escape", "cd://resources/a%20b", "example.org/web", "a b", ""},
		{"the scheme of a URI has no case", "CD://resources/schema", "example.org/web", "schema", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			web, f := components()
			u, err := Parse(test.uri)
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			found, resource, err := u.Resource(t.Context(), f, web)
			if err != nil || found.Name != test.component || resource.Name != test.resource || u.Fragment != test.fragment || u.String() != test.uri {
				t.Errorf("got %+v, %+v, fragment %q, %v", found, resource, u.Fragment, err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ reason, uri, want string }{
		{"too long", "cd://resources/" + strings.Repeat("x", 2083), "too long uri, got 2098 but expected max 2083"},
		{"no URI at all", "resources/x", "must have the form cd://"},
		{"another scheme", "https://resources/x", "scheme must be cd but given https"},
		{"nothing in it", "cd://", "even number of path arguments expected"},
		{"a keyword without a name", "cd://resources", "even number of path arguments expected"},
		{"an empty name", "cd://resources/", "a name is missing behind resources"},
		{"an unknown keyword", "cd://sources/x", "unknown keyword sources: componentReferences and resources are known"},
		{"a broken escape", "cd://resources/%zz", "invalid URL escape"},
		{"more behind a resource", "cd://resources/a/componentReferences/b", "seems to contain more path segments after a resource"},
		{"a resource that is not there", "cd://resources/none", `unable to find resource "cd://resources/none": local resource none cannot be found: failed to get resource with name none: component version example.org/web:1.0.0 has none`},
		{"a resource with an extra identity is not meant by its name", "cd://resources/image", "local resource image cannot be found"},
		{"a name that two resources have", "cd://resources/twice", "2 of component version example.org/web:1.0.0 match"},
		{"a reference that is not there", "cd://componentReferences/x/resources/y", "component reference x cannot be found: failed to get component reference with name x"},
		{"a component that cannot be had", "cd://componentReferences/gone/resources/y", "component gone cannot be found: look up example.org/gone: the registry does not answer"},
		{"a component where a resource is wanted", "cd://componentReferences/db", "seems to target a component db but a resource is requested"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			web, f := components()
			u, err := Parse(test.uri)
			if err == nil {
				_, _, err = u.Resource(t.Context(), f, web)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestComponent(t *testing.T) {
	web, f := components()
	read := func(text string) *URI {
		u, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if found, err := read("cd://componentReferences/db").Component(t.Context(), f, web); err != nil || found.Name != "example.org/db" {
		t.Errorf("got %+v, %v", found, err)
	}
	if _, err := read("cd://componentReferences/gone").Component(t.Context(), f, web); !errors.Is(err, errUnreachable) {
		t.Errorf("the cause is lost: %v", err)
	}
	if _, err := read("cd://resources/schema").Component(t.Context(), f, web); err == nil || !strings.Contains(err.Error(), "seems to target resource schema but a component is requested") {
		t.Errorf("got %v", err)
	}
	if _, err := read("cd://componentReferences/db").Component(t.Context(), nil, web); err == nil || !strings.Contains(err.Error(), "component db cannot be found") {
		t.Errorf("without a finder: %v", err)
	}
	if _, err := read("cd://componentReferences/db").Component(t.Context(), f, nil); err == nil || !strings.Contains(err.Error(), "spec.componentDescriptor") {
		t.Errorf("without a component: %v", err)
	}
}

func TestRepositoryContext(t *testing.T) {
	web, f := components()
	u, err := Parse("cd://componentReferences/db/componentReferences/web/resources/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []descriptor.Typed{nil, descriptor.Typed(`{"type":"given"}`)} {
		u.Context = in
		if _, _, err := u.Resource(t.Context(), f, web); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(f.contexts, " "); got != "own own given given" {
		t.Errorf("references are looked up in the given repository context, else in that of the component: %s", got)
	}
}
