package ignored

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	manifest "go.landscaper.dev/api/manifest/v1alpha2"
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
