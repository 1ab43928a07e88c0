package chart

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// example reads the objects of an example.
func example(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("../../examples/install/" + name)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Decode(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestFluxExample: the kinds of Flux have all fields of the example, and the chart takes its values.
func TestFluxExample(t *testing.T) {
	objects := example(t, "flux.yaml")
	for kind, controller := range map[string]string{"OCIRepository": "source-controller", "HelmRelease": "helm-controller"} {
		object, err := Find(objects, kind, "landscaper")
		if err != nil {
			t.Fatal(err)
		}
		result := pruning.PruneWithOptions(object.DeepCopy().Object, structural(t, controller, object), true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		if len(result) > 0 {
			t.Errorf("%s has no fields %v", kind, result)
		}
		if kind == "HelmRelease" {
			values, _, _ := unstructured.NestedMap(object.Object, "spec", "values")
			if _, err := Render(values); err != nil {
				t.Error(err)
			}
		}
	}
}

// structural is the schema of an object's version, in the manifests of Flux that the extension installs.
func structural(t *testing.T, controller string, object *unstructured.Unstructured) *schema.Structural {
	t.Helper()
	text, err := os.ReadFile("../../internal/controller/shootflux/install/flux/v2.9.5/" + controller + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Decode(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range objects {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &crd); err != nil || crd.Spec.Names.Kind != object.GetKind() {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if version.Name != object.GroupVersionKind().Version || version.Schema == nil {
				continue
			}
			var internal apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
				t.Fatal(err)
			}
			read, err := schema.NewStructural(&internal)
			if err != nil {
				t.Fatal(err)
			}
			return read
		}
	}
	t.Fatalf("%s has no %s", controller, object.GroupVersionKind())
	return nil
}

// application has the fields of Argo CD's kind Application (argoproj.io/v1alpha1) that a chart from a
// registry may use. Its module is no dependency: it brings all of Argo CD.
type application struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name       string   `json:"name"`
		Namespace  string   `json:"namespace"`
		Finalizers []string `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Project string `json:"project"`
		Source  struct {
			RepoURL        string `json:"repoURL"`
			Chart          string `json:"chart"`
			TargetRevision string `json:"targetRevision"`
			Helm           struct {
				ReleaseName  string         `json:"releaseName"`
				ValuesObject map[string]any `json:"valuesObject"`
			} `json:"helm"`
		} `json:"source"`
		Destination struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated struct {
				Prune      bool `json:"prune"`
				SelfHeal   bool `json:"selfHeal"`
				AllowEmpty bool `json:"allowEmpty"`
			} `json:"automated"`
			SyncOptions []string `json:"syncOptions"`
		} `json:"syncPolicy"`
	} `json:"spec"`
}

// TestArgoExample: the example has no other fields, names a chart as Argo CD wants it, and the chart
// takes its values.
func TestArgoExample(t *testing.T) {
	text, err := os.ReadFile("../../examples/install/argocd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var example application
	if err := yaml.UnmarshalStrict(text, &example); err != nil {
		t.Fatal(err)
	}
	if example.APIVersion != "argoproj.io/v1alpha1" || example.Kind != "Application" {
		t.Errorf("it is a %s of %s", example.Kind, example.APIVersion)
	}
	// A chart of a registry is named by the registry without a scheme and without the chart.
	source := example.Spec.Source
	if source.Chart != Landscaper.Name || strings.Contains(source.RepoURL, "://") || !strings.HasSuffix(source.RepoURL, "/charts") {
		t.Errorf("its source is %+v", source)
	}
	if _, err := semver.StrictNewVersion(source.TargetRevision); err != nil {
		t.Errorf("the version %q: %v", source.TargetRevision, err)
	}
	if to := example.Spec.Destination; to.Namespace != Namespace || (to.Server == "") == (to.Name == "") {
		t.Errorf("its destination is %+v", to)
	}
	if !slices.Equal(example.Spec.SyncPolicy.SyncOptions, []string{"CreateNamespace=true"}) {
		t.Errorf("its options are %q", example.Spec.SyncPolicy.SyncOptions)
	}
	if source.Helm.ReleaseName != Release || len(source.Helm.ValuesObject) == 0 {
		t.Errorf("it gives Helm %+v", source.Helm)
	}
	if _, err := Render(source.Helm.ValuesObject); err != nil {
		t.Error(err)
	}
}

// TestArgoHooks: Argo CD takes some hooks of Helm for its own phases, and ignores the others. What a
// hook needs before the chart is applied has to be a hook, too.
func TestArgoHooks(t *testing.T) {
	phases := map[string]string{"pre-install": "PreSync", "pre-upgrade": "PreSync", "post-install": "PostSync", "post-upgrade": "PostSync"}
	found := map[string]string{}
	for _, object := range render(t, nil) {
		for hook := range strings.SplitSeq(object.GetAnnotations()["helm.sh/hook"], ",") {
			if phase := phases[hook]; phase != "" {
				found[object.GetKind()+" "+object.GetName()] = phase
			}
		}
	}
	for _, name := range []string{"Job landscaper-install", "ServiceAccount landscaper-install", "ClusterRole landscaper-install", "ClusterRoleBinding landscaper-install"} {
		if found[name] != "PreSync" {
			t.Errorf("%s is in the phase %q", name, found[name])
		}
	}
}
