package quickstart

import (
	"fmt"

	"k8s.io/component-base/featuregate"

	"go.landscaper.dev/internal/server/feature"
)

// gatesOf reads the feature gates of the values of the chart.
func gatesOf(values map[string]any) (featuregate.FeatureGate, error) {
	gates, set := feature.Gates(), map[string]bool{}
	named, _ := values["featureGates"].(map[string]any)
	for name, on := range named {
		is, ok := on.(bool)
		if !ok {
			return nil, fmt.Errorf("featureGates: %s is %v: write true or false", name, on)
		}
		set[name] = is
	}
	if err := gates.SetFromMap(set); err != nil {
		return nil, fmt.Errorf("featureGates: %w", err)
	}
	return gates, nil
}
