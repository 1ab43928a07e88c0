package descriptor

import (
	"errors"
	"strings"
	"testing"
)

// elements has resources that only their whole identity tells apart.
func elements() *Descriptor {
	element := func(name, version string, extra ...string) Resource {
		e := Element{Name: name, Version: version}
		for i := 0; i+1 < len(extra); i += 2 {
			if e.ExtraIdentity == nil {
				e.ExtraIdentity = map[string]string{}
			}
			e.ExtraIdentity[extra[i]] = extra[i+1]
		}
		return Resource{Element: e}
	}
	d := &Descriptor{Resources: []Resource{
		element("single", "1.0.0"),
		element("image", "1.0.0"), element("image", "2.0.0"),
		element("binary", "1.0.0", "os", "linux", "arch", "amd64"), element("binary", "1.0.0", "os", "linux", "arch", "arm64"), element("binary", "1.0.0", "os", "darwin"),
		element("pinned", "1.0.0", "version", "x"),
		element("liar", "1.0.0", "name", "single"),
		element("twin", "1.0.0"), element("twin", "1.0.0"),
	}}
	d.Name, d.Version = "example.org/shop", "1.0.0"
	return d
}

// attributes reads "key=value key=value".
func attributes(text string) Identity {
	i := Identity{}
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		i[key] = value
	}
	return i
}

func TestResourceByIdentity(t *testing.T) {
	d := elements()
	for _, test := range []struct {
		reason, identity string
		exactly, atLeast int
	}{
		{"a name alone is enough for one", "name=single", 0, 0},
		{"the version may be said as well", "name=single version=1.0.0", 0, 0},
		{"another version is another resource", "name=single version=2.0.0", -1, -1},
		{"two versions need theirs", "name=image", -1, -1},
		{"the second of two versions", "name=image version=2.0.0", 2, 2},
		{"a part of an identity is enough for those who search", "name=binary os=darwin", 5, 5},
		{"a part that two share", "name=binary os=linux", -1, -1},
		{"only those who search may leave a part out", "arch=arm64", -1, 4},
		{"the whole identity in any order", "arch=arm64 os=linux name=binary", 4, 4},
		{"with the version", "arch=arm64 os=linux name=binary version=1.0.0", 4, 4},
		{"an attribute that no resource has", "name=binary os=darwin libc=musl", -1, -1},
		{"a version that is a part of the extra identity", "name=pinned version=x", 6, 6},
		{"the version behind it does not count then", "name=pinned version=1.0.0", -1, -1},
		{"a name in an extra identity is not a name", "name=liar", 7, 7},
		{"twins cannot be told apart", "name=twin version=1.0.0", -1, -1},
		{"case counts", "name=Single", -1, -1},
		{"nothing is no identity", "", -1, -1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			identity := attributes(test.identity)
			for kind, search := range map[string]struct {
				find func(Identity) (*Resource, error)
				want int
			}{"exactly": {d.Resource, test.exactly}, "at least": {d.ResourceBy, test.atLeast}} {
				got, err := search.find(identity)
				var missing *NotFoundError
				switch {
				case search.want >= 0 && (err != nil || got != &d.Resources[search.want]):
					t.Errorf("%s: %v, %v", kind, got, err)
				case search.want < 0 && !errors.As(err, &missing):
					t.Errorf("%s: found %v", kind, got)
				case search.want < 0 && missing.Matches == 1:
					t.Errorf("%s: one matches, and is not found", kind)
				}
			}
		})
	}
}

// TestIdentityOf: what is written is found again, as long as that is possible.
func TestIdentityOf(t *testing.T) {
	d := elements()
	for i, resource := range d.Resources[:8] {
		identity := IdentityOf(resource, d.Resources)
		t.Run(identity.String(), func(t *testing.T) {
			if got, err := d.Resource(identity); err != nil || got != &d.Resources[i] {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// TestNotFound: a message names the kind, the component and what was looked for.
func TestNotFound(t *testing.T) {
	d := elements()
	for _, test := range []struct {
		reason string
		find   func() error
		want   string
	}{
		{"no resource", func() error { _, err := d.Resource(Named("none")); return err }, `failed to get resource with name none: component version example.org/shop:1.0.0 has none with the identity {"name":"none"}`},
		{"no source", func() error { _, err := d.Source(Named("none")); return err }, `failed to get source with name none: `},
		{"no reference", func() error { _, err := d.Reference(Named("none")); return err }, `failed to get component reference with name none: `},
		{"no reference for those who search", func() error { _, err := d.ReferenceBy(Identity{"name": "none"}); return err }, `failed to get component reference with name none: `},
		{"several", func() error { _, err := d.ResourceBy(Named("twin")); return err }, `failed to get resource with name twin: 2 of component version example.org/shop:1.0.0 match the identity {"name":"twin"}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := test.find(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCheckName(t *testing.T) {
	for _, test := range []struct {
		reason, name string
		valid        bool
	}{
		{"a domain and a path", "example.org/shop", true},
		{"a longer path", "example.org/team/shop_2.web", true},
		{"a domain of several parts", "a.b-c.example.org/shop", true},
		{"the form of older releases begins with a digit", "1a.example.org/shop", true},
		{"no path", "example.org", false},
		{"no domain", "shop", false},
		{"a domain of one part", "localhost/shop", false},
		{"capitals", "Example.org/shop", false},
		{"capitals in the path", "example.org/Shop", false},
		{"a port", "example.org:5000/shop", false},
		{"a scheme", "https://example.org/shop", false},
		{"a blank", "example.org/my shop", false},
		{"a new line", "example.org/shop\n", false},
		{"something that acts on a terminal", "example.org/shop\x1b[2J", false},
		{"a letter of another alphabet that looks the same", "ex\u0430mple.org/shop", false},
		{"nothing", "", false},
		{"as long as may be", "example.org/" + strings.Repeat("a", 255-12), true},
		{"longer", "example.org/" + strings.Repeat("a", 256-12), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := CheckName(test.name)
			if (err == nil) != test.valid {
				t.Errorf("%v", err)
			}
			if err != nil && (len(err.Error()) > 400 || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("%q", err)
			}
		})
	}
}

func TestVersionsThatBecomeTags(t *testing.T) {
	for _, test := range []struct {
		reason, version string
		valid           bool
	}{
		{"a semantic version", "1.2.3", true},
		{"with a v", "v1.2.3", true},
		{"of a candidate", "1.2.3-rc.1", true},
		{"with what it was built from", "1.2.3+git.abc", true},
		{"of two numbers", "1.2", true},
		{"a word", "latest", false},
		{"a path", "../1.2.3", false},
		{"a blank before it", " 1.2.3", false},
		{"four numbers", "1.2.3.4", false},
		{"a number that is too large", "99999999999999999999.0.0", false},
		{"nothing", "", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := CheckVersion(test.version); (err == nil) != test.valid {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestValidate: each mistake is named with its place; several are named together.
func TestValidate(t *testing.T) {
	good := func() *Descriptor {
		d := &Descriptor{
			Resources:          []Resource{{Element: Element{Name: "r", Version: "1.0.0"}, Type: "blob", Relation: RelationLocal, Access: Typed(`{"type":"x"}`)}},
			Sources:            []Source{{Element: Element{Name: "s", Version: "1.0.0"}, Type: "git", Access: Typed(`{"type":"x"}`)}},
			References:         []Reference{{Element: Element{Name: "c", Version: "1.0.0"}, ComponentName: "example.org/c"}},
			RepositoryContexts: []Typed{Typed(`{"type":"x"}`)},
			Signatures:         []Signature{{Name: "sig"}},
		}
		d.Name, d.Version, d.CreationTime = "example.org/shop", "1.0.0", "2024-01-01T00:00:00Z"
		d.Labels = []Label{{Name: "a", Version: "v1"}, {Name: "b"}}
		return d
	}
	for _, test := range []struct {
		reason string
		spoil  func(*Descriptor)
		want   string
	}{
		{"all is well", func(*Descriptor) {}, ""},
		{"no name", func(d *Descriptor) { d.Name = "" }, "the name of the component is missing"},
		{"no version", func(d *Descriptor) { d.Version = "" }, "the version of the component is missing"},
		{"a version that could be no tag can still be read", func(d *Descriptor) { d.Version = "latest" }, ""},
		{"no time", func(d *Descriptor) { d.CreationTime = "yesterday" }, "creationTime: "},
		{"a label twice", func(d *Descriptor) { d.Labels[1].Name = "a" }, `labels has "a" twice`},
		{"a label without a name", func(d *Descriptor) { d.Labels[1].Name = "" }, "labels[1].name is missing"},
		{"a label of no version", func(d *Descriptor) { d.Labels[0].Version = "1" }, `labels[0].version is "1": use v and a number`},
		{"a label of a resource", func(d *Descriptor) { d.Resources[0].Labels = []Label{{}} }, "resources[0].labels[0].name is missing"},
		{"a resource without a name", func(d *Descriptor) { d.Resources[0].Name = "" }, "resources[0].name is missing"},
		{"a resource without a type", func(d *Descriptor) { d.Resources[0].Type = "" }, "resources[0].type is missing"},
		{"a resource without an access", func(d *Descriptor) { d.Resources[0].Access = nil }, "resources[0].access is missing"},
		{"an access without a type", func(d *Descriptor) { d.Resources[0].Access = Typed(`{}`) }, "resources[0].access.type is missing"},
		{"an access whose type is a number", func(d *Descriptor) { d.Resources[0].Access = Typed(`{"type":1}`) }, "resources[0].access.type is missing"},
		{"an unknown relation", func(d *Descriptor) { d.Resources[0].Relation = "near" }, `resources[0].relation is "near": use local or external`},
		{"a source without a type", func(d *Descriptor) { d.Sources[0].Type = "" }, "sources[0].type is missing"},
		{"a source without an access", func(d *Descriptor) { d.Sources[0].Access = nil }, "sources[0].access is missing"},
		{"a reference to no component", func(d *Descriptor) { d.References[0].ComponentName = "" }, "references[0].componentName is missing"},
		{"a reference to no version", func(d *Descriptor) { d.References[0].Version = "" }, "references[0].version is missing"},
		{"a signature without a name", func(d *Descriptor) { d.Signatures[0].Name = "" }, "signatures[0].name is missing"},
		{"a repository context without a type", func(d *Descriptor) { d.RepositoryContexts[0] = Typed(`{"baseUrl":"x"}`) }, "repositoryContexts[0].type is missing"},
		{"two mistakes", func(d *Descriptor) { d.Name, d.Resources[0].Type = "", "" }, "the name of the component is missing\nresources[0].type is missing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			d := good()
			test.spoil(d)
			err := d.Validate()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}
