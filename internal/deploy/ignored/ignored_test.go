package ignored

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	kustomize "go.landscaper.dev/api/kustomize/v1alpha1"
	manifestv1alpha1 "go.landscaper.dev/api/manifest/v1alpha1"
	manifest "go.landscaper.dev/api/manifest/v1alpha2"
	mock "go.landscaper.dev/api/mock/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

func raw(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: content}
}

func TestFields(t *testing.T) {
	const unknown = ": unknown field, it is ignored"
	both := func(path, meant string) []string {
		return []string{"spec.config." + path + unknown + `, did you mean "` + meant + `"?`}
	}
	for _, row := range []struct {
		reason, config string
		helm, manifest []string
	}{
		{"all that helm knows", `{apiVersion: a, kind: k, name: n, namespace: ns, createNamespace: true, chart: {ref: r}, values: {any: {thing: 1}}, readinessChecks: {custom: [{name: c, resourceSelector: [{apiVersion: v1, kind: A, name: a}], requirements: [{jsonPath: .a, operator: exists}]}]}}`, nil, nil},
		{"a letter is missing", "createNamespce: true", []string{"spec.config.createNamespce" + unknown + `, did you mean "createNamespace"?`}, nil},
		{"two letters are missing", "readinessCheks: {}", []string{"spec.config.readinessCheks" + unknown + `, did you mean "readinessChecks"?`}, []string{"spec.config.readinessCheks" + unknown + `, did you mean "readinessChecks"?`}},
		{"below a field, and in a list", "readinessChecks: {custom: [{name: c, targetNam: edge}]}", []string{"spec.config.readinessChecks.custom[0].targetNam" + unknown + `, did you mean "targetName"?`}, []string{"spec.config.readinessChecks.custom[0].targetNam" + unknown + `, did you mean "targetName"?`}},
		{"an old field that has no effect any more", "deleteTimeout: 5m", []string{"spec.config.deleteTimeout" + unknown}, []string{"spec.config.deleteTimeout" + unknown}},
		{"upper and lower case make no difference, as for the published deployers", "ReadinessChecks: {}", nil, nil},
		{"manifests are free", "manifests: [{policy: manage, manifest: {apiVersion: v1, kind: ConfigMap, anything: {goes: here}}}]", nil, nil},
		{"an entry is not", "manifests: [{polcy: manage}]", nil, []string{"spec.config.manifests[0].polcy" + unknown + `, did you mean "policy"?`}},
		{"what cannot be the name of a field may be a value", `{"hunter2 hunter2": 1}`, []string{"spec.config.…" + unknown}, []string{"spec.config.…" + unknown}},
		{"no map", "[]", nil, nil},
		{"groups of a deletion, also in their older spelling", `deletionGroups: [{predefinedResourceGroup: {type: crds, force-delete: true}}, {customResourceGroup: {force-delete: true, resources: [{apiVersion: v1, kind: A, namespace: a}, {apiVersion: v1, kind: B, Namespaces: [b], names: [c]}]}}]`, nil, nil},
		{"a misspelt field of a predefined group", "deletionGroups: [{predefinedResourceGroup: {type: crds, forceDelet: true}}]", both("deletionGroups[0].predefinedResourceGroup.forceDelet", "forceDelete"), both("deletionGroups[0].predefinedResourceGroup.forceDelet", "forceDelete")},
		{"a misspelt older spelling", "deletionGroups: [{predefinedResourceGroup: {type: crds, force-delte: true}}]", both("deletionGroups[0].predefinedResourceGroup.…", "forceDelete"), both("deletionGroups[0].predefinedResourceGroup.…", "forceDelete")},
		{"a misspelt field of a custom group", "deletionGroupsDuringUpdate: [{customResourceGroup: {deleteAllResource: true, resources: []}}]", both("deletionGroupsDuringUpdate[0].customResourceGroup.deleteAllResource", "deleteAllResources"), both("deletionGroupsDuringUpdate[0].customResourceGroup.deleteAllResource", "deleteAllResources")},
		{"misspelt namespaces would widen a group", "deletionGroups: [{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: A, namespces: [a]}]}}]", both("deletionGroups[0].customResourceGroup.resources[0].namespces", "namespaces"), both("deletionGroups[0].customResourceGroup.resources[0].namespces", "namespaces")},
		{"a misspelt field of a list of references", "readinessChecks: {custom: [{name: c, resourceSelector: [{apiVersion: v1, kind: A, nam: a}]}]}", both("readinessChecks.custom[0].resourceSelector[0].nam", "name"), both("readinessChecks.custom[0].resourceSelector[0].nam", "name")},
		{"a misspelt field of a reference alone", "readinessChecks: {custom: [{name: c, resourceSelector: {apiVersion: v1, kind: A, nam: a}}]}", both("readinessChecks.custom[0].resourceSelector.nam", "name"), both("readinessChecks.custom[0].resourceSelector.nam", "name")},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if row.helm != nil || !strings.Contains(row.config, "manifests") {
				if got := Fields[helmv1alpha1.ProviderConfiguration](raw(t, row.config)); !slices.Equal(got, row.helm) {
					t.Errorf("helm: %q", got)
				}
			}
			if strings.Contains(row.config, "chart:") || strings.Contains(row.config, "createNamespce") {
				return
			}
			if got := Fields[manifest.ProviderConfiguration](raw(t, row.config)); !slices.Equal(got, row.manifest) {
				t.Errorf("manifest: %q", got)
			}
		})
	}
	if got := Fields[manifest.ProviderConfiguration](nil); got != nil {
		t.Errorf("no configuration: %q", got)
	}
}

// TestTypesThatReadThemselves: the unmarshaller of a type hides what is in it, so that each one is
// known here, or has no fields.
func TestTypesThatReadThemselves(t *testing.T) {
	free := map[reflect.Type]bool{
		reflect.TypeFor[v1alpha1.AnyJSON](): true, reflect.TypeFor[v1alpha1.Duration](): true, reflect.TypeFor[runtime.RawExtension](): true,
		reflect.TypeFor[v1alpha1.UnstructuredTypedObject](): true,
	}
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		_, known := aliases[of]
		if reads := reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()); reads && !known {
			if !free[of] {
				t.Errorf("%s reads itself: add it to the aliases", of)
			}
			return
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			for field := range of.Fields() {
				walk(field.Type)
			}
		}
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[helmv1alpha1.ProviderConfiguration](), reflect.TypeFor[manifestv1alpha1.ProviderConfiguration](), reflect.TypeFor[manifest.ProviderConfiguration](),
		reflect.TypeFor[kustomize.ProviderConfiguration](), reflect.TypeFor[mock.ProviderConfiguration](),
	} {
		walk(of)
	}
	for of := range aliases {
		if !seen[of] {
			t.Errorf("no configuration has a %s", of)
		}
	}
}
