package blueprints

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/landscape/plan"
)

// unit is one object of the output.
type unit struct {
	// kind is what it was chosen by.
	kind string
	// at leads to the Installation that it belongs to, and names to it from there.
	at, names []string
	content   any
}

// title is what stands above the unit in a stream.
func (u unit) title() string { return strings.Join(slices.Concat(u.at, u.names), " ") }

// path is unique, and names a file below a directory. Names come from templates,
// which may write anything.
func (u unit) path() string {
	steps := slices.Clone(u.at)
	for _, name := range u.names {
		escaped := url.PathEscape(name)
		if strings.HasPrefix(escaped, ".") {
			escaped = "%2E" + escaped[1:]
		}
		steps = append(steps, escaped)
	}
	return path.Join(steps...)
}

// units returns what is to be shown of a tree. With simulated exports everything
// is named by the path of its Installation, as in root/network; otherwise the root
// is not named.
func (o *renderOptions) units(node *plan.Node, at []string) []unit {
	simulated := o.simulation != nil
	if simulated {
		at = []string{node.Path}
	}
	var all []unit
	add := func(kind string, content any, names ...string) {
		if o.kinds[kind] {
			all = append(all, unit{kind, at, names, content})
		}
	}
	in := o.inputs[node.Installation()]
	if simulated {
		add(kindSubinstallations, node.Installation(), "installation")
	}
	add(kindImports, map[string]any{kindImports: o.shownImports(in, node.Imports)}, kindImports)
	for i := range node.DeployItems {
		add(kindDeployItems, deployItem(node, &node.DeployItems[i]), kindDeployItems, node.DeployItems[i].Name)
	}
	if states := node.StatesOf(plan.DeployPrefix); len(states) > 0 {
		add(kindDeployItems, map[string]any{"state": statesOf(states)}, kindDeployItems, "state")
	}
	if states := node.StatesOf(plan.SubinstallationPrefix); len(states) > 0 {
		group := kindSubinstallations
		if simulated {
			group = "installation"
		}
		add(kindSubinstallations, map[string]any{"state": statesOf(states)}, group, "state")
	}
	if node.Exports != nil {
		add(kindExports, map[string]any{kindExports: o.shownExports(in, node.Exports.Values)}, kindExports)
	}
	for _, sub := range node.Subinstallations {
		if !simulated {
			inst := sub.Installation.DeepCopy()
			inst.Name = sub.Name
			add(kindSubinstallations, inst, kindSubinstallations, sub.Name)
		}
	}
	for _, child := range node.Nodes {
		all = append(all, o.units(child, append(slices.Clone(at), kindSubinstallations, child.Name()))...)
	}
	return all
}

// statesOf shows what executors want to store.
func statesOf(states map[string][]byte) map[string]any {
	values := make(map[string]any, len(states))
	for name, content := range states {
		value, err := jsonvalue.FromYAML(content)
		if err != nil {
			value = string(content)
		}
		values[name] = value
	}
	return values
}

// deployItem returns the object that the Execution would make of an item.
func deployItem(node *plan.Node, item *v1alpha1.DeployItemTemplate) *v1alpha1.DeployItem {
	inst := node.Installation()
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

// tidy returns an object without what only a cluster fills in.
func tidy(content any) (any, error) {
	value, err := jsonvalue.FromObject(content)
	if err != nil {
		return nil, fmt.Errorf("the result is no JSON: %w", err)
	}
	if object, ok := value.(map[string]any); ok && object["kind"] != nil {
		delete(object, "status")
		if metadata, ok := object["metadata"].(map[string]any); ok {
			for _, name := range []string{"creationTimestamp", "uid", "ownerReferences"} {
				delete(metadata, name)
			}
		}
	}
	return value, nil
}
