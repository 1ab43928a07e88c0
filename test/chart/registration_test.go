package chart

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// The kinds by which Gardener knows extensions, as documented: a field that is not here
// does not exist.
type (
	object struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
	}
	controllerDeployment struct {
		object                 `json:",inline"`
		Helm                   helm `json:"helm"`
		InjectGardenKubeconfig bool `json:"injectGardenKubeconfig"`
	}
	helm struct {
		RawChart      []byte         `json:"rawChart"`
		OCIRepository *repository    `json:"ociRepository"`
		Values        map[string]any `json:"values"`
	}
	repository             struct{ Ref, Repository, Tag, Digest string }
	controllerRegistration struct {
		object `json:",inline"`
		Spec   struct {
			Deployment struct {
				DeploymentRefs []struct{ Name string } `json:"deploymentRefs"`
				Policy         string                  `json:"policy"`
			} `json:"deployment"`
			Resources []resource `json:"resources"`
		} `json:"spec"`
	}
	resource struct {
		Kind                string `json:"kind"`
		Type                string `json:"type"`
		ReconcileTimeout    string `json:"reconcileTimeout"`
		WorkerlessSupported bool   `json:"workerlessSupported"`
		Lifecycle           struct {
			Reconcile string `json:"reconcile"`
			Delete    string `json:"delete"`
			Migrate   string `json:"migrate"`
		} `json:"lifecycle"`
	}
	operatorExtension struct {
		object `json:",inline"`
		Spec   struct {
			Resources  []resource `json:"resources"`
			Deployment struct {
				Extension struct {
					Policy                 string         `json:"policy"`
					InjectGardenKubeconfig bool           `json:"injectGardenKubeconfig"`
					Helm                   helm           `json:"helm"`
					Values                 map[string]any `json:"values"`
				} `json:"extension"`
			} `json:"deployment"`
		} `json:"spec"`
	}
)

// registration reads a manifest into objects, strictly and in their order.
func registration(t *testing.T, name string, into ...any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "examples", "shoot-flux", name))
	if err != nil {
		t.Fatal(err)
	}
	documents := utilyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(content)))
	for _, to := range into {
		document := make([]byte, len(content))
		n, err := documents.Read(document)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(document[:n], to); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := documents.Read(make([]byte, len(content))); !errors.Is(err, io.EOF) {
		t.Errorf("%s has more documents (%v)", name, err)
	}
}

// TestRegistration shows that both ways to register the extension are valid and say the
// same.
func TestRegistration(t *testing.T) {
	var deployment controllerDeployment
	var registered controllerRegistration
	var operated operatorExtension
	var rights, sameRights rbacv1.ClusterRole
	registration(t, "controller-registration.yaml", &deployment, &registered, &rights)
	registration(t, "operator-extension.yaml", &operated, &sameRights)
	if refs := registered.Spec.Deployment.DeploymentRefs; len(refs) != 1 || refs[0].Name != deployment.Metadata.Name || registered.Spec.Deployment.Policy != "OnDemand" {
		t.Errorf("the registration refers to %v", refs)
	}
	extension := operated.Spec.Deployment.Extension
	if !reflect.DeepEqual(registered.Spec.Resources, operated.Spec.Resources) || !reflect.DeepEqual(rights, sameRights) || !reflect.DeepEqual(deployment.Helm.Values, extension.Values) {
		t.Error("the two ways are not the same")
	}
	if !deployment.InjectGardenKubeconfig || !extension.InjectGardenKubeconfig {
		t.Error("the garden cannot be reached")
	}
	found := registered.Spec.Resources[0]
	if found.Kind != "Extension" || found.Type != "shoot-flux" || found.Lifecycle.Reconcile != "AfterWorker" || found.Lifecycle.Delete != "BeforeKubeAPIServer" || found.ReconcileTimeout != "15m" || found.WorkerlessSupported {
		t.Errorf("registered %+v", found)
	}
	if selector := rights.Annotations["authorization.gardener.cloud/extensions-serviceaccount-selector"]; !strings.Contains(selector, `"`+registered.Metadata.Name+`"`) ||
		rights.Labels["authorization.gardener.cloud/custom-extensions-permissions"] != "true" {
		t.Errorf("the rights are for %q", selector)
	}
}

// TestRegisteredChart shows that the chart in the registration is the one of this
// repository, and understands the values beside it.
func TestRegisteredChart(t *testing.T) {
	var deployment controllerDeployment
	registration(t, "controller-registration.yaml", &deployment, &controllerRegistration{}, &rbacv1.ClusterRole{})
	packed, err := loader.LoadArchive(bytes.NewReader(deployment.Helm.RawChart))
	if err != nil {
		t.Fatal(err)
	}
	directory, err := ShootFlux.Directory()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := loader.Load(directory)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range ours.Raw {
		files[file.Name] = string(file.Data)
	}
	for _, file := range packed.Raw {
		if files[file.Name] != string(file.Data) {
			t.Errorf("%s is out of date: run make shoot-flux-registration", file.Name)
		}
		delete(files, file.Name)
	}
	if len(files) > 0 {
		t.Errorf("missing: %d files", len(files))
	}
	objects, err := ShootFlux.Render(deployment.Helm.Values)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, objects, "Deployment", ShootFlux.Name, []string{`"image":"registry.example.org/gardener-extension-shoot-flux:0.1.0"`})
}

// TestGardenRights shows that the extension can read nothing in the garden but what has
// the names of its own objects.
func TestGardenRights(t *testing.T) {
	var rights rbacv1.ClusterRole
	registration(t, "controller-registration.yaml", &controllerDeployment{}, &controllerRegistration{}, &rights)
	names := []string{"flux-config", "flux-source", "flux-source.pub"}
	for _, rule := range rights.Rules {
		if slices.Equal(rule.Verbs, []string{"create"}) {
			continue
		}
		if len(rule.ResourceNames) == 0 || slices.ContainsFunc(rule.ResourceNames, func(name string) bool { return !slices.Contains(names, name) }) {
			t.Errorf("rule %v", rule)
		}
	}
}
