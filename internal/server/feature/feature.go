// Package feature has the feature gates of the server: what may still change or be taken away is
// behind one, and an operator decides about it by its name.
//
// A feature begins as alpha, which is off by default and may change in any way. As beta it is on by
// default, and its configuration is kept as GOVERNANCE.md says; its gate can switch it off. When it
// stays for good, its gate has no effect any more, and is removed two minor releases later.
package feature

import (
	"maps"
	"math"
	"slices"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
)

const (
	// DeliveryPolicies are windows, freezes and pauses of jobs.
	DeliveryPolicies featuregate.Feature = "DeliveryPolicies"
	// Fleets are one product on many clusters, in waves, and channels of versions.
	Fleets featuregate.Feature = "Fleets"
	// ServerConsole is the console that the server serves to browsers.
	ServerConsole featuregate.Feature = "ServerConsole"
)

// stages are those of each feature, with the minor releases in which they began. docs/operate.md has
// the same table.
var stages = map[featuregate.Feature]featuregate.VersionedSpecs{
	DeliveryPolicies: {{Version: version.MajorMinor(0, 1), PreRelease: featuregate.Alpha}},
	Fleets:           {{Version: version.MajorMinor(0, 1), PreRelease: featuregate.Alpha}},
	ServerConsole:    {{Version: version.MajorMinor(0, 1), PreRelease: featuregate.Alpha}},
}

// newest is a version after all others: of a program, the last stage in its own table counts.
var newest = version.MajorMinor(math.MaxInt32, 0)

// Gates returns gates that are as they are by default.
func Gates() featuregate.MutableVersionedFeatureGate {
	gates := featuregate.NewVersionedFeatureGate(newest)
	utilruntime.Must(gates.AddVersioned(stages))
	return gates
}

// On returns the names of the features that are on, for the log.
func On(gates featuregate.FeatureGate) []string {
	on := []string{}
	for _, name := range slices.Sorted(maps.Keys(stages)) {
		if gates.Enabled(name) {
			on = append(on, string(name))
		}
	}
	return on
}
