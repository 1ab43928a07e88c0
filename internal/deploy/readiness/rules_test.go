package readiness

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// parse reads an object as clients do: whole numbers stay whole.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestUnready(t *testing.T) {
	tests := []struct{ reason, object, want string }{
		{"anything else is ready when it is there", `{apiVersion: v1, kind: ConfigMap}`, ""},
		{"a kind of another group has no rule", `{apiVersion: acme.example/v1, kind: Deployment, metadata: {generation: 2}}`, ""},
		{"a pod without a condition", `{apiVersion: v1, kind: Pod}`, "no condition Ready"},
		{"a pod that is ready", `{apiVersion: v1, kind: Pod, status: {conditions: [{type: Ready, status: "True"}]}}`, ""},
		{"a pod that has done its work", `{apiVersion: v1, kind: Pod, status: {conditions: [{type: Ready, status: "False", reason: PodCompleted}]}}`, ""},
		{"a pod that is not ready says why", `{apiVersion: v1, kind: Pod, status: {conditions: [{type: Ready, status: "False", message: no image}]}}`, "no image"},
		{"the controller has not seen the change", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 0}, status: {observedGeneration: 1}}`, "has seen generation 1, not yet 2"},
		{"a deployment of nothing", `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0}}`, ""},
		{"a deployment with old pods left", `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: {replicas: 2, updatedReplicas: 1, availableReplicas: 1}}`, "status.replicas is 2"},
		{"a deployment that is being rolled out", `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 1, availableReplicas: 2}}`, "status.updatedReplicas is 1"},
		{"a deployment that is rolled out", `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: {replicas: 1, updatedReplicas: 1, availableReplicas: 1}}`, ""},
		{"a stateful set has one replica by default", `{apiVersion: apps/v1, kind: StatefulSet, status: {updatedReplicas: 0}}`, "spec.replicas is 1"},
		{"a stateful set that is rolled out", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2}, status: {updatedReplicas: 2, availableReplicas: 2, currentRevision: b, updateRevision: b}}`, ""},
		{"a stateful set with an older revision", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2}, status: {updatedReplicas: 2, availableReplicas: 2, currentRevision: a, updateRevision: b}}`, "currentRevision"},
		{"a stateful set that is updated from a partition on", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}}, status: {updatedReplicas: 1, availableReplicas: 3, currentRevision: a, updateRevision: b}}`, ""},
		{"a stateful set whose partition is not updated yet", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {updatedReplicas: 1, availableReplicas: 3}}`, "status.updatedReplicas is 1, 2 are needed"},
		{"a stateful set with a partition beyond its pods", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, updateStrategy: {rollingUpdate: {partition: 5}}}, status: {updatedReplicas: 0, availableReplicas: 1}}`, ""},
		{"a stateful set that is updated on deletion", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, updateStrategy: {type: OnDelete}}, status: {updatedReplicas: 0, availableReplicas: 1, currentRevision: a, updateRevision: b}}`, ""},
		{"a stateful set that is updated on deletion needs its pods all the same", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, updateStrategy: {type: OnDelete}}, status: {availableReplicas: 0}}`, "status.availableReplicas is 0"},
		{"a daemon set may miss a share of its pods, rounded down", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 50%}}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}}`, ""},
		{"a daemon set whose pods do not run", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 1}}`, "status.numberAvailable is 1, 2 are needed"},
		{"a daemon set with old pods", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1, numberAvailable: 3}}`, "status.updatedNumberScheduled is 1, 2 are needed"},
		{"a daemon set that may miss all needs one", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}, status: {desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 0}}`, "status.numberAvailable is 0, 1 are needed"},
		{"a daemon set without nodes", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}, status: {}}`, ""},
		{"a daemon set that misses too many", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 1}}`, "2 are needed"},
		{"a daemon set that is updated on deletion may miss none", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 3}}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 2}}`, "3 are needed"},
		{"a daemon set that is updated on deletion may have old pods", `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: OnDelete}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberAvailable: 3}}`, ""},
		{"a replica set that cannot make pods", `{apiVersion: apps/v1, kind: ReplicaSet, status: {readyReplicas: 1, conditions: [{type: ReplicaFailure, status: "True", message: "exceeded quota: few, requested: pods=1, used: pods=5, limited: pods=5"}]}}`, "it cannot create its pods: quota few of the namespace is used up (requested pods=1; used pods=5; limit pods=5)"},
		{"a replica set", `{apiVersion: apps/v1, kind: ReplicaSet, status: {readyReplicas: 1}}`, ""},
		{"a replication controller", `{apiVersion: v1, kind: ReplicationController, spec: {replicas: 2}, status: {readyReplicas: 1}}`, "status.readyReplicas is 1"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := parse(t, test.object)
			got := Unready(object).Why
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestEstablished(t *testing.T) {
	tests := []struct{ reason, object, want string }{
		{"a definition that was just created", `{}`, "not established"},
		{"a definition whose names are taken", `{status: {conditions: [{type: NamesAccepted, status: "False", message: taken}]}}`, "taken"},
		{"a definition that is served", `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := parse(t, test.object)
			got := Established(object).Why
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
