package ownership_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
)

// inside is the cluster of the tests: objects by their names, and the resources of any kind.
type inside struct {
	objects   map[string]*unstructured.Unstructured
	resources []*unstructured.Unstructured
	looks     int
	err       error
}

func (i *inside) Look(_ context.Context, object corev1.ObjectReference) (*unstructured.Unstructured, error) {
	i.looks++
	return i.objects[object.Name], i.err
}

func (i *inside) Resources(context.Context, schema.GroupKind) ([]*unstructured.Unstructured, error) {
	i.looks++
	return i.resources, i.err
}

func object(apiVersion, kind, namespace, name string, annotations map[string]string) *unstructured.Unstructured {
	live := unstructuredOf(map[string]any{"apiVersion": apiVersion, "kind": kind})
	live.SetNamespace(namespace)
	live.SetName(name)
	live.SetAnnotations(annotations)
	return live
}

func TestContent(t *testing.T) {
	space := object("v1", "Namespace", "", "x", nil)
	definition := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.example.org", nil)
	definition.Object["spec"] = map[string]any{"group": "example.org", "names": map[string]any{"kind": "Thing"}}
	settings, thing := object("v1", "ConfigMap", "x", "a", nil), object("example.org/v1", "Thing", "n", "it", nil)
	ofRelease := object("example.org/v1", "Thing", "n", "it", map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "n"})
	ofRelease.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm"})
	recording := func(kind v1alpha1.DeployItemType, status string) *v1alpha1.DeployItem {
		two := item("two", "{}")
		two.Spec.Type = kind
		two.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(status)}
		return two
	}
	const manifest, kustomize, helm = v1alpha1.ManifestDeployItemType, v1alpha1.KustomizeDeployItemType, v1alpha1.HelmDeployItemType
	const hasSettings = `{"managedResources":[{"policy":"keep","resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"x","name":"a"}}]}`
	const hasThing = `{"managedResources":[{"policy":"manage","resource":{"apiVersion":"example.org/v1beta1","kind":"Thing","namespace":"n","name":"it"}}]}`
	const hasRelease = `{"release":{"name":"web","namespace":"n"}}`
	there := map[string]*unstructured.Unstructured{"a": settings, "it": thing}
	held := "as long as deploy item two has ConfigMap x/a in it"
	for _, test := range []struct {
		reason  string
		live    *unstructured.Unstructured
		two     *v1alpha1.DeployItem
		cluster inside
		goes    bool
		own     []ownership.Content
		leaving bool
		want    ownership.Fate
		why     string
		looks   int
	}{
		{reason: "another item has an object in the Namespace, also with policy keep", live: space, two: recording(manifest, hasSettings), cluster: inside{objects: there}, want: ownership.Keep, why: held, looks: 1},
		{reason: "a terminating item leaves the Namespace to the other one", live: space, two: recording(kustomize, hasSettings), cluster: inside{objects: there}, leaving: true, want: ownership.Bequeath, why: held, looks: 1},
		{reason: "the deployer of the other item records nothing for others", live: space, two: recording("example.org/other", hasSettings), cluster: inside{objects: there}, leaving: true, want: ownership.Leave, looks: 1},
		{reason: "the object of the other item does not exist any more", live: space, two: recording(manifest, hasSettings), want: ownership.Remove, looks: 1},
		{reason: "the other item is about to remove its object", live: space, two: recording(manifest, hasSettings), want: ownership.Remove, looks: 1,
			cluster: inside{objects: map[string]*unstructured.Unstructured{"a": object("v1", "ConfigMap", "x", "a", map[string]string{v1alpha1.ReleasedByAnnotation: "two"})}}},
		{reason: "the other item goes, too", live: space, two: recording(manifest, hasSettings), cluster: inside{objects: there}, goes: true, want: ownership.Remove, looks: 1},
		{reason: "the other item has nothing in the Namespace", live: space, two: recording(manifest, hasThing), want: ownership.Remove},
		{reason: "a release is in the Namespace", live: object("v1", "Namespace", "", "n", nil), two: recording(helm, hasRelease), want: ownership.Keep, why: "as long as deploy item two has release n/web in it"},
		{reason: "the item itself has an object in the Namespace", live: space, own: []ownership.Content{{Object: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "a"}}},
			want: ownership.Keep, why: "as long as the deploy item itself has ConfigMap x/a in it"},
		{reason: "the item itself has nothing in the Namespace", live: space, own: []ownership.Content{{Object: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "y", Name: "a"}}, {Release: ownership.HelmRelease{Name: "web", Namespace: "n"}}}, want: ownership.Remove},
		{reason: "another item has a resource of the kind, in any version", live: definition, two: recording(manifest, hasThing), cluster: inside{objects: there}, want: ownership.Keep, why: "as long as deploy item two has Thing n/it in it", looks: 1},
		{reason: "another item has resources of other kinds", live: definition, two: recording(manifest, hasSettings), want: ownership.Remove},
		{reason: "a release has a resource of the kind", live: definition, two: recording(helm, hasRelease), cluster: inside{resources: []*unstructured.Unstructured{thing, ofRelease}}, want: ownership.Keep, why: "as long as deploy item two has Thing n/it in it", looks: 1},
		{reason: "resources of the kind belong to no item", live: definition, two: recording(helm, hasRelease), cluster: inside{resources: []*unstructured.Unstructured{thing}}, want: ownership.Remove, looks: 1},
		{reason: "nothing can be in an object of another kind", live: settings, two: recording(manifest, hasSettings), want: ownership.Remove},
	} {
		t.Run(test.reason, func(t *testing.T) {
			others := family{}
			if test.two != nil {
				others.others = []*v1alpha1.DeployItem{test.two}
			}
			if test.goes {
				others.goes = "two"
			}
			claims := ownership.NewClaims(others, test.leaving).Knowing(&test.cluster, func() []ownership.Content { return test.own })
			ref := corev1.ObjectReference{APIVersion: test.live.GetAPIVersion(), Kind: test.live.GetKind(), Namespace: test.live.GetNamespace(), Name: test.live.GetName()}
			verdict, err := claims.Judge(t.Context(), test.live, ref, true)
			if err != nil || verdict.Fate != test.want || verdict.Reason != test.why || (verdict.Heir != nil) != (test.want == ownership.Bequeath) {
				t.Errorf("%+v, %v; want %s, %q", verdict, err, test.want, test.why)
			}
			if test.cluster.looks != test.looks {
				t.Errorf("%d requests, want %d", test.cluster.looks, test.looks)
			}
		})
	}
	t.Run("what cannot be looked at decides nothing", func(t *testing.T) {
		broken := &inside{err: errors.New("unreachable")}
		for _, two := range []*v1alpha1.DeployItem{recording(manifest, hasThing), recording(helm, hasRelease)} {
			claims := ownership.NewClaims(family{others: []*v1alpha1.DeployItem{two}}, false).Knowing(broken, nil)
			if verdict, err := claims.Judge(t.Context(), definition, corev1.ObjectReference{Kind: "CustomResourceDefinition", Name: definition.GetName()}, true); err == nil {
				t.Errorf("%+v", verdict)
			}
		}
	})
	t.Run("an item without a release inherits before one with a release", func(t *testing.T) {
		others := family{others: []*v1alpha1.DeployItem{recording(helm, hasRelease), recording(manifest, `{"managedResources":[{"resource":{"kind":"ConfigMap","namespace":"n","name":"a"}}]}`)}}
		claims := ownership.NewClaims(others, true).Knowing(&inside{objects: there}, nil)
		verdict, err := claims.Judge(t.Context(), object("v1", "Namespace", "", "n", nil), corev1.ObjectReference{Kind: "Namespace", Name: "n"}, true)
		if err != nil || verdict.Fate != ownership.Bequeath || verdict.Heir.Spec.Type != manifest {
			t.Errorf("%+v, %v", verdict, err)
		}
	})
}
