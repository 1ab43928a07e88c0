package blueprints

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/plain"
	"go.landscaper.dev/internal/plan"
)

// unit is one object of the output, with the names that lead to it.
type unit struct {
	names   []string
	content any
}

// units returns what is to be shown of a tree. With simulated exports everything
// is named by the path of its Installation, as in root/network; otherwise the root
// is not named.
func (o *renderOptions) units(node *plan.Node, at []string) []unit {
	if o.simulations != nil {
		at = []string{node.Path}
	}
	var all []unit
	add := func(kind string, content any, names ...string) {
		if o.kinds[kind] {
			all = append(all, unit{slices.Concat(at, names), content})
		}
	}
	if o.simulations != nil {
		add(kindSubinstallations, node.Installation(), "installation")
	}
	add(kindImports, map[string]any{"imports": node.Plan.Imports.Map()}, "imports")
	for i := range node.DeployItems {
		add(kindDeployItems, deployItem(node, &node.DeployItems[i]), kindDeployItems, node.DeployItems[i].Name)
	}
	if states := node.StatesOf(plan.DeployPrefix); len(states) > 0 {
		add(kindDeployItems, stateOf(states), kindDeployItems, "state")
	}
	if states := node.StatesOf(plan.SubinstallationPrefix); len(states) > 0 {
		add(kindSubinstallations, stateOf(states), kindSubinstallations, "state")
	}
	if node.Exports != nil {
		add(kindExports, map[string]any{"exports": node.Exports.Values}, "exports")
	}
	for _, sub := range node.Subinstallations {
		if o.simulations == nil {
			add(kindSubinstallations, sub.Installation, kindSubinstallations, sub.Name)
		}
	}
	for _, child := range node.Nodes {
		all = append(all, o.units(child, append(slices.Clone(at), kindSubinstallations, child.Name()))...)
	}
	return all
}

// stateOf shows what executors want to store.
func stateOf(states map[string][]byte) map[string]any {
	values := make(map[string]any, len(states))
	for name, content := range states {
		value, err := plain.FromYAML(content)
		if err != nil {
			value = string(content)
		}
		values[name] = value
	}
	return map[string]any{"state": values}
}

// deployItem returns the object that the Execution would make of an item.
func deployItem(node *plan.Node, item *v1alpha1.DeployItemTemplate) *v1alpha1.DeployItem {
	inst := node.Plan.Installation()
	object := &v1alpha1.DeployItem{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "DeployItem"},
		ObjectMeta: metav1.ObjectMeta{Name: item.Name, Namespace: inst.Namespace, Labels: item.Labels},
		Spec: v1alpha1.DeployItemSpec{
			Type: item.Type, Target: item.Target, Context: inst.Spec.Context, Configuration: item.Configuration,
			Timeout: item.Timeout, UpdateOnChangeOnly: item.UpdateOnChangeOnly, OnDelete: item.OnDelete,
		},
	}
	if len(item.DependsOn) > 0 {
		object.Annotations = map[string]string{v1alpha1.ExecutionDependsOnAnnotation: strings.Join(item.DependsOn, ",")}
	}
	return object
}

// write shows the units as a stream, or as files.
func (o *renderOptions) write(streams terminal.Streams, node *plan.Node) error {
	all := o.units(node, nil)
	if o.directory == "" && o.output == "json" {
		return writeJSON(streams.Out, all)
	}
	for _, u := range all {
		text, err := o.encode(u.content)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(u.names, " "), err)
		}
		if o.directory != "" {
			err = o.writeFile(u, text)
		} else {
			_, err = fmt.Fprintf(streams.Out, "%s\n-- %s\n%s\n%s\n", strings.Repeat("-", 38), strings.Join(u.names, " "), strings.Repeat("-", 38), text)
		}
		if err != nil {
			return err //nolint:wrapcheck // names the file
		}
	}
	for _, kind := range []string{kindDeployItems, kindSubinstallations} {
		if o.kinds[kind] && !has(all, kind) && o.directory == "" {
			fmt.Fprintf(streams.Out, "No %s defined\n", map[string]string{kindDeployItems: "deploy items", kindSubinstallations: "subinstallations"}[kind])
		}
	}
	return nil
}

func has(all []unit, kind string) bool {
	for _, u := range all {
		for _, name := range u.names {
			if name == kind {
				return true
			}
		}
	}
	return false
}

// writeFile writes a unit below the directory; its names are the path.
func (o *renderOptions) writeFile(u unit, text []byte) error {
	path := filepath.Join(u.names...) + "." + o.output
	if err := os.MkdirAll(o.directory, 0o755); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	// The names come from the blueprint: they must not lead out of the directory.
	root, err := os.OpenRoot(o.directory)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	defer root.Close() //nolint:errcheck // WriteFile reports what matters
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := root.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// writeJSON writes one document for programs.
func writeJSON(out io.Writer, all []unit) error {
	type entry struct {
		Path    string `json:"path"`
		Content any    `json:"content"`
	}
	entries := make([]entry, 0, len(all))
	for _, u := range all {
		content, err := tidy(u.content)
		if err != nil {
			return err
		}
		entries = append(entries, entry{strings.Join(u.names, "/"), content})
	}
	text, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err //nolint:wrapcheck // the standard output
}

func (o *renderOptions) encode(content any) ([]byte, error) {
	content, err := tidy(content)
	if err != nil {
		return nil, err
	}
	if o.output == "json" {
		text, err := json.MarshalIndent(content, "", "  ")
		return append(text, '\n'), err //nolint:wrapcheck // the caller names the unit
	}
	return yaml.Marshal(content) //nolint:wrapcheck // the caller names the unit
}

// tidy leaves out what only an API server fills in.
func tidy(content any) (any, error) {
	value, err := plain.Of(content)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the unit
	}
	if object, ok := value.(map[string]any); ok && object["kind"] != nil {
		delete(object, "status")
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "creationTimestamp")
		}
	}
	return value, nil
}
