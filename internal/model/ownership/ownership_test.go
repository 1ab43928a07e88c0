package ownership_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
)

func item(name, config string) *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	item.Spec.Type = v1alpha1.ManifestDeployItemType
	item.Spec.Configuration = &runtime.RawExtension{Raw: []byte(config)}
	return item
}

func TestFate(t *testing.T) {
	tests := []struct {
		reason string
		in     ownership.Situation
		want   ownership.Fate
	}{
		{"an object that does not exist any more needs nothing", ownership.Situation{Heir: true, Open: true}, ownership.Forget},
		{"an object that was taken over is left to its new owner", ownership.Situation{Exists: true, Heir: true}, ownership.Spare},
		{"an object that another item lists becomes that item's", ownership.Situation{Exists: true, Mine: true, Heir: true, Open: true}, ownership.Inherit},
		{"an object that a chart may still want is kept", ownership.Situation{Exists: true, Mine: true, Open: true}, ownership.Keep},
		{"an object that an item expects is left without an owner", ownership.Situation{Exists: true, Mine: true, Expected: true}, ownership.Leave},
		{"an object that an item expects is kept as long as another one may want it", ownership.Situation{Exists: true, Mine: true, Expected: true, Open: true}, ownership.Keep},
		{"an object that an item expects and another one lists becomes that item's", ownership.Situation{Exists: true, Mine: true, Expected: true, Heir: true}, ownership.Inherit},
		{"an object that no item can want is removed", ownership.Situation{Exists: true, Mine: true}, ownership.Remove},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := ownership.Decide(test.in); got != test.want {
				t.Errorf("the fate is %q, want %q", got, test.want)
			}
		})
	}
}

func TestLists(t *testing.T) {
	const object = `{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"a","namespace":"n"}}`
	ref := corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "a"}
	tests := []struct {
		reason, config string
		want           bool
	}{
		{"a manifest in another version of the API is the same object", `{"manifests":[{"policy":"manage","manifest":` + object + `}]}`, true},
		{"an object that is ignored belongs to no item", `{"manifests":[{"policy":"ignore","manifest":` + object + `}]}`, false},
		{"an element of a list counts", `{"manifests":[{"manifest":{"apiVersion":"v1","kind":"List","items":[` + object + `]}}]}`, true},
		{"the older version of the configuration has the objects themselves", `{"manifests":[` + object + `]}`, true},
		{"another namespace is another object", `{"manifests":[{"manifest":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"m"}}}]}`, false},
		{"another group is another object", `{"manifests":[{"manifest":{"apiVersion":"v1","kind":"Deployment","metadata":{"name":"a","namespace":"n"}}}]}`, false},
		{"a configuration that cannot be read lists nothing", `{"manifests":7}`, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := ownership.Lists(item("i", test.config), ref); got != test.want {
				t.Errorf("lists the object: %t, want %t", got, test.want)
			}
		})
	}
	t.Run("the first heir by name counts, and none that is being deleted", func(t *testing.T) {
		config := `{"manifests":[{"manifest":` + object + `}]}`
		going := item("a", config)
		going.DeletionTimestamp = &metav1.Time{}
		if heir := ownership.Heir([]*v1alpha1.DeployItem{item("c", config), going, item("b", config), item("0", `{}`)}, ref); heir == nil || heir.Name != "b" {
			t.Errorf("the heir is %v, want b", heir)
		}
	})
}

func TestExpects(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}}`
	settings := corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}
	space := corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: "n"}
	definition := corev1.ObjectReference{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things.example.org"}
	const defined = `{"definitions":[{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","name":"things.example.org"}]}`
	tests := []struct {
		reason         string
		kind           v1alpha1.DeployItemType
		config, status string
		object         corev1.ObjectReference
		want           bool
	}{
		{"an object with policy ignore is expected", v1alpha1.ManifestDeployItemType, `{"manifests":[{"policy":"ignore","manifest":` + object + `}]}`, "", settings, true},
		{"an object with policy keep belongs to the item", v1alpha1.ManifestDeployItemType, `{"manifests":[{"policy":"keep","manifest":` + object + `}]}`, "", settings, false},
		{"a release with createNamespace expects its namespace", v1alpha1.HelmDeployItemType, `{"namespace":"n","createNamespace":true}`, "", space, true},
		{"a release without createNamespace does not say that it expects its namespace", v1alpha1.HelmDeployItemType, `{"namespace":"n"}`, "", space, false},
		{"a release expects no other namespace", v1alpha1.HelmDeployItemType, `{"namespace":"m","createNamespace":true}`, "", space, false},
		{"a release expects what the folders crds of its chart define", v1alpha1.HelmDeployItemType, `{}`, defined, definition, true},
		{"a status that cannot be read says nothing", v1alpha1.HelmDeployItemType, `{}`, `{"definitions":7}`, definition, false},
		{"a kustomization expects nothing", v1alpha1.KustomizeDeployItemType, `{"namespace":"n","createNamespace":true}`, defined, definition, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			expecting := item("i", test.config)
			expecting.Spec.Type = test.kind
			if test.status != "" {
				expecting.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(test.status)}
			}
			if got := ownership.Expects(expecting, test.object); got != test.want {
				t.Errorf("expects the object: %t, want %t", got, test.want)
			}
		})
	}
}

func TestTransfer(t *testing.T) {
	var live map[string]any
	err := json.Unmarshal([]byte(`{"metadata":{"resourceVersion":"7","uid":"u",
		"labels":{"manifest.deployer.landscaper.gardener.cloud/deployitem":"a","helm.deployer.landscaper.gardener.cloud/deployitem":"a","app.kubernetes.io/managed-by":"Helm","mine":"x"},
		"annotations":{"meta.helm.sh/release-name":"r","landscaper.gardener.cloud/released-by":"a","mine":"x"}}}`), &live)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := ownership.Transfer(unstructuredOf(live), ownership.ManifestLabel, "b")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"metadata":{"annotations":{"landscaper.gardener.cloud/released-by":null,"meta.helm.sh/release-name":null},` +
		`"labels":{"app.kubernetes.io/managed-by":null,"helm.deployer.landscaper.gardener.cloud/deployitem":null,"manifest.deployer.landscaper.gardener.cloud/deployitem":"b"},` +
		`"resourceVersion":"7","uid":"u"}}`
	if string(patch) != want {
		t.Errorf("the patch is\n%s, want\n%s", patch, want)
	}
}

func unstructuredOf(content map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: content}
}
