package landscape

import (
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
)

// Part is a subinstallation in a blueprint.
type Part map[string]any

// NewTree returns a root with subinstallations, which imports nothing.
func NewTree(namespace, name string, parts []Part) *v1alpha1.Installation {
	root := Described(namespace, name, blueprintWith(parts))
	root.Spec.Imports = v1alpha1.InstallationImports{}
	return root
}

// blueprintWith is the description of a blueprint with subinstallations.
func blueprintWith(parts []Part) string {
	return string(encode(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Blueprint", "subinstallations": parts}))
}

// Chain are subinstallations of which each imports what the one before exports. Their
// order in the blueprint says nothing.
func Chain(count int) []Part {
	parts, in := make([]Part, count), ""
	for i := range count {
		out := fmt.Sprintf("value-%d", i)
		parts[count-1-i] = exporting(fmt.Sprintf("part-%d", i), out, in)
		in = out
	}
	return parts
}

// Nested are subinstallations with others below them, that have nothing to do with each
// other: so many on each level, of which those of the last export a value.
func Nested(widths ...int) []Part {
	parts := make([]Part, widths[0])
	for i := range parts {
		name := fmt.Sprintf("part-%d", i)
		if len(widths) == 1 {
			parts[i] = exporting(name, fmt.Sprintf("value-%d", i), "")
			continue
		}
		parts[i] = Part{"name": name, "blueprint": map[string]any{"filesystem": files(blueprintWith(Nested(widths[1:]...)))}}
	}
	return parts
}

// exporting is a subinstallation that exports a value, which may depend on one that it
// imports.
func exporting(name, out, in string) Part {
	made := Part{"name": name, "exports": map[string]any{"data": []any{map[string]any{"name": "out", "dataRef": out}}}}
	description := "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nexports: [{name: out, schema: {type: integer}}]\n"
	value := "0"
	if in != "" {
		description += "imports: [{name: in, schema: {type: integer}}]\n"
		made["imports"] = map[string]any{"data": []any{map[string]any{"name": "in", "dataRef": in}}}
		value = "{{ add1 .imports.in }}"
	}
	description += "exportExecutions: [{name: default, type: GoTemplate, template: 'exports: {out: " + value + "}'}]\n"
	made["blueprint"] = map[string]any{"filesystem": files(description)}
	return made
}

// Nodes is how many Installations a tree with these widths has.
func Nodes(widths ...int) int {
	all, level := 1, 1
	for _, width := range widths {
		level *= width
		all += level
	}
	return all
}
