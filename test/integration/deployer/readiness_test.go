package deployer_test

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

const configHead = "apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2\nkind: ProviderConfiguration\n"

// documented returns the example of the reference page below a heading, or below a text
// that is before it, for the namespace of a test.
func documented(t *testing.T, below string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/deployers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), below)
	_, rest, opened := strings.Cut(rest, "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !opened || !closed {
		t.Fatalf("there is no example below %q", below)
	}
	return strings.NewReplacer("namespace: shop", "namespace: NAMESPACE", "namespaces: [shop]", "namespaces: [NAMESPACE]").Replace(example)
}

// databases defines a kind whose status another client writes.
func databases(t *testing.T) {
	t.Helper()
	definition := unstructuredFrom(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.acme.example}
spec:
  group: acme.example
  names: {kind: Database, plural: databases}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`)
	if err := deployed.Create(t.Context(), definition); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// oneDatabase is an item with an object of this kind.
const oneDatabase = configHead + `
manifests:
- manifest: {apiVersion: acme.example/v1, kind: Database, metadata: {name: main, namespace: NAMESPACE}, spec: {}}
`

// report writes the status of the database, as its controller would.
func report(t *testing.T, namespace, status string) {
	t.Helper()
	database := &unstructured.Unstructured{}
	database.SetAPIVersion("acme.example/v1")
	database.SetKind("Database")
	database.SetNamespace(namespace)
	database.SetName("main")
	if err := deployed.Status().Patch(t.Context(), database, client.RawPatch(types.MergePatchType, []byte(`{"status": `+status+`}`))); err != nil {
		t.Fatal(err)
	}
}

// awaitText waits until the condition Ready says something.
func awaitText(t *testing.T, item *v1alpha1.DeployItem, want string) *v1alpha1.DeployItem {
	t.Helper()
	return awaitItem(t, item, "the wait for "+want, func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, want)
	})
}

// TestKstatus shows that an item with mode kstatus waits for the conditions of any kind, reports
// them, and ends at once when the object cannot become ready.
func TestKstatus(t *testing.T) {
	t.Parallel()
	databases(t)
	mode := oneDatabase + documented(t, "`mode: kstatus` looks at all kinds")
	tests := []struct {
		reason, status string
		phase          v1alpha1.DeployItemPhase
		want           string
	}{
		{"the object becomes ready", `{"conditions": [{"type": "Ready", "status": "True"}]}`, v1alpha1.DeployItemPhases.Succeeded, ""},
		{"the controller of the object gives up", `{"conditions": [{"type": "Stalled", "status": "True", "message": "no such class"}]}`, v1alpha1.DeployItemPhases.Failed, "Database NAMESPACE/main will not become ready by itself: no such class"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			first := newItem(t, namespace, "first", oneDatabase)
			create(t, first)
			awaitEnd(t, first, v1alpha1.DeployItemPhases.Succeeded)
			report(t, namespace, `{"conditions": [{"type": "Ready", "status": "False", "message": "copying\nthe data"}]}`)
			item := newItem(t, namespace, "item", mode)
			create(t, item)
			waiting := awaitText(t, item, "waiting for Database "+namespace+"/main to become ready (copying the data)")
			if waiting.Status.Phase != v1alpha1.DeployItemPhases.Progressing || waiting.Status.LastError != nil {
				t.Errorf("phase %s, last error %v", waiting.Status.Phase, waiting.Status.LastError)
			}
			report(t, namespace, test.status)
			ended := awaitEnd(t, item, test.phase)
			if last := ended.Status.LastError; test.want != "" && (last.Operation != "WaitForObjectsReady" || last.Reason != "ObjectFailed" || !strings.Contains(last.Message, strings.ReplaceAll(test.want, "NAMESPACE", namespace))) {
				t.Errorf("last error %+v", last)
			}
		})
	}
}

// TestConditionsInCEL runs the documented check: it waits, says which field is missing,
// and ends in either way.
func TestConditionsInCEL(t *testing.T) {
	t.Parallel()
	databases(t)
	config := oneDatabase + documented(t, "### Conditions in CEL")
	tests := []struct {
		reason, status string
		phase          v1alpha1.DeployItemPhase
	}{
		{"the object is ready", `{"phase": "Running", "replicas": 2}`, v1alpha1.DeployItemPhases.Succeeded},
		{"the object has failed", `{"conditions": [{"type": "Provisioned", "status": "False", "reason": "QuotaExceeded"}]}`, v1alpha1.DeployItemPhases.Failed},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			item := newItem(t, namespace, "item", config)
			create(t, item)
			awaitText(t, item, "waiting for Database "+namespace+"/main to become ready (check \"database-up\": its condition failed cannot be evaluated: there is no field status yet)")
			report(t, namespace, `{"phase": "Running", "replicas": 1, "conditions": []}`)
			awaitText(t, item, "its condition current does not hold yet")
			report(t, namespace, test.status)
			awaitEnd(t, item, test.phase)
		})
	}
}
