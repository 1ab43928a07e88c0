// Package readiness says when deployed objects are ready, and waits for it without polling.
package readiness

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Rule says how far an object has come.
type Rule func(object *unstructured.Unstructured) Finding

// Finding is what a rule says about an object.
type Finding struct {
	// Why says in one line what is missing; empty if the object is ready.
	Why string
	// Hopeless says that waiting does not help: a user has to change something.
	Hopeless bool
}

// Ready reports whether nothing is missing.
func (f Finding) Ready() bool { return f.Why == "" }

// shortfall returns what is missing of an object, or "" if it is ready.
type shortfall func(object *unstructured.Unstructured) string

// rules are the kinds that must have been rolled out. All others are ready as soon
// as they exist.
var rules = map[schema.GroupKind]shortfall{
	{Kind: "Pod"}:                        pod,
	{Group: "apps", Kind: "Deployment"}:  current(deployment),
	{Group: "apps", Kind: "StatefulSet"}: current(statefulSet),
	{Group: "apps", Kind: "DaemonSet"}:   current(daemonSet),
	{Group: "apps", Kind: "ReplicaSet"}:  current(replicaSet),
	{Kind: "ReplicationController"}:      current(replicaSet),
}

// IsWorkload reports whether objects of a kind must have been rolled out to be ready.
func IsWorkload(kind schema.GroupKind) bool { return rules[kind] != nil }

// Unready is the published rule: workloads must be rolled out, all else must exist.
func Unready(object *unstructured.Unstructured) Finding {
	if rule := rules[object.GroupVersionKind().GroupKind()]; rule != nil {
		return Finding{Why: oneLine(rule(object))}
	}
	return Finding{}
}

// Established is the rule for a CustomResourceDefinition: objects of the kind that it
// defines can be written.
func Established(object *unstructured.Unstructured) Finding {
	if names := condition(object, "NamesAccepted"); names != nil && names["status"] == "False" {
		return Finding{Why: oneLine(detail("its names are not accepted", names))}
	}
	if established := condition(object, "Established"); established == nil || established["status"] != "True" {
		return Finding{Why: "it is not established yet"}
	}
	return Finding{}
}

// maxLine is the longest text that others have written, of which the rest is left out.
const maxLine = 200

// oneLine makes a short line of a text that may come from another client.
func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(strings.Map(shown, strings.ToValidUTF8(text, ""))), " "))
	if len(line) > maxLine {
		return string(line[:maxLine]) + "…"
	}
	return string(line)
}

// shown leaves out control sequences of a terminal.
func shown(char rune) rune {
	switch {
	case unicode.IsSpace(char):
		return ' '
	case !unicode.IsPrint(char):
		return -1
	}
	return char
}

// current adds that the controller has seen the object as it is now.
func current(rule shortfall) shortfall {
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

// statefulSet looks at the pods that an update reaches: none if pods are updated on deletion, and
// only those from the partition on.
func statefulSet(object *unstructured.Unstructured) string {
	wanted := number(object, 1, "spec", "replicas")
	partition := number(object, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
	if available := number(object, 0, "status", "availableReplicas"); available < wanted {
		return fmt.Sprintf("status.availableReplicas is %d, spec.replicas is %d", available, wanted)
	}
	if text(object, "spec", "updateStrategy", "type") == "OnDelete" {
		return ""
	}
	if updated, needed := number(object, 0, "status", "updatedReplicas"), wanted-partition; updated < needed {
		return fmt.Sprintf("status.updatedReplicas is %d, %d are needed", updated, needed)
	}
	if now, next := text(object, "status", "currentRevision"), text(object, "status", "updateRevision"); partition == 0 && now != next {
		return "status.currentRevision is not status.updateRevision yet"
	}
	return ""
}

// daemonSet looks at the pods, too. As many as may be unavailable during an update are
// not waited for, but one must be there.
func daemonSet(object *unstructured.Unstructured) string {
	desired := number(object, 0, "status", "desiredNumberScheduled")
	least := min(desired, max(1, desired-maxUnavailable(object, desired)))
	fields := []string{"currentNumberScheduled", "updatedNumberScheduled", "numberAvailable"}
	if text(object, "spec", "updateStrategy", "type") == "OnDelete" {
		fields = []string{"currentNumberScheduled", "numberAvailable"}
	}
	for _, field := range fields {
		if got := number(object, 0, "status", field); got < least {
			return fmt.Sprintf("status.%s is %d, %d are needed", field, got, least)
		}
	}
	return ""
}

// maxUnavailable returns how many pods of a DaemonSet may be missing.
func maxUnavailable(object *unstructured.Unstructured, desired int64) int64 {
	if text(object, "spec", "updateStrategy", "type") != "RollingUpdate" || desired == 0 {
		return 0
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
	var limit intstr.IntOrString
	switch value := value.(type) {
	case int64:
		limit = intstr.FromInt32(int32(min(max(value, math.MinInt32), math.MaxInt32)))
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
	if problem := uncreated(object); problem != "" {
		return problem
	}
	wanted := number(object, 1, "spec", "replicas")
	if ready := number(object, 0, "status", "readyReplicas"); ready < wanted {
		return fmt.Sprintf("status.readyReplicas is %d, spec.replicas is %d", ready, wanted)
	}
	return ""
}

// number returns a whole number of an object, or a default without one.
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

// text returns a text of an object, or "" without one.
func text(object *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, path...)
	return value
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
