package blueprints

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/componentfunc"
	"go.landscaper.dev/internal/landscape/plan"
)

// exportFile says what deploy items and Installations export, as nothing is
// deployed.
type exportFile struct {
	DeployItems   []itemExports         `json:"deployItems"`
	Installations []installationExports `json:"installations"`
}

// exportTemplate gives the exports of all objects whose path a selector matches.
type exportTemplate struct {
	Name     string `json:"name"`
	Selector string `json:"selector"`
	Template string `json:"template"`

	pattern *pattern.Pattern
	used    bool
}

// itemExports has values instead of a template where that is enough.
type itemExports struct {
	exportTemplate `json:",inline"`
	Exports        map[string]any `json:"exports"`
}

type installationExports struct {
	exportTemplate        `json:",inline"`
	plan.SimulatedExports `json:",inline"`
}

func readExports(path string) (*exportFile, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("export templates: %w", err)
	}
	read := &exportFile{}
	if err := yaml.UnmarshalStrict(content, read); err != nil {
		return nil, fmt.Errorf("export templates %s: %w", path, err)
	}
	for i := range read.DeployItems {
		entry := &read.DeployItems[i]
		if err := entry.compile(entry.Exports != nil, "exports"); err != nil {
			return nil, fmt.Errorf("export templates %s: deployItems[%d] %q: %w", path, i, entry.Name, err)
		}
	}
	for i := range read.Installations {
		entry := &read.Installations[i]
		if err := entry.compile(entry.Data != nil || entry.Targets != nil, "dataExports or targetExports"); err != nil {
			return nil, fmt.Errorf("export templates %s: installations[%d] %q: %w", path, i, entry.Name, err)
		}
	}
	return read, nil
}

func (t *exportTemplate) compile(hasValues bool, values string) error {
	switch {
	case t.Selector == "":
		return errors.New("selector is missing: give a regular expression for paths such as root/database; .* matches all")
	case (t.Template != "") == hasValues:
		return fmt.Errorf("give either template or %s", values)
	}
	var err error
	if t.pattern, err = pattern.Compile(t.Selector); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	return nil
}

func (t *exportTemplate) matches(path string) bool {
	found := t.pattern.MatchString(path)
	t.used = t.used || found
	return found
}

// simulation makes the exports of a tree from templates. It implements
// plan.Simulation.
type simulation struct {
	*exportFile
	// input returns what an Installation consists of.
	input func(*v1alpha1.Installation) plan.Input
	// say tells what is done.
	say func(string)
	// missing are the deploy items without a template.
	missing []string
}

// Item implements plan.Simulation.
func (s *simulation) Item(ctx context.Context, node *plan.Node, item *v1alpha1.DeployItemTemplate) (any, error) {
	path := node.Path + "/" + item.Name
	s.say("executing deploy item " + path)
	for i := range s.DeployItems {
		entry := &s.DeployItems[i]
		if !entry.matches(path) {
			continue
		}
		if entry.Template == "" {
			return jsonvalue.FromObject(entry.Exports) // cannot happen
		}
		object, err := tidy(deployItem(node, item))
		if err != nil {
			return nil, err
		}
		var result struct {
			Exports any `json:"exports"`
		}
		err = s.render(ctx, node, &entry.exportTemplate, map[string]any{"deployItem": object}, &result)
		return result.Exports, err
	}
	s.missing = append(s.missing, path)
	return nil, nil
}

// Replaces implements plan.Simulation.
func (s *simulation) Replaces(path string) bool {
	s.say("executing installation " + path)
	return s.of(path) != nil
}

func (s *simulation) of(path string) *installationExports {
	for i := range s.Installations {
		if s.Installations[i].matches(path) {
			return &s.Installations[i]
		}
	}
	return nil
}

// Installation implements plan.Simulation.
func (s *simulation) Installation(ctx context.Context, node *plan.Node) (*plan.SimulatedExports, error) {
	entry := s.of(node.Path)
	if entry.Template == "" {
		return &entry.SimulatedExports, nil
	}
	result := &plan.SimulatedExports{}
	return result, s.render(ctx, node, &entry.exportTemplate, nil, result)
}

// render executes an export template with the functions and bindings of the
// Installation. It sees the states of the deploy executions.
func (s *simulation) render(ctx context.Context, node *plan.Node, t *exportTemplate, more map[string]any, result any) error {
	inst, err := tidy(node.Installation())
	if err != nil {
		return err
	}
	bindings := node.Bindings()
	bindings["installation"], bindings["installationPath"], bindings["templateName"] = inst, node.Path, t.Name
	maps.Copy(bindings, more)
	functions, err := s.component(ctx, node, t, bindings)
	if err != nil {
		return fmt.Errorf("export template %q: %w", t.Name, err)
	}
	text, err := json.Marshal(t.Template)
	if err != nil {
		return err // cannot happen
	}
	state, err := json.Marshal(statesOf(node.StatesOf(plan.DeployPrefix)))
	if err != nil {
		return fmt.Errorf("export template %q: state: %w", t.Name, err)
	}
	engine := &template.Engine{Functions: plan.Functions(functions, clusterFunctions())}
	executor := &v1alpha1.TemplateExecutor{Name: t.Name, Type: v1alpha1.GOTemplateType, Template: v1alpha1.NewAnyJSON(text)}
	output, err := engine.Execute(ctx, template.Input{Phase: template.ExportExecution, Executor: executor, Bindings: bindings, State: state})
	if err == nil {
		err = output.Decode(result)
	}
	if err != nil {
		return fmt.Errorf("export template %q: %w", t.Name, err)
	}
	return nil
}

// component returns the functions for the component, and binds all components if
// the template wants to see them.
func (s *simulation) component(ctx context.Context, node *plan.Node, t *exportTemplate, bindings map[string]any) (*componentfunc.Component, error) {
	in := s.input(node.Installation())
	if in.Component == nil {
		return nil, nil
	}
	functions, err := componentfunc.New(componentfunc.Options{
		Session: in.Component.Session, Version: in.Component.Version, Context: in.Component.Context,
		Schema: in.Blueprint.Info.Annotations["ocmSchemaVersion"],
	})
	if err == nil && bindings["components"] == nil && strings.Contains(t.Template, "components") {
		bindings["components"], err = functions.Components(ctx)
	}
	return functions, err // tells what is missing
}

// explain tells with an error which deploy items export nothing: that is most
// often the reason.
func (s *simulation) explain(err error) error {
	if err == nil || len(s.missing) == 0 {
		return err
	}
	return fmt.Errorf("%w\n(-e gives no exports for %s)", err, strings.Join(s.missing, ", "))
}

// reportUnused warns about templates that no path matches.
func (s *simulation) reportUnused(streams terminal.Streams) {
	warn := func(list string, t *exportTemplate) {
		if !t.used {
			fmt.Fprintf(streams.Err, "Warning: export templates: %s %q is not used: no other path matches %s\n", list, t.Name, t.Selector)
		}
	}
	for i := range s.DeployItems {
		warn("deployItems", &s.DeployItems[i].exportTemplate)
	}
	for i := range s.Installations {
		warn("installations", &s.Installations[i].exportTemplate)
	}
}
