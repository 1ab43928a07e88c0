package rules

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// requestedAt is how a job asks Flux for a run, and handledAt where Flux says which one it has done.
const (
	requestedAt = "reconcile.fluxcd.io/requestedAt"
	handledAt   = "lastHandledReconcileAt"
)

// revision is that of all sources of Flux: what is in them cannot be seen here.
const revision = "main@sha1:0000000000000000000000000000000000000000"

// makeReady changes an object as its controller would that has done all it could.
func makeReady(object *unstructured.Unstructured) {
	if strings.HasSuffix(object.GroupVersionKind().Group, ".fluxcd.io") {
		readyFlux(object)
		return
	}
	if ready := builtinReady[object.GetKind()]; ready != nil && builtinGroups[object.GroupVersionKind().Group] {
		ready(object)
		return
	}
	if !builtinGroups[object.GroupVersionKind().Group] {
		readyCustom(object)
	}
}

var builtinGroups = map[string]bool{"": true, "apps": true, "batch": true, "networking.k8s.io": true, "policy": true, "autoscaling": true, "apiregistration.k8s.io": true}

// builtinReady has what the controllers of Kubernetes write, by kind.
var builtinReady = map[string]func(*unstructured.Unstructured){
	"Deployment": func(o *unstructured.Unstructured) {
		replicated(o, "updatedReplicas", "readyReplicas", "availableReplicas")
	},
	"ReplicaSet": func(o *unstructured.Unstructured) {
		replicated(o, "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
	},
	"ReplicationController": func(o *unstructured.Unstructured) {
		replicated(o, "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
	},
	"StatefulSet":           readyStatefulSet,
	"DaemonSet":             readyDaemonSet,
	"Job":                   readyJob,
	"Pod":                   readyPod,
	"PersistentVolumeClaim": readyClaim,
	"Service":               readyService,
	"Ingress":               func(o *unstructured.Unstructured) { set(o, balanced, "status", "loadBalancer") },
	"Secret":                readySecret,
	"PodDisruptionBudget": func(o *unstructured.Unstructured) {
		set(o, o.GetGeneration(), "status", "observedGeneration")
		condition(o, "DisruptionAllowed", "True", "SufficientPods")
	},
	"APIService": func(o *unstructured.Unstructured) { condition(o, "Available", "True", "Passed") },
}

// set sets a field. A path through a text or a list cannot be set.
func set(object *unstructured.Unstructured, value any, path ...string) {
	_ = unstructured.SetNestedField(object.Object, value, path...)
}

// balanced is the address of a load balancer, from a network that is for documents.
var balanced = map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.10"}}}

// condition sets a condition, and keeps the time at which it has become what it is.
func condition(object *unstructured.Unstructured, kind, status, reason string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	next := map[string]any{
		"type": kind, "status": status, "reason": reason, "message": "", "observedGeneration": object.GetGeneration(),
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
	for i := range conditions {
		known, _ := conditions[i].(map[string]any)
		if known["type"] != kind {
			continue
		}
		if known["status"] == status && known["lastTransitionTime"] != nil {
			next["lastTransitionTime"] = known["lastTransitionTime"]
		}
		conditions[i] = next
		set(object, conditions, "status", "conditions")
		return
	}
	set(object, append(conditions, next), "status", "conditions")
}

func replicas(object *unstructured.Unstructured) int64 {
	wanted, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return wanted
}

func replicated(object *unstructured.Unstructured, counts ...string) {
	wanted := replicas(object)
	for _, field := range append([]string{"replicas"}, counts...) {
		set(object, wanted, "status", field)
	}
	set(object, object.GetGeneration(), "status", "observedGeneration")
	if object.GetKind() == "Deployment" {
		condition(object, "Available", "True", "MinimumReplicasAvailable")
		condition(object, "Progressing", "True", "NewReplicaSetAvailable")
	}
}

func readyStatefulSet(object *unstructured.Unstructured) {
	replicated(object, "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas")
	spec, _, _ := unstructured.NestedMap(object.Object, "spec", "template")
	current := object.GetName() + "-" + digest(spec)
	set(object, current, "status", "currentRevision")
	set(object, current, "status", "updateRevision")
}

func digest(value any) string {
	raw, _ := (&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "x", "value": value}}).MarshalJSON()
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:5])
}

func readyDaemonSet(object *unstructured.Unstructured) {
	for _, field := range []string{"currentNumberScheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"} {
		set(object, int64(1), "status", field)
	}
	set(object, int64(0), "status", "numberMisscheduled")
	set(object, object.GetGeneration(), "status", "observedGeneration")
}

func readyJob(object *unstructured.Unstructured) {
	if suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend"); suspended {
		condition(object, "Suspended", "True", "JobSuspended")
		return
	}
	completions, found, _ := unstructured.NestedInt64(object.Object, "spec", "completions")
	if !found {
		completions = 1
	}
	now := time.Now().UTC().Format(time.RFC3339)
	set(object, completions, "status", "succeeded")
	set(object, now, "status", "startTime")
	set(object, now, "status", "completionTime")
	condition(object, "SuccessCriteriaMet", "True", "CompletionsReached")
	condition(object, "Complete", "True", "CompletionsReached")
}

func readyPod(object *unstructured.Unstructured) {
	policy, _, _ := unstructured.NestedString(object.Object, "spec", "restartPolicy")
	if policy == "Never" || policy == "OnFailure" {
		set(object, "Succeeded", "status", "phase")
		condition(object, "Ready", "False", "PodCompleted")
		return
	}
	set(object, "Running", "status", "phase")
	set(object, "10.244.0.10", "status", "podIP")
	for _, kind := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		condition(object, kind, "True", "")
	}
}

func readyClaim(object *unstructured.Unstructured) {
	set(object, "Bound", "status", "phase")
	if wanted, found, _ := unstructured.NestedMap(object.Object, "spec", "resources", "requests"); found {
		set(object, wanted, "status", "capacity")
	}
}

func readyService(object *unstructured.Unstructured) {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "type")
	if _, has, _ := unstructured.NestedString(object.Object, "spec", "clusterIP"); !has && kind != "ExternalName" {
		set(object, "10.96.0.10", "spec", "clusterIP")
		set(object, []any{"10.96.0.10"}, "spec", "clusterIPs")
	}
	if kind == "LoadBalancer" {
		set(object, balanced, "status", "loadBalancer")
	}
}

// readySecret fills in the token of a ServiceAccount.
func readySecret(object *unstructured.Unstructured) {
	account := object.GetAnnotations()["kubernetes.io/service-account.name"]
	if object.Object["type"] != "kubernetes.io/service-account-token" || account == "" {
		return
	}
	for key, value := range map[string]string{"token": "token-of-" + account, "namespace": object.GetNamespace(), "ca.crt": "none"} {
		if _, has, _ := unstructured.NestedString(object.Object, "data", key); !has {
			set(object, base64.StdEncoding.EncodeToString([]byte(value)), "data", key)
		}
	}
}

// readyFlux does what a controller of Flux does, unless it is suspended.
func readyFlux(object *unstructured.Unstructured) {
	if suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend"); suspended {
		return
	}
	if requested := object.GetAnnotations()[requestedAt]; requested != "" {
		set(object, requested, "status", handledAt)
	}
	switch object.GetKind() {
	case "Kustomization":
		condition(object, "Healthy", "True", "Succeeded")
		set(object, revision, "status", "lastAppliedRevision")
		set(object, revision, "status", "lastAttemptedRevision")
	case "HelmRelease":
		condition(object, "Released", "True", "InstallSucceeded")
	case "GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket":
		set(object, map[string]any{"revision": revision, "path": object.GetName(), "url": "http://source.invalid/" + object.GetName()}, "status", "artifact")
	}
	readyCustom(object)
}

// readyCustom writes what most controllers write.
func readyCustom(object *unstructured.Unstructured) {
	if object.Object["spec"] != nil {
		set(object, object.GetGeneration(), "status", "observedGeneration")
	}
	condition(object, "Ready", "True", "Succeeded")
}
