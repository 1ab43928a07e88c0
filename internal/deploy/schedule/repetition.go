package schedule

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"

	api "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
)

// Asks reports whether a configuration may ask for more than one deployment. Most ask
// for nothing, and are not read as often as they are looked at.
func Asks(config *runtime.RawExtension) bool {
	return config != nil && (bytes.Contains(config.Raw, []byte(`"continuousReconcile"`)) || bytes.Contains(config.Raw, []byte(`"watch"`)))
}

// Repetition says when a finished item is looked at again whose configuration has these
// parts. What is wrong asks for nothing.
func Repetition(spec *api.ContinuousReconcileSpec, exports *api.Exports) (repetition deployer.Repetition) {
	repetition.Watch = exports != nil && exports.Watch && len(exports.Exports) > 0
	next, err := Compile(spec)
	if err != nil || next == nil {
		return repetition
	}
	repetition.Next, repetition.Compare, repetition.Correct = next, spec.Drift != "", spec.Drift == api.DriftCorrect
	return repetition
}
