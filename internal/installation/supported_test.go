package installation

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// TestSupported shows that nothing which a job would need is left out silently.
func TestSupported(t *testing.T) {
	tests := []struct{ reason, blueprint, want string }{
		{"import executions and deploy items", "{importExecutions: [{name: a, type: Spiff}], deployExecutions: [{name: a, type: GoTemplate}]}", ""},
		{"subinstallations", "subinstallations: [{file: a}]", "subinstallations"},
		{"computed subinstallations", "subinstallationExecutions: [{name: a, type: GoTemplate}]", "subinstallations"},
		{"exports", "{exports: [{name: a, schema: {}}], exportExecutions: [{name: a, type: GoTemplate}]}", ""},
	}
	for _, test := range tests {
		info := &v1alpha1.Blueprint{}
		if err := yaml.Unmarshal([]byte(test.blueprint), info); err != nil {
			t.Fatal(err)
		}
		err := supported(info)
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want+" is not supported yet")) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
}
