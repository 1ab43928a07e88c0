// Package desired has what users ask for: items and subinstallations, the blueprints that describe them,
// and what a cluster has when all of it is deployed.
package desired

import (
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/store"
)

// State is what a generation of an Installation asks for.
type State struct {
	Items []Item
	Subs  []Sub
	// Exports is the value that it exports, or 0.
	Exports int
}

// Item is an item with those that it depends on.
type Item struct {
	Config
	DependsOn []string
}

// AComponent is asked for by plans that need something outside.
var AComponent = store.Encoded(map[string]any{
	"meta": map[string]any{"schemaVersion": "v2"},
	"component": map[string]any{
		"name": "example.org/model", "version": "1.0.0", "provider": "example",
		"repositoryContexts": []any{map[string]any{"type": "ociRegistry", "baseUrl": "registry.example.org"}},
		"sources":            []any{}, "componentReferences": []any{}, "resources": []any{},
	},
})

// Describe returns the description of a blueprint with items.
func Describe(items []Item) map[string]any {
	var templates []map[string]any
	for _, item := range items {
		templates = append(templates, map[string]any{
			"name": item.Name, "type": ItemType, "target": map[string]any{"import": "cluster"},
			"dependsOn": append([]string{}, item.DependsOn...), "config": item.Config,
		})
	}
	// The order in which items are written says nothing.
	slices.Reverse(templates)
	template := strings.ReplaceAll(string(store.Encoded(map[string]any{"deployItems": templates})), fmt.Sprint(ImportedValue), "{{ .imports.in }}")
	return map[string]any{
		"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint",
		"imports":          []any{map[string]any{"name": "cluster", "type": "target", "targetType": v1alpha1.KubernetesClusterTargetType}},
		"deployExecutions": []any{map[string]any{"name": "default", "type": "GoTemplate", "template": template}},
	}
}

// Filesystem returns the files of an inline blueprint.
func Filesystem(description map[string]any) map[string]string {
	return map[string]string{"blueprint.yaml": string(store.Encoded(description))}
}

// String shows what is asked for in a trace.
func (w State) String() string {
	var items []string
	for _, item := range w.Items {
		items = append(items, fmt.Sprintf("%s after %v", item.Config, item.DependsOn))
	}
	for _, sub := range w.Subs {
		items = append(items, fmt.Sprintf("%s from %q: %v", sub.Name, sub.From, State{Items: sub.Items}))
	}
	return "[" + strings.Join(items, "; ") + "]"
}

// Sub is a subinstallation that exports a value, and may import that of a sibling.
type Sub struct {
	Name  string
	Value int
	// From is the sibling whose value it imports, and its items deploy.
	From  string
	Items []Item
}

// ImportedValue stands for what is imported where a number is written.
const ImportedValue = 987654321

// AnyValue is what an item deploys that depends on what another root has exported last.
const AnyValue = -1

// Exporting lets a blueprint export a value, importing lets it import one.
func Exporting(description map[string]any, value int) {
	description["exports"] = []any{map[string]any{"name": "out", "schema": map[string]any{"type": "integer"}}}
	description["exportExecutions"] = []any{map[string]any{"name": "default", "type": "GoTemplate", "template": fmt.Sprintf("exports: {out: %d}", value)}}
}

// exportingLate lets it export what an item exports.
func exportingLate(description map[string]any, item string) {
	description["exportExecutions"] = []any{map[string]any{"name": "default", "type": "GoTemplate", "template": "exports: {out: {{ .deployitems." + item + ".out }}}"}}
}

// Importing lets it import one.
func Importing(description map[string]any) {
	description["imports"] = append(description["imports"].([]any), map[string]any{"name": "in", "schema": map[string]any{"type": "integer"}})
}

// Values returns what the items of a subinstallation deploy.
func (w State) Values() map[string]int {
	wanted, exported := map[string]int{}, map[string]int{}
	for _, item := range w.Items {
		wanted[item.Key()] = item.Value
		if item.Value == ImportedValue {
			wanted[item.Key()] = AnyValue
		}
	}
	for _, sub := range w.Subs {
		exported[sub.Name] = sub.Value
	}
	for _, sub := range w.Subs {
		for _, item := range sub.Items {
			wanted[item.Key()] = item.Value
			if sub.From != "" {
				wanted[item.Key()] = exported[sub.From]
			}
		}
	}
	for item := range w.LateValues() {
		// The value may change at any time.
		wanted[item] = AnyValue
	}
	return wanted
}

// LateValues returns the items of subinstallations that deploy what an item of another one
// exports, with what that has exported at first.
func (w State) LateValues() map[string]int {
	late, from := map[string]int{}, map[string]int{}
	for _, sub := range w.Subs {
		if len(sub.Items) > 0 {
			from[sub.Name] = sub.Items[0].Out
		}
	}
	for _, sub := range w.Subs {
		for _, item := range sub.Items {
			if out := from[sub.From]; out > 0 {
				late[item.Key()] = out
			}
		}
	}
	return late
}

// TemplatesOf returns the installation templates, the last one first: their order says
// nothing.
func TemplatesOf(subs []Sub) []any {
	var templates []any
	for i := len(subs) - 1; i >= 0; i-- {
		sub := subs[i]
		description := Describe(sub.Items)
		Exporting(description, sub.Value)
		if len(sub.Items) > 0 {
			exportingLate(description, sub.Items[0].Name)
		}
		wired := map[string]any{"targets": []any{map[string]any{"name": "cluster", "target": "cluster"}}}
		if sub.From != "" {
			Importing(description)
			wired["data"] = []any{map[string]any{"name": "in", "dataRef": "of-" + sub.From}}
		}
		templates = append(templates, map[string]any{
			"name": sub.Name, "blueprint": map[string]any{"filesystem": Filesystem(description)}, "imports": wired,
			"exports": map[string]any{"data": []any{map[string]any{"name": "out", "dataRef": "of-" + sub.Name}}},
		})
	}
	return templates
}

// Moves returns which item of a desired state wants which object.
func (w State) Moves() map[string]string {
	found := map[string]string{}
	for _, item := range w.All() {
		for _, name := range item.Moves {
			found[name] = item.Key()
		}
	}
	return found
}

// All returns all items of a tree.
func (w State) All() []Item {
	all := slices.Clone(w.Items)
	for _, sub := range w.Subs {
		all = append(all, sub.Items...)
	}
	return all
}

// ItemType is the type of the items in the model.
const ItemType = "example.org/model"

// Config is the configuration of an item.
type Config struct {
	// Without a kind, the items of an Execution would be compressed.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	Inst string `json:"inst"`
	// Sub is the subinstallation that the item is in, After the sibling whose value it
	// deploys.
	Sub    string `json:"sub,omitempty"`
	After  string `json:"after,omitempty"`
	Name   string `json:"name"`
	Behave string `json:"behave"`
	Value  int    `json:"value"`
	// Out is what the item exports at first, and nothing else does; 0 if it exports
	// nothing.
	Out int `json:"out,omitempty"`
	// Moves are the objects of the root that the item wants, which another one may have wanted
	// before.
	Moves []string `json:"moves,omitempty"`
}

// Key is the name of an item within its root.
func (c Config) Key() string { return c.Sub + "." + c.Name }

func (c Config) String() string {
	return fmt.Sprintf("%s=%d%v (%s)", c.Name, c.Value, c.Moves, c.Behave)
}
