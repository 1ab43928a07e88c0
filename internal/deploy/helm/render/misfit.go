package render

import (
	"fmt"
	"maps"
	"slices"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
)

// maxMisfits bounds how many values are reported that do not fit.
const maxMisfits = 10

// misfits reports where the user gives a map and the chart has another value, or the reverse: Helm
// takes the value of the user, and the templates of the chart probably expect the other. Names of
// keys are those of the chart; values are not repeated.
func misfits(chart *helmchart.Chart, values map[string]any) []string {
	var found []string
	chartMisfits(chart, values, "", &found)
	// A chart may repeat the values of the charts in it.
	slices.Sort(found)
	found = slices.Compact(found)
	if more := len(found) - maxMisfits; more > 0 {
		found = append(found[:maxMisfits], fmt.Sprintf("%d more values do not fit the chart", more))
	}
	return found
}

func chartMisfits(chart *helmchart.Chart, values map[string]any, at string, found *[]string) {
	tableMisfits(chart.Values, values, at, found)
	for _, child := range chart.Dependencies() {
		if own, isMap := values[child.Name()].(map[string]any); isMap {
			chartMisfits(child, own, at+child.Name()+".", found)
		}
	}
}

func tableMisfits(defaults, values map[string]any, at string, found *[]string) {
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		wanted, given := values[key]
		if !given || wanted == nil || defaults[key] == nil {
			continue
		}
		theirs, theirMap := defaults[key].(map[string]any)
		own, ownMap := wanted.(map[string]any)
		switch {
		case theirMap && ownMap:
			tableMisfits(theirs, own, at+key+".", found)
		case ownMap:
			*found = append(*found, fmt.Sprintf("values: %s%s is a map, and the chart has a single value there", at, key))
		case theirMap:
			*found = append(*found, fmt.Sprintf("values: %s%s is a single value, and the chart has a map there", at, key))
		}
	}
}
