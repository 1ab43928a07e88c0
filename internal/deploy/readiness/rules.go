// Package readiness says when deployed objects are ready, and waits for it
// without asking again and again.
package readiness

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Rule returns why an object is not ready, or "" if it is.
type Rule func(object *unstructured.Unstructured) string

// rules are the kinds that must have been rolled out. All others are ready as soon
// as they exist.
var rules = map[schema.GroupKind]Rule{
	{Kind: "Pod"}:                        pod,
	{Group: "apps", Kind: "Deployment"}:  current(deployment),
	{Group: "apps", Kind: "StatefulSet"}: current(statefulSet),
	{Group: "apps", Kind: "DaemonSet"}:   current(daemonSet),
	{Group: "apps", Kind: "ReplicaSet"}:  current(replicaSet),
	{Kind: "ReplicationController"}:      current(replicaSet),
}

// Unready returns why an object is not ready, or "" if it is.
func Unready(object *unstructured.Unstructured) string {
	if rule := rules[object.GroupVersionKind().GroupKind()]; rule != nil {
		return rule(object)
	}
	return ""
}

// Established returns why objects of the kind that a CustomResourceDefinition
// defines cannot be written yet, or "" if they can.
func Established(object *unstructured.Unstructured) string {
	if names := condition(object, "NamesAccepted"); names != nil && names["status"] == "False" {
		return detail("its names are not accepted", names)
	}
	if established := condition(object, "Established"); established == nil || established["status"] != "True" {
		return "it is not established yet"
	}
	return ""
}

// current adds that the controller has seen the object as it is now.
func current(rule Rule) Rule {
	return func(object *unstructured.Unstructured) string {
		if observed := number(object, 0, "status", "observedGeneration"); observed < object.GetGeneration() {
			return fmt.Sprintf("its controller has seen generation %d, not yet %d", observed, object.GetGeneration())
		}
		return rule(object)
	}
}

func pod(object *unstructured.Unstructured) string {
	ready := condition(object, "Ready")
	switch {
	case ready == nil:
		return "it has no condition Ready yet"
	case ready["reason"] == "PodCompleted", ready["status"] == "True":
		return ""
	}
	return detail("its condition Ready is not True", ready)
}

func deployment(object *unstructured.Unstructured) string {
	wanted := number(object, 0, "spec", "replicas")
	for _, field := range []string{"replicas", "updatedReplicas", "availableReplicas"} {
		if got := number(object, 0, "status", field); got != wanted {
			return fmt.Sprintf("status.%s is %d, spec.replicas is %d", field, got, wanted)
		}
	}
	return ""
}

func statefulSet(object *unstructured.Unstructured) string {
	wanted := number(object, 1, "spec", "replicas")
	for _, field := range []string{"updatedReplicas", "availableReplicas"} {
		if got := number(object, 0, "status", field); got < wanted {
			return fmt.Sprintf("status.%s is %d, spec.replicas is %d", field, got, wanted)
		}
	}
	return ""
}

func daemonSet(object *unstructured.Unstructured) string {
	desired := number(object, 0, "status", "desiredNumberScheduled")
	scheduled := number(object, 0, "status", "currentNumberScheduled")
	if needed := desired - maxUnavailable(object, desired); scheduled < needed {
		return fmt.Sprintf("status.currentNumberScheduled is %d, %d are needed", scheduled, needed)
	}
	return ""
}

// maxUnavailable returns how many pods of a DaemonSet may be missing.
func maxUnavailable(object *unstructured.Unstructured, desired int64) int64 {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "updateStrategy", "type")
	if kind != "RollingUpdate" || desired == 0 {
		return 0
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
	var limit intstr.IntOrString
	switch value := value.(type) {
	case int64:
		limit = intstr.FromInt32(int32(min(value, math.MaxInt32)))
	case string:
		limit = intstr.FromString(value)
	default:
		return 0
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(&limit, int(desired), false)
	if err != nil {
		return 0
	}
	return int64(scaled)
}

func replicaSet(object *unstructured.Unstructured) string {
	if failure := condition(object, "ReplicaFailure"); failure != nil && failure["status"] != "False" {
		return detail("it cannot create its pods", failure)
	}
	wanted := number(object, 1, "spec", "replicas")
	if ready := number(object, 0, "status", "readyReplicas"); ready < wanted {
		return fmt.Sprintf("status.readyReplicas is %d, spec.replicas is %d", ready, wanted)
	}
	return ""
}

// number returns a whole number of an object, or a default where there is none.
func number(object *unstructured.Unstructured, otherwise int64, path ...string) int64 {
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil || !found {
		return otherwise
	}
	switch value := value.(type) {
	case int64:
		return value
	case float64:
		return int64(value)
	}
	return otherwise
}

func condition(object *unstructured.Unstructured, conditionType string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		if condition, ok := entry.(map[string]any); ok && condition["type"] == conditionType {
			return condition
		}
	}
	return nil
}

// detail adds what a condition says.
func detail(text string, condition map[string]any) string {
	if message, _ := condition["message"].(string); message != "" {
		return text + ": " + message
	}
	if reason, _ := condition["reason"].(string); reason != "" {
		return text + ": " + reason
	}
	return text
}
