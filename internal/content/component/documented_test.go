package component

import (
	"errors"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestDocumentedInstallations reads the forms in which the documentation of
// Installations shows component descriptors.
func TestDocumentedInstallations(t *testing.T) {
	read := func(text string) v1alpha1.ComponentDescriptorDefinition {
		var definition v1alpha1.ComponentDescriptorDefinition
		if err := yaml.UnmarshalStrict([]byte(text), &definition); err != nil {
			t.Fatal(err)
		}
		return definition
	}

	remote := read(`{ref: {repositoryContext: {type: ociRegistry, baseUrl: eu.gcr.io/myproj}, componentName: github.com/gardener/gardener, version: v1.7.2}}`).Reference
	spec, err := repository.ParseSpec(Context(remote.RepositoryContext))
	if err != nil || spec.Host != "eu.gcr.io" || spec.Repository(remote.ComponentName) != "myproj/component-descriptors/github.com/gardener/gardener" {
		t.Errorf("the older spelling of the type, with a path: %+v, %v", spec, err)
	}
	if tag, err := repository.Tag(remote.Version); err != nil || tag != "v1.7.2" {
		t.Errorf("the tag is %s, %v", tag, err)
	}

	inline := read(`
inline:
  meta: {schemaVersion: v2}
  component:
    name: github.com/my-comp
    version: v0.0.1
    provider: internal
    repositoryContexts: [{type: ociRegistry, baseUrl: registry.example.com/test}]
    sources: []
    componentReferences:
    - name: ingress
      componentName: github.com/gardener/landscaper/ingress-nginx
      version: v0.2.0
      labels:
      - name: landscaper.gardener.cloud/component-descriptor
        value:
          meta: {schemaVersion: v2}
          component: {name: github.com/gardener/landscaper/ingress-nginx, version: v0.2.0}
    resources:
    - {type: ociImage, name: echo-server-image, version: v0.2.3, relation: external, access: {type: ociRegistry, imageReference: "hashicorp/http-echo:0.2.3"}}
    - {name: my-application, type: blueprint, relation: external, access: {type: ociRegistry, imageReference: registry.example.com/blueprints/my-application}}
`)
	top, err := descriptor.Decode(inline.Inline.RawMessage)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(NewShared(), Options{})
	reference, err := s.SetInline(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := s.Resolve(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Closure(t.Context(), root, reference.Context)
	if err != nil || len(all) != 2 || all[1].EffectiveContext().Kind() != "ociRegistry" {
		t.Errorf("the nested descriptor, which has no repository context, is found without a registry: %v, %v", all, err)
	}
	for name, want := range map[string]access.Reference{
		"echo-server-image": {Host: "docker.io", Repository: "hashicorp/http-echo", Tag: "0.2.3"},
		"my-application":    {Host: "registry.example.com", Repository: "blueprints/my-application", Tag: "latest"},
	} {
		t.Run(name, func(t *testing.T) {
			resource, err := root.Resource(descriptor.Named(name))
			if err != nil {
				t.Fatal(err)
			}
			var image struct {
				ImageReference string `json:"imageReference"`
			}
			if err := resource.Access.Decode(&image); err != nil {
				t.Fatal(err)
			}
			if got, err := access.ParseReference(image.ImageReference); err != nil || got != want {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		})
	}

	_, err = NewSession(NewShared(), Options{Default: Context(remote.RepositoryContext)}).Resolve(t.Context(), Reference{Name: "github.com/my-comp", Version: "v.1.7.2"})
	if err == nil || errors.Is(err, ErrNoRepository) || !strings.Contains(err.Error(), `"v.1.7.2"`) {
		t.Errorf("the sample version is not valid, and the message says so: %v", err)
	}
}

func TestOverwritesOfAnObject(t *testing.T) {
	var rules v1alpha1.ComponentVersionOverwriteList
	if err := yaml.Unmarshal([]byte(`
- source: {componentName: example.org/shop/db}
  substitution: {version: 3.1.1-hotfix}
- source: {}
  substitution: {repositoryContext: {type: OCIRegistry, baseUrl: mirror.example.org}}
`), &rules); err != nil {
		t.Fatal(err)
	}
	got, matched := Apply(Overwrites(rules), Reference{Name: "example.org/shop/db", Version: "3.1.0"})
	spec, err := repository.ParseSpec(got.Context)
	if err != nil || !matched || got.Version != "3.1.1-hotfix" || spec.Host != "mirror.example.org" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestReferencePage publishes the constructor file of the reference page.
func TestReferencePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/components.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```yaml\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the page has no example")
	}
	s := session(t, Options{Default: archiveContext(t, transport(t, block))})
	version, err := s.Resolve(t.Context(), Reference{Name: "example.org/shop/web", Version: "1.4.2"})
	if err != nil || len(version.Resources) != 2 || version.References[0].ComponentName != "example.org/shop/db" {
		t.Errorf("got %+v, %v", version, err)
	}
}
