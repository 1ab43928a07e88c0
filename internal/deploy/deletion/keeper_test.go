package deletion

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestKeeper: the wait for the deletion of an object names what keeps it.
func TestKeeper(t *testing.T) {
	tests := []struct{ reason, object, want string }{
		{"nothing", "{apiVersion: v1, kind: ConfigMap}", ""},
		{"a finalizer", "{apiVersion: v1, kind: ConfigMap, metadata: {finalizers: [acme.example/guard]}}", " (finalizer acme.example/guard)"},
		{"what is in a namespace", `{apiVersion: v1, kind: Namespace, status: {conditions: [
{type: NamespaceDeletionContentFailure, status: "False", message: "All content successfully deleted, may be waiting on finalization"},
{type: NamespaceContentRemaining, status: "True", message: "Some resources are remaining: configmaps. has 1 resource instances, engines.acme.example has 2 resource instances"},
{type: NamespaceFinalizersRemaining, status: "True", message: "Some content in the namespace has finalizers remaining: acme.example/guard in 1 resource instances"}]}}`,
			" (it still has configmaps (1), engines.acme.example (2); finalizers to be removed: acme.example/guard (1))"},
		{"a namespace with other conditions", `{apiVersion: v1, kind: Namespace, status: {conditions: [{type: NamespaceContentRemaining, status: "True", message: "the password is hunter2"}]}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(test.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			if got := keeper(object); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestWaitForNamespace: while a namespace is being deleted, the wait says what is still in it.
func TestWaitForNamespace(t *testing.T) {
	c := fakecluster.New()
	stored := c.Put(parse(t, `{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {test.example/deployitem: item}, finalizers: [test.example/content]}}`))
	d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(stored, "manage", stored.GetUID())}, Owner: owner, Wake: func() {}})
	defer d.Close()
	if _, err := d.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	going := c.Find("Namespace", "", "ns")
	var status map[string]any
	if err := yaml.Unmarshal([]byte(`{conditions: [{type: NamespaceContentRemaining, status: "True", message: "Some resources are remaining: configmaps. has 1 resource instances"}]}`), &status); err != nil {
		t.Fatal(err)
	}
	going.Object["status"] = status
	c.Put(going)
	waiting, err := d.Continue(t.Context())
	if err != nil || len(waiting) != 1 || !strings.HasSuffix(waiting[0], "Namespace ns (it still has configmaps (1))") {
		t.Errorf("it waits for %v, error %v", waiting, err)
	}
}
