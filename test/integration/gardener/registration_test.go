package gardener_test

import (
	"os"
	"path/filepath"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// TestRegistration shows the registrations of the extension shoot-flux to a garden: no field is
// unknown, and no value is another than those that are documented.
func TestRegistration(t *testing.T) {
	if err := gardener.InstallKinds(limited(t), world.InGarden, gardener.GardenKinds); err != nil {
		t.Fatal(err)
	}
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	for file, kinds := range map[string][]string{
		"controller-registration.yaml": {"ControllerDeployment", "ControllerRegistration", "ClusterRole"},
		"operator-extension.yaml":      {"Extension", "ClusterRole"},
	} {
		content, err := os.ReadFile(filepath.Join(root, "examples", "shoot-flux", file))
		if err != nil {
			t.Fatal(err)
		}
		objects, err := chart.Decode(string(content))
		if err != nil {
			t.Fatal(err)
		}
		for i, object := range objects {
			if object.GetKind() != kinds[i] {
				t.Errorf("%s: object %d is a %s", file, i+1, object.GetKind())
			}
			if err := world.InGarden.Create(limited(t), object.DeepCopy(), client.FieldValidation("Strict"), client.DryRunAll); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	bad := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("apiVersion: core.gardener.cloud/v1beta1\nkind: ControllerRegistration\nmetadata: {name: bad}\nspec: {resource: []}\n"), &bad.Object); err != nil {
		t.Fatal(err)
	}
	if err := world.InGarden.Create(limited(t), bad, client.FieldValidation("Strict"), client.DryRunAll); err == nil {
		t.Error("an unknown field is accepted")
	}
}

// TestGardenRights shows what the role of the extension in the garden is good for.
func TestGardenRights(t *testing.T) {
	name := unique("extension")
	rules, err := chart.GardenRules(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := landscape.WriteManifest(t.TempDir(), rules)
	if err != nil {
		t.Fatal(err)
	}
	user, err := world.Garden.AddUser(limited(t), lab.UserOptions{Name: name, ManifestFile: file})
	if err != nil {
		t.Fatal(err)
	}
	as, err := landscape.Connect(user.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		verb, resource, name string
		want                 bool
		why                  string
	}{
		{"get", "configmaps", "flux-config", true, "it is the configuration"},
		{"watch", "configmaps", "flux-config", true, "its changes are followed"},
		{"update", "configmaps", "flux-config", false, "it belongs to the project"},
		{"update", "configmaps", "flux-source.pub", true, "it has the public key, which changes"},
		{"create", "configmaps", "", true, "RBAC cannot limit a creation to a name"},
		{"get", "configmaps", "other", false, "it belongs to another owner"},
		{"list", "configmaps", "", false, "other objects belong to other owners"},
		{"get", "secrets", "flux-source", true, "it is the key"},
		{"update", "secrets", "flux-source", true, "a key is replaced"},
		{"delete", "secrets", "flux-source", false, "other shoots may have it"},
		{"create", "secrets", "", true, "RBAC cannot limit a creation to a name"},
		{"get", "secrets", "other", false, "it belongs to another owner"},
		{"list", "secrets", "", false, "other objects belong to other owners"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "garden-foo", Verb: row.verb, Resource: row.resource, Name: row.name},
		}}
		t.Run(row.verb+" "+row.resource+" "+row.name, func(t *testing.T) {
			if err := as.Create(limited(t), review); err != nil {
				t.Fatal(err)
			}
			if review.Status.Allowed != row.want {
				t.Errorf("allowed is %t, and %s", review.Status.Allowed, row.why)
			}
		})
	}
}
