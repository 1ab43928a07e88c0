package exactness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Root is a root Installation with everything below it. Values of objects are texts, or
// the names of imports after an @.
type Root struct {
	*Inst
	// Skips is set if the root gets no job because of others.
	Skips bool
}

// Inst is an Installation.
type Inst struct {
	Name string
	// Imports are data, Exports those of them that are passed to the level above. They have the
	// same name on all levels.
	Imports, Exports []string
	Items            []*Item
	Subs             []*Inst
}

// Item is an item of an Installation.
type Item struct {
	Name, Kind, Target string
	// Release is the name of the release of a chart.
	Release   string
	Strategy  string
	DependsOn []string
	// OnChange is updateOnChangeOnly, Always an upgrade of a release with each job.
	OnChange bool
	Objects  []*Object
	Exports  []Export
}

// The kinds of items.
const (
	manifests, charts, templates, kustomizations = "manifest", "helm", "templates", "kustomize"
)

// Object is an object of an item.
type Object struct {
	Kind, Name, Policy string
	Values             map[string]string
	// Immutable is the field of ConfigMaps and Secrets, Recreate onImmutableChange.
	Immutable, Recreate bool
	// Stays is the annotation that keeps an object of a release, Hook the event of a hook.
	Stays bool
	Hook  string
	// Patch are values that are set when everything is ready.
	Patch map[string]string
	// Ignored is a value that may differ.
	Ignored string
}

// Export is a value of an object of the item.
type Export struct{ Key, Object, Path string }

// walk visits an Installation and all below it with their paths.
func (i *Inst) walk(visit func(path string, inst *Inst)) {
	var down func(path string, inst *Inst)
	down = func(path string, inst *Inst) {
		visit(path, inst)
		for _, sub := range inst.Subs {
			down(path+"/"+sub.Name, sub)
		}
	}
	down(i.Name, i)
}

// owners adds the paths of the items that want an object.
func (i *Inst) owners(space string, found map[Key][]string) {
	i.walk(func(path string, inst *Inst) {
		for _, item := range inst.Items {
			for _, object := range item.Objects {
				key := Key{item.Target, object.Kind, object.namespace(space), object.Name}
				found[key] = append(found[key], path+"/"+item.Name)
			}
		}
	})
}

func (o *Object) namespace(space string) string {
	if o.Kind == "ClusterRole" {
		return ""
	}
	return space
}

// spec is the specification of a root Installation.
func (i *Inst) spec(space string) map[string]any {
	imports := map[string]any{"targets": []any{
		map[string]any{"name": "host", "target": "host"}, map[string]any{"name": "edge", "target": "edge"},
	}}
	if len(i.Imports) > 0 {
		imports["data"] = references(i.Imports)
	}
	spec := map[string]any{"imports": imports, "blueprint": map[string]any{"inline": map[string]any{"filesystem": i.files(space)}}}
	if len(i.Exports) > 0 {
		spec["exports"] = map[string]any{"data": references(i.Exports)}
	}
	return spec
}

func references(names []string) []any {
	list := []any{}
	for _, name := range names {
		list = append(list, map[string]any{"name": name, "dataRef": name})
	}
	return list
}

// files are those of the blueprint.
func (i *Inst) files(space string) map[string]any {
	target := "landscaper.gardener.cloud/kubernetes-cluster"
	imports := []any{map[string]any{"name": "host", "type": "target", "targetType": target}, map[string]any{"name": "edge", "type": "target", "targetType": target}}
	for _, name := range i.Imports {
		imports = append(imports, map[string]any{"name": name, "type": "data", "schema": map[string]any{"type": "string"}})
	}
	blueprint := map[string]any{"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint", "imports": imports}
	if len(i.Items) > 0 {
		blueprint["deployExecutions"] = []any{map[string]any{"name": "default", "type": "GoTemplate", "template": i.deployItems(space)}}
	}
	if len(i.Exports) > 0 {
		exports := []any{}
		for _, name := range i.Exports {
			exports = append(exports, map[string]any{"name": name, "type": "data", "schema": map[string]any{"type": "string"}})
		}
		blueprint["exports"] = exports
		blueprint["exportExecutions"] = []any{map[string]any{"name": "default", "type": "GoTemplate", "template": i.exportTemplate()}}
	}
	subs := []any{}
	for _, sub := range i.Subs {
		wiring := sub.spec(space)
		wiring["name"] = sub.Name
		wiring["blueprint"] = map[string]any{"filesystem": sub.files(space)}
		subs = append(subs, wiring)
	}
	if len(subs) > 0 {
		blueprint["subinstallations"] = subs
	}
	return map[string]any{"blueprint.yaml": encoded(blueprint)}
}

func (i *Inst) exportTemplate() string {
	var text strings.Builder
	text.WriteString("exports:\n")
	for _, name := range i.Exports {
		from := fmt.Sprintf(`index .values "dataobjects" %q`, name)
		for _, item := range i.Items {
			if slices.ContainsFunc(item.Exports, func(export Export) bool { return export.Key == name }) {
				from = fmt.Sprintf(`index .values "deployitems" %q %q`, item.Name, name)
			}
		}
		fmt.Fprintf(&text, "  %s: {{ %s | toJson }}\n", name, from)
	}
	return text.String()
}

func (i *Inst) deployItems(space string) string {
	items := []any{}
	for _, item := range i.Items {
		made := map[string]any{
			"name": item.Name, "type": "landscaper.gardener.cloud/" + itemType(item.Kind),
			"target": map[string]any{"import": item.Target}, "config": item.config(space),
		}
		if len(item.DependsOn) > 0 {
			made["dependsOn"] = item.DependsOn
		}
		if item.OnChange {
			made["updateOnChangeOnly"] = true
		}
		items = append(items, made)
	}
	return encoded(map[string]any{"deployItems": items})
}

func itemType(kind string) string {
	return map[string]string{manifests: "kubernetes-manifest", charts: "helm", templates: "helm", kustomizations: "kustomize"}[kind]
}

func (i *Item) config(space string) map[string]any {
	version := map[string]string{manifests: "v1alpha2", charts: "v1alpha1", templates: "v1alpha1", kustomizations: "v1alpha1"}[i.Kind]
	group := map[string]string{manifests: "manifest", charts: "helm", templates: "helm", kustomizations: "kustomize"}[i.Kind]
	config := map[string]any{"apiVersion": group + ".deployer.landscaper.gardener.cloud/" + version, "kind": "ProviderConfiguration"}
	if i.Kind != charts {
		config["updateStrategy"] = cmp.Or(i.Strategy, "update")
	}
	switch i.Kind {
	case manifests:
		config["manifests"] = i.manifests(space)
	case kustomizations:
		files, resources := map[string]any{}, []string{}
		for _, object := range i.Objects {
			files[object.Name+".yaml"] = encoded(object.manifest(space, inBlueprint))
			resources = append(resources, object.Name+".yaml")
		}
		files["kustomization.yaml"] = encoded(map[string]any{"resources": resources})
		config["source"] = map[string]any{"files": files}
	default:
		config["name"], config["namespace"] = i.Release, space
		config["chart"] = map[string]any{"archive": map[string]any{"raw": i.chart(space)}}
		values := map[string]any{}
		for _, object := range i.Objects {
			for key, value := range object.Values {
				values[valueName(object, key)] = inBlueprint(object, key, value)
			}
		}
		config["values"] = values
		config["helmDeployment"] = i.Kind == charts
	}
	if exports := i.exports(space); len(exports) > 0 {
		config["exports"] = map[string]any{"exports": exports}
	}
	return config
}

func (i *Item) manifests(space string) []any {
	list := []any{}
	for _, object := range i.Objects {
		entry := map[string]any{"policy": cmp.Or(object.Policy, "manage"), "manifest": object.manifest(space, inBlueprint)}
		if object.Recreate {
			entry["onImmutableChange"] = "recreate"
		}
		if len(object.Patch) > 0 {
			entry["patchAfterDeployment"] = map[string]any{"data": object.Patch}
		}
		if object.Ignored != "" {
			entry["ignoreDifferences"] = []string{"/data/" + object.Ignored}
		}
		list = append(list, entry)
	}
	return list
}

func (i *Item) exports(space string) []any {
	list := []any{}
	for _, export := range i.Exports {
		for _, object := range i.Objects {
			if object.Name == export.Object {
				list = append(list, map[string]any{"key": export.Key, "jsonPath": export.Path, "fromResource": map[string]any{
					"apiVersion": object.apiVersion(), "kind": object.Kind, "name": object.Name, "namespace": object.namespace(space),
				}})
			}
		}
	}
	return list
}

// encoded is JSON without escapes, which would break templates in it.
func encoded(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // it consists of texts
	}
	return text.String()
}
