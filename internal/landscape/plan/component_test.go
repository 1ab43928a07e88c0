package plan

import (
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
)

const shopDescriptor = `
meta: {schemaVersion: v2}
component:
  name: example.org/shop
  version: 1.0.0
  provider: me
  resources:
  - {name: own, version: 1.0.0, type: blueprint, relation: local, access: {type: localFilesystemBlob, fileName: own, mediaType: application/x-tar}}
  componentReferences:
  - {name: db, componentName: example.org/db, version: 2.0.0}
`

const dbDescriptor = `
meta: {schemaVersion: v2}
component:
  name: example.org/db
  version: VERSION
  provider: me
  resources:
  - {name: blueprint, version: 1.0.0, type: landscaper.gardener.cloud/blueprint, relation: local, access: {type: localFilesystemBlob, fileName: db, mediaType: application/x-tar}}
`

// session works with a local repository of three component versions.
func session(t *testing.T, overwrites ...component.Overwrite) *component.Session {
	t.Helper()
	files := fstest.MapFS{
		"shop.yaml":                {Data: []byte(shopDescriptor)},
		"db2.yaml":                 {Data: []byte(strings.ReplaceAll(dbDescriptor, "VERSION", "2.0.0"))},
		"db3.yaml":                 {Data: []byte(strings.ReplaceAll(dbDescriptor, "VERSION", "3.0.0"))},
		"blobs/own/blueprint.yaml": {Data: []byte("deployExecutions: [{name: d, type: GoTemplate, template: \"deployItems: [{name: '{{ .componentDescriptorDef.ref.version }}', type: t}]\"}]")},
		"blobs/db/blueprint.yaml":  {Data: []byte("deployExecutions: [{name: d, type: GoTemplate, template: \"deployItems: [{name: 'db-{{ .cd.component.version }}', type: t}]\"}]")},
	}
	opened := component.NewSession(component.NewShared(), component.Options{
		Local: files, Default: descriptor.Typed(`{"type":"local","filePath":"."}`), Overwrites: overwrites,
	})
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

func reference(version string) *v1alpha1.ComponentDescriptorDefinition {
	return &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: version}}
}

func TestSubinstallationOfComponent(t *testing.T) {
	overwrite := component.Overwrite{Source: component.Reference{Name: "example.org/db"}, Substitution: component.Reference{Version: "3.0.0"}}
	from := session(t, overwrite)
	in := input(t, `subinstallations: [{name: db, blueprint: {ref: "cd://componentReferences/db/resources/blueprint"}}]`)
	in.Installation.Spec.ComponentDescriptor = reference("1.0.0")
	in.Installation.Spec.Verification = &v1alpha1.Verification{SignatureName: "vendor"}
	in.Installation.Spec.Context = "mine"
	var err error
	if in.Component, err = OpenComponent(t.Context(), from, in.Installation.Spec.ComponentDescriptor); err != nil {
		t.Fatal(err)
	}
	made, err := children(t, in)
	if err != nil {
		t.Fatal(err)
	}
	sub := made.Subinstallations[0].Installation
	if sub.Spec.Verification == nil || sub.Spec.Verification.SignatureName != "vendor" || sub.Spec.Context != "mine" {
		t.Errorf("the child is verified and finds its sources like the parent: %+v", sub.Spec)
	}
	if sub.Spec.Blueprint.Reference.ResourceName != "blueprint" || sub.Spec.ComponentDescriptor.Reference.Version != "2.0.0" || sub.Spec.ComponentDescriptor.Reference.RepositoryContext.Type() != "local" {
		t.Fatalf("the child refers to the component as the reference is written: %+v", sub.Spec.ComponentDescriptor.Reference)
	}
	opened, err := OpenComponent(t.Context(), from, sub.Spec.ComponentDescriptor)
	if err != nil || opened.Version.Version != "3.0.0" || opened.Reference.Version != "3.0.0" {
		t.Fatalf("overwrites count when the child is worked out: %+v, %v", opened, err)
	}
	loaded, err := OpenBlueprint(t.Context(), nil, opened, &sub.Spec.Blueprint)
	if err != nil {
		t.Fatal(err)
	}
	grandchildren, err := children(t, Input{Installation: sub, Blueprint: loaded, Component: opened})
	if err != nil || grandchildren.DeployItems[0].Name != "db-3.0.0" {
		t.Errorf("templates see the component in effect: %+v, %v", grandchildren, err)
	}
}

func TestOwnResourceAsSubinstallation(t *testing.T) {
	in := input(t, `subinstallations: [{name: own, blueprint: {ref: "cd://resources/own"}}]`)
	in.Installation.Spec.ComponentDescriptor = reference("1.0.0")
	var err error
	if in.Component, err = OpenComponent(t.Context(), session(t), in.Installation.Spec.ComponentDescriptor); err != nil {
		t.Fatal(err)
	}
	made, err := children(t, in)
	if err != nil {
		t.Fatal(err)
	}
	if sub := made.Subinstallations[0].Installation; sub.Spec.ComponentDescriptor.Reference.ComponentName != "example.org/shop" || sub.Spec.Blueprint.Reference.ResourceName != "own" {
		t.Errorf("%+v", sub.Spec)
	}
}

func TestNestedInlineDescriptor(t *testing.T) {
	inline := v1alpha1.NewAnyJSON([]byte(`{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/shop","version":"1.0.0","provider":"me","componentReferences":[
		{"name":"db","componentName":"example.org/db","version":"2.0.0","labels":[{"name":"landscaper.gardener.cloud/component-descriptor","value":
			{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/db","version":"2.0.0","provider":"me","resources":[
				{"name":"blueprint","version":"1.0.0","type":"blueprint","relation":"local","access":{"type":"none"}}]}}}]}]}}`))
	in := input(t, `subinstallations: [{name: db, blueprint: {ref: "cd://componentReferences/db/resources/blueprint"}}]`)
	in.Installation.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Inline: &inline}
	from := component.NewSession(component.NewShared(), component.Options{})
	t.Cleanup(func() { _ = from.Close() })
	var err error
	if in.Component, err = OpenComponent(t.Context(), from, in.Installation.Spec.ComponentDescriptor); err != nil {
		t.Fatal(err)
	}
	made, err := children(t, in)
	if err != nil {
		t.Fatal(err)
	}
	definition := made.Subinstallations[0].Installation.Spec.ComponentDescriptor
	if definition.Reference != nil || !strings.Contains(string(definition.Inline.RawMessage), `"example.org/db"`) {
		t.Errorf("a nested descriptor is passed to the child: %+v", definition)
	}
}

func TestOpenErrors(t *testing.T) {
	named := func(resource string) v1alpha1.BlueprintDefinition {
		return v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: resource}}
	}
	tests := []struct {
		reason     string
		definition *v1alpha1.ComponentDescriptorDefinition
		blueprint  v1alpha1.BlueprintDefinition
		want       string
	}{
		{"no component", nil, named("own"), "no component descriptor reference defined: set spec.componentDescriptor"},
		{"no blueprint", reference("1.0.0"), v1alpha1.BlueprintDefinition{}, "no remote reference nor a inline blueprint is defined"},
		{"a version that does not exist", reference("9.0.0"), named("own"), `component version "example.org/shop:9.0.0" not found`},
		{"a resource that does not exist", reference("1.0.0"), named("ghost"), "failed to get resource with name ghost"},
		{"nothing given", &v1alpha1.ComponentDescriptorDefinition{}, named("own"), "neither ref nor inline is given"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var opened *Component
			var err error
			if test.definition != nil {
				opened, err = OpenComponent(t.Context(), session(t), test.definition)
			}
			if err == nil {
				_, err = OpenBlueprint(t.Context(), nil, opened, &test.blueprint)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func overwritten() component.Reference {
	return component.Reference{Name: "example.org/shop", Version: "1.0.0"}
}
