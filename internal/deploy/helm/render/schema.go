package render

import (
	"context"
	"fmt"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"go.landscaper.dev/internal/content/blueprint/schema"
)

// validate checks values against the schemas of a chart and its sub-charts. A schema
// that refers to a file or an address outside of the chart is refused.
func validate(ctx context.Context, chart *helmchart.Chart, values map[string]any) error {
	if len(chart.Schema) > 0 {
		compiled, err := (&schema.Compiler{}).Compile(ctx, chart.Schema)
		if err != nil {
			return invalid(fmt.Sprintf("values.schema.json of chart %s: %v", chart.Name(), err))
		}
		if err := compiled.Validate(values); err != nil {
			return invalid(fmt.Sprintf("the values do not fit values.schema.json of chart %s: %v", chart.Name(), err))
		}
	}
	for _, child := range chart.Dependencies() {
		part, given := values[child.Name()]
		if !given || part == nil {
			continue
		}
		content, isMap := part.(map[string]any)
		if !isMap {
			return invalid(fmt.Sprintf("the values of sub-chart %s must be a map", child.Name()))
		}
		if err := validate(ctx, child, content); err != nil {
			return err
		}
	}
	return nil
}
