package chart

import (
	"os"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// TestArgoExample: the chart takes the values of the example.
func TestArgoExample(t *testing.T) {
	values, found, err := unstructured.NestedMap(example(t, "argocd.yaml")[0].Object, "spec", "source", "helm", "valuesObject")
	if err != nil || !found {
		t.Fatalf("%v, %v", found, err)
	}
	if _, err := Render(values); err != nil {
		t.Error(err)
	}
}
