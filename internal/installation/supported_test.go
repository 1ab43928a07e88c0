package installation

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// TestSupported shows that nothing which a job would need is left out silently.
func TestSupported(t *testing.T) {
	tests := []struct{ reason, spec, blueprint, want string }{
		{"imports, a component, and deploy items", "{imports: {targets: [{name: a, target: b}], data: [{name: c, dataRef: d}]}, componentDescriptor: {ref: {componentName: a, version: b}}}", "{importExecutions: [{name: a, type: Spiff}], deployExecutions: [{name: a, type: GoTemplate}]}", ""},
		{"data exports", "exports: {data: [{name: a, dataRef: b}]}", "", "spec.exports"},
		{"target exports", "exports: {targets: [{name: a, target: b}]}", "", "spec.exports"},
		{"export mappings", "exportDataMappings: {a: b}", "", "spec.exportDataMappings"},
		{"subinstallations", "", "subinstallations: [{file: a}]", "subinstallations"},
		{"computed subinstallations", "", "subinstallationExecutions: [{name: a, type: GoTemplate}]", "subinstallations"},
		{"exports of the blueprint", "", "exports: [{name: a, schema: {}}]", "exports"},
		{"export executions", "", "exportExecutions: [{name: a, type: GoTemplate}]", "exports"},
	}
	for _, test := range tests {
		inst, info := &v1alpha1.Installation{}, &v1alpha1.Blueprint{}
		if err := yaml.Unmarshal([]byte(test.spec), &inst.Spec); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(test.blueprint), info); err != nil {
			t.Fatal(err)
		}
		err := supported(inst, info)
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want+" is not supported yet")) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
}
