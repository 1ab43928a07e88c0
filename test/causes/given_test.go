package causes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

type (
	m    = map[string]any
	list = []any
)

// given is an Installation with a fault: what its blueprint says, and how it is wired.
// The same can be a subinstallation.
type given struct {
	// items are the deploy items.
	items list
	// imports are further declarations of the blueprint, by name with their schemas as
	// JSON. They are imported as dataRef of the same name, unless refs says otherwise.
	imports map[string]string
	refs    map[string]string
	// secrets are those of imports that are a key of a Secret: NAME/KEY.
	secrets map[string]string
	// target is the Target behind the import cluster, north by default; lists are imports
	// of lists of Targets. The import second is the Target south.
	target string
	lists  map[string][]string
	// local looks for imports in the parent, which has none of them.
	local bool
	// blueprint are further fields of the blueprint, files its further files; description
	// takes the place of all of it.
	blueprint   m
	files       map[string]string
	description string
	// exports are where exports go; the mappings are those of the Installation.
	exports                        map[string]string
	importMappings, exportMappings m
	// component is where the blueprint comes from, in its place.
	component *component
	// context is the Context of the root, verified the signature that it asks for.
	context, verified string
}

// component names the blueprint of a component version.
type component struct {
	name, version, resource string
	// inline is a descriptor of the Installation, of which the resource is one.
	inline m
	// whole is a published component version that has this one as part.
	whole string
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// tree is the content of the blueprint.
func (g given) tree() map[string]string {
	files := maps.Clone(g.files)
	if files == nil {
		files = map[string]string{}
	}
	files["blueprint.yaml"] = g.description
	if g.description != "" {
		return files
	}
	imports := list{m{"name": "cluster", "targetType": "landscaper.gardener.cloud/kubernetes-cluster"}, m{"name": "second", "targetType": "landscaper.gardener.cloud/kubernetes-cluster"}}
	for _, name := range slices.Sorted(maps.Keys(g.imports)) {
		imports = append(imports, m{"name": name, "schema": json.RawMessage(g.imports[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(g.lists)) {
		imports = append(imports, m{"name": name, "type": "targetList", "targetType": "landscaper.gardener.cloud/kubernetes-cluster"})
	}
	described := m{"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint", "imports": imports}
	if g.items != nil {
		described["deployExecutions"] = list{m{"name": "default", "type": "GoTemplate", "template": string(encode(m{"deployItems": g.items}))}}
	}
	maps.Copy(described, g.blueprint)
	files["blueprint.yaml"] = string(encode(described))
	return files
}

// wiring are the imports; in a parent, every name is that of an import of the parent.
func (g given) wiring(inParent bool) v1alpha1.InstallationImports {
	imports := v1alpha1.InstallationImports{Targets: []v1alpha1.TargetImport{{Name: "cluster", Target: "north"}, {Name: "second", Target: "south"}}}
	if g.target != "" {
		imports.Targets[0].Target = g.target
	}
	handedDown := inParent && !g.local
	if inParent && (!g.local || g.target == "") {
		imports.Targets[0].Target = "cluster"
	}
	if inParent {
		imports.Targets[1].Target = "second"
	}
	for _, name := range slices.Sorted(maps.Keys(g.imports)) {
		made := v1alpha1.DataImport{Name: name, DataRef: name}
		secret, key, isSecret := strings.Cut(g.secrets[name], "/")
		switch {
		case handedDown:
		case isSecret && !inParent:
			made.DataRef, made.SecretRef = "", &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: secret, Key: key}}
		case g.refs[name] != "":
			made.DataRef = g.refs[name]
		}
		imports.Data = append(imports.Data, made)
	}
	for _, name := range slices.Sorted(maps.Keys(g.lists)) {
		made := v1alpha1.TargetImport{Name: name, Targets: g.lists[name]}
		if handedDown {
			made.Targets, made.TargetListReference = nil, name
		}
		imports.Targets = append(imports.Targets, made)
	}
	return imports
}

// mappings are values of data mappings.
func mappings(all m) map[string]v1alpha1.AnyJSON {
	made := map[string]v1alpha1.AnyJSON{}
	for name, value := range all {
		made[name] = v1alpha1.NewAnyJSON(encode(value))
	}
	return made
}

func (g given) published() v1alpha1.InstallationExports {
	made := v1alpha1.InstallationExports{}
	for _, name := range slices.Sorted(maps.Keys(g.exports)) {
		made.Data = append(made.Data, v1alpha1.DataExport{Name: name, DataRef: g.exports[name]})
	}
	return made
}

// installation is the root, which is the Installation with the fault or has it three
// levels below.
func (g given) installation(space, name string, depth int) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: space, Name: name, Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
	}}
	root := g
	for level := range depth {
		root = root.above(fmt.Sprintf("level-%d", depth-level))
	}
	inst.Spec = v1alpha1.InstallationSpec{
		Context: g.context, Imports: root.wiring(false), Exports: root.published(),
		ImportDataMappings: mappings(root.importMappings), ExportDataMappings: mappings(root.exportMappings),
		Blueprint: v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(encode(root.tree()))}},
	}
	if g.verified != "" {
		inst.Spec.Verification = &v1alpha1.Verification{SignatureName: g.verified}
	}
	if g.component != nil {
		g.component.apply(&inst.Spec, depth)
	}
	return inst
}

// above is an Installation that has this one as its only subinstallation.
func (g given) above(name string) given {
	up := given{blueprint: m{"subinstallations": list{g.template(name)}}, target: g.target, secrets: g.secrets, refs: g.refs, lists: g.lists, imports: map[string]string{}}
	for name := range g.imports {
		up.imports[name] = "{}"
	}
	if g.local {
		up.imports, up.refs, up.lists, up.target = nil, nil, nil, ""
	}
	return up
}

// template is the subinstallation in the blueprint of its parent.
func (g given) template(name string) m {
	made := m{"name": name, "imports": g.wiring(true), "exports": g.published(), "blueprint": m{"filesystem": g.tree()}}
	if g.component != nil {
		made["blueprint"] = m{"ref": g.component.address()}
	}
	if g.importMappings != nil {
		made["importDataMappings"] = g.importMappings
	}
	if g.exportMappings != nil {
		made["exportDataMappings"] = g.exportMappings
	}
	return made
}

// address is that of the blueprint for a subinstallation, by the descriptor of the root.
func (c *component) address() string {
	if c.inline != nil {
		return "cd://resources/" + c.resource
	}
	return "cd://componentReferences/part/resources/" + c.resource
}

// apply lets an Installation use the component, or three levels below one a part of it.
func (c *component) apply(spec *v1alpha1.InstallationSpec, depth int) {
	inline := c.inline
	if inline == nil && depth > 0 && c.whole == "" {
		inline = m{"meta": m{"schemaVersion": "v2"}, "component": m{
			"name": "example.org/whole", "version": "1.0.0", "provider": "vendor", "sources": list{}, "resources": list{}, "repositoryContexts": list{},
			"componentReferences": list{m{"name": "part", "componentName": c.name, "version": c.version}},
		}}
	}
	name := c.name
	if c.whole != "" && depth > 0 {
		name = c.whole
	}
	spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: name, Version: c.version}}
	if inline != nil {
		spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Inline: v1alpha1.NewAnyJSONPointer(encode(inline))}
	}
	if depth == 0 {
		spec.Blueprint = v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: c.resource}}
	}
}

// item is a deploy item; its time is short, so that everything ends.
func item(name, kind string, config m) m {
	version := map[string]string{"kubernetes-manifest": "manifest.deployer.landscaper.gardener.cloud/v1alpha2", "helm": "helm.deployer.landscaper.gardener.cloud/v1alpha1", "kustomize": "kustomize.deployer.landscaper.gardener.cloud/v1alpha1"}[kind]
	config["apiVersion"], config["kind"] = version, "ProviderConfiguration"
	return m{"name": name, "type": "landscaper.gardener.cloud/" + kind, "target": m{"import": "cluster"}, "timeout": "45s", "config": config}
}

// manifests is a deploy item with objects, and further fields of its configuration.
func manifests(name string, more m, objects ...m) m {
	entries := list{}
	for _, object := range objects {
		entries = append(entries, m{"policy": "manage", "manifest": object})
	}
	config := m{"updateStrategy": "update", "manifests": entries}
	maps.Copy(config, more)
	return item(name, "kubernetes-manifest", config)
}

// configMap is an object to deploy.
func configMap(space, name string) m {
	return m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": name, "namespace": space}, "data": m{"greeting": "hello"}}
}

// labelled adds labels to an object.
func labelled(object m, labels m) m {
	object["metadata"].(m)["labels"] = labels
	return object
}

// with adds to an item.
func with(item m, name string, value any) m {
	item[name] = value
	return item
}
