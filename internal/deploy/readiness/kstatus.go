package readiness

import (
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
)

// job is the kind whose end is the end of its work.
var job = schema.GroupKind{Group: "batch", Kind: "Job"}

// RuleOf returns the rule of a mode. The default is the published one.
func RuleOf(mode deployer.ReadinessMode) Rule {
	if mode == deployer.ReadinessModeKstatus {
		return Kstatus
	}
	return Unready
}

// Kstatus is the rule that the ecosystem has agreed on: the conditions of an object
// count, whatever its kind. What will not become ready by itself is hopeless.
//
// What it says of Jobs is corrected: for the ecosystem a Job is current as soon as it runs, while
// the user who deploys one waits for its work.
func Kstatus(object *unstructured.Unstructured) Finding {
	if object.GetAnnotations()[deployer.SkipReadinessAnnotation] == "true" {
		return Finding{}
	}
	result, err := status.Compute(object)
	if err != nil {
		// The reason is dropped on purpose: it may quote a value.
		return Finding{Why: "its status is not as that of its kind should be"}
	}
	switch result.Status {
	case status.CurrentStatus:
		return finished(object)
	case status.FailedStatus:
		// A node may be about to join.
		return Finding{Why: oneLine(result.Message), Hopeless: text(object, "status", "phase") != "Pending"}
	}
	return Finding{Why: oneLine(result.Message)}
}

// finished says that a Job is ready when its work is done, not when it has begun. One
// that is suspended is not meant to begin.
func finished(object *unstructured.Unstructured) Finding {
	if object.GroupVersionKind().GroupKind() != job {
		return Finding{}
	}
	if complete := condition(object, "Complete"); complete != nil && complete["status"] == "True" {
		return Finding{}
	}
	return Finding{Why: "its work is not complete"}
}
