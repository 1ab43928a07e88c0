package rules

import (
	"encoding/base64"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/deploy/readiness"
)

// decoded is an object as an API server has it.
func decoded(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yamltext.ToJSON([]byte(text), yamltext.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return object
}

// TestReadyForDeployers: what was made ready is ready by both rules of the deployers. Before, at least one
// of them waits, unless the row says that there is nothing to wait for.
func TestReadyForDeployers(t *testing.T) {
	const metadata = "metadata: {name: a, namespace: shop, generation: 3}\n"
	for _, test := range []struct {
		reason, text string
		atOnce       bool
	}{
		{reason: "a Deployment with several replicas", text: "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 3}\n"},
		{reason: "a Deployment that is scaled to nothing", text: "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 0}\n"},
		{reason: "a Deployment that has failed before", text: "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\nstatus: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}\n"},
		{reason: "a StatefulSet", text: "apiVersion: apps/v1\nkind: StatefulSet\nspec: {replicas: 2}\n"},
		{reason: "a DaemonSet", text: "apiVersion: apps/v1\nkind: DaemonSet\nspec: {}\n"},
		{reason: "a ReplicaSet", text: "apiVersion: apps/v1\nkind: ReplicaSet\nspec: {replicas: 2}\n"},
		{reason: "a ReplicationController", text: "apiVersion: v1\nkind: ReplicationController\nspec: {replicas: 2}\n"},
		{reason: "a Job", text: "apiVersion: batch/v1\nkind: Job\nspec: {completions: 2}\n"},
		{reason: "a Pod that serves", text: "apiVersion: v1\nkind: Pod\nspec: {}\n"},
		{reason: "a Pod that ends", text: "apiVersion: v1\nkind: Pod\nspec: {restartPolicy: Never}\n"},
		{reason: "a claim", text: "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {resources: {requests: {storage: 1Gi}}}\n"},
		{reason: "a Service with a load balancer", text: "apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer}\n"},
		{reason: "a PodDisruptionBudget", text: "apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {}\nstatus: {observedGeneration: 2}\n"},
		{reason: "a Kustomization", text: "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {}\nstatus: {observedGeneration: 2}\n"},
		{reason: "a custom object whose controller is behind", text: "apiVersion: example.org/v1\nkind: Widget\nspec: {}\nstatus: {observedGeneration: 2}\n"},
		{reason: "a ConfigMap has no state", text: "apiVersion: v1\nkind: ConfigMap\n", atOnce: true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			object := decoded(t, test.text+metadata)
			if ready := readiness.Unready(object).Ready() && readiness.Kstatus(object).Ready(); ready != test.atOnce {
				t.Errorf("ready before: %t", ready)
			}
			makeReady(object)
			for name, rule := range map[string]readiness.Rule{"default": readiness.Unready, "kstatus": readiness.Kstatus} {
				if found := rule(object); !found.Ready() {
					t.Errorf("%s: %s: %v", name, found.Why, object.Object["status"])
				}
			}
			once := object.DeepCopy()
			makeReady(object)
			// Only times of a Job may differ, in which a second may have passed.
			if object.GetKind() != "Job" && !reflect.DeepEqual(once, object) {
				t.Errorf("the second time changes it: %v, %v", once.Object, object.Object)
			}
		})
	}
}

// TestReadyFields: what controllers fill in, and what they leave alone.
func TestReadyFields(t *testing.T) {
	token := base64.StdEncoding.EncodeToString([]byte("token-of-robot"))
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: shop, annotations: {kubernetes.io/service-account.name: robot}}\n"
	for _, test := range []struct {
		reason, text string
		path         []string
		want         any
	}{
		{"the Secret of a ServiceAccount gets a token", secret + "type: kubernetes.io/service-account-token\n", []string{"data", "token"}, token},
		{"a token that is there stays", secret + "type: kubernetes.io/service-account-token\ndata: {token: bXk=}\n", []string{"data", "token"}, "bXk="},
		{"another Secret gets none", secret + "type: Opaque\n", []string{"data", "token"}, nil},
		{"nor one that names no account", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: kubernetes.io/service-account-token\n", []string{"data", "token"}, nil},
		{"a Service gets an address", "apiVersion: v1\nkind: Service\nspec: {}\n", []string{"spec", "clusterIP"}, "10.96.0.10"},
		{"one without an address keeps none", "apiVersion: v1\nkind: Service\nspec: {clusterIP: None}\n", []string{"spec", "clusterIP"}, "None"},
		{"one that names another host has none", "apiVersion: v1\nkind: Service\nspec: {type: ExternalName}\n", []string{"spec", "clusterIP"}, nil},
		{"only a load balancer has an outer address", "apiVersion: v1\nkind: Service\nspec: {}\n", []string{"status", "loadBalancer"}, nil},
		{"a Job that is suspended does not run", "apiVersion: batch/v1\nkind: Job\nspec: {suspend: true}\n", []string{"status", "succeeded"}, nil},
		{"Flux does nothing for what is suspended", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {suspend: true}\n", []string{"status"}, nil},
		{"Flux says which request it has carried out", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {annotations: {reconcile.fluxcd.io/requestedAt: now}}\nspec: {}\n", []string{"status", "lastHandledReconcileAt"}, "now"},
		{"a source has a revision", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {}\n", []string{"status", "artifact", "revision"}, revision},
		{"a custom kind with the name of a workload is no workload", "apiVersion: example.org/v1\nkind: Deployment\nspec: {}\n", []string{"status", "replicas"}, nil},
	} {
		object := decoded(t, test.text)
		makeReady(object)
		if have, _, _ := unstructured.NestedFieldNoCopy(object.Object, test.path...); have != test.want {
			t.Errorf("%s: %v, want %v", test.reason, have, test.want)
		}
	}
}
