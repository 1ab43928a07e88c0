package blueprints

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/plain"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/render"
)

// simulation says what deploy items and Installations export, as nothing is
// deployed.
type simulation struct {
	DeployItems   []exportTemplate `json:"deployItems"`
	Installations []exportTemplate `json:"installations"`
}

// exportTemplate gives the exports of all objects whose path a selector matches.
type exportTemplate struct {
	Name     string `json:"name"`
	Selector string `json:"selector"`
	Template string `json:"template"`
	// Exports are values that need no template.
	Exports map[string]any `json:"exports"`

	pattern *regexp.Regexp
}

func readSimulation(path string) (*simulation, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("export templates: %w", err)
	}
	read := &simulation{}
	if err := yaml.UnmarshalStrict(content, read); err != nil {
		return nil, fmt.Errorf("export templates %s: %w", path, err)
	}
	for _, list := range [][]exportTemplate{read.DeployItems, read.Installations} {
		for i := range list {
			if list[i].pattern, err = regexp.Compile(list[i].Selector); err != nil {
				return nil, fmt.Errorf("export templates %s: selector of %q: %w", path, list[i].Name, err)
			}
		}
	}
	return read, nil
}

// Item implements plan.Simulation.
func (s *simulation) Item(ctx context.Context, node *plan.Node, item *v1alpha1.DeployItemTemplate) (any, error) {
	path := node.Path + "/" + item.Name
	template := match(s.DeployItems, path)
	if template == nil {
		return nil, nil
	}
	value, err := plain.Of(item)
	if err != nil {
		return nil, err //nolint:wrapcheck // cannot happen
	}
	var result struct {
		Exports any `json:"exports"`
	}
	if template.Template == "" {
		return plain.Of(template.Exports) //nolint:wrapcheck // cannot happen
	}
	err = template.render(ctx, node, map[string]any{"deployItem": value}, &result)
	return result.Exports, err
}

// Installation implements plan.Simulation.
func (s *simulation) Installation(ctx context.Context, node *plan.Node) (*plan.SimulatedExports, error) {
	template := match(s.Installations, node.Path)
	if template == nil {
		return nil, nil
	}
	result := &plan.SimulatedExports{}
	return result, template.render(ctx, node, nil, result)
}

func match(templates []exportTemplate, path string) *exportTemplate {
	for i := range templates {
		if templates[i].pattern.MatchString(path) {
			return &templates[i]
		}
	}
	return nil
}

func (t *exportTemplate) render(ctx context.Context, node *plan.Node, more map[string]any, result any) error {
	bindings := node.Plan.Bindings()
	inst, err := plain.Of(node.Plan.Installation())
	if err != nil {
		return err //nolint:wrapcheck // cannot happen
	}
	bindings["installation"], bindings["installationPath"], bindings["templateName"] = inst, node.Path, t.Name
	bindings["state"] = map[string]any{}
	for name, value := range more {
		bindings[name] = value
	}
	text, err := json.Marshal(t.Template)
	if err != nil {
		return err //nolint:wrapcheck // cannot happen
	}
	executor := &v1alpha1.TemplateExecutor{Name: t.Name, Type: v1alpha1.GOTemplateType, Template: v1alpha1.NewAnyJSON(text)}
	output, err := (&render.Engine{}).Execute(ctx, render.Input{Phase: render.ExportExecution, Executor: executor, Bindings: bindings})
	if err != nil {
		return fmt.Errorf("export template %q: %w", t.Name, err)
	}
	return output.Decode(result) //nolint:wrapcheck // names the template
}
