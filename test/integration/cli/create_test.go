package cli

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestCreate: what create writes for a blueprint is accepted by the API server, with its
// policies for fields, and holds what the flags say.
func TestCreate(t *testing.T) {
	namespace := newNamespace(t)
	manifests := t.TempDir()
	blueprint := filepath.Join("..", "..", "..", "examples", "blueprints", "shop", "database")
	got := cli(t, resource.Kubeconfig, "inst", "create", blueprint, "--name", "database", "-n", namespace,
		"--target", "cluster=edge", "--export", "host=database-host", "-o", filepath.Join(manifests, "database.yaml"))
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "inst", "apply", "-f", manifests, "-n", namespace); got.code != 0 || got.out != "Installation database: created\n" {
		t.Fatalf("%+v", got)
	}
	made := &v1alpha1.Installation{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "database"}, made); err != nil {
		t.Fatal(err)
	}
	imports, exports := made.Spec.Imports.Targets, made.Spec.Exports.Data
	if len(imports) != 1 || imports[0].Target != "edge" || len(exports) != 1 || exports[0].DataRef != "database-host" || made.Spec.Blueprint.Inline == nil {
		t.Errorf("%+v", made.Spec)
	}
}
