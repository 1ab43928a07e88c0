package blueprints

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/landscape/plan"
)

// hidden stands for the configuration of a Target, which may hold a kubeconfig.
const hidden = "(hidden, --show-sensitive shows it)"

// shownImports returns imports as they are shown.
func (o *renderOptions) shownImports(in plan.Input, values map[string]any) map[string]any {
	types := map[string]v1alpha1.ImportType{}
	typesOf(in.Blueprint.Info.Imports, types)
	return o.shown(values, func(name string) bool {
		switch types[name] {
		case v1alpha1.ImportTypeTarget, v1alpha1.ImportTypeTargetList, v1alpha1.ImportTypeTargetMap:
			return true
		}
		return false
	})
}

// shownExports returns exports as they are shown.
func (o *renderOptions) shownExports(in plan.Input, values map[string]any) map[string]any {
	targets := map[string]bool{}
	for _, export := range in.Blueprint.Info.Exports {
		targets[export.Name] = export.Type == v1alpha1.ExportTypeTarget
	}
	return o.shown(values, func(name string) bool { return targets[name] })
}

func (o *renderOptions) shown(values map[string]any, isTarget func(string) bool) map[string]any {
	if o.sensitive {
		return values
	}
	shown := make(map[string]any, len(values))
	for name, value := range values {
		if isTarget(name) {
			value = withoutConfig(jsonvalue.Clone(value))
		}
		shown[name] = value
	}
	return shown
}

// withoutConfig hides the configurations in Targets, and in lists and maps of them.
func withoutConfig(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withoutConfig(value[i])
		}
	case map[string]any:
		for key, field := range value {
			if key == "config" && field != nil {
				value[key] = hidden
				continue
			}
			value[key] = withoutConfig(field)
		}
	}
	return value
}
