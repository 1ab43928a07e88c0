package e2e

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/landscape"
)

// misspelt is an Installation that works although a field of its blueprint and one of its
// item do not exist: the published system ignores both.
func misspelt(space, name string) *v1alpha1.Installation {
	item := strings.NewReplacer("NAMESPACE", space, "NAME", name, "    updateStrategy: update\n", "    updateStrategy: update\n    readinessCheks: {disableDefault: true}\n").Replace(oneConfigMap)
	return landscape.Described(space, name, `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
subinstallationExecution: []
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
deployExecutions:
- name: default
  type: GoTemplate
  template: |
`+landscape.Indent(item, 4))
}

// checkWarnings looks at the warnings of such an Installation, where people look first.
func checkWarnings(t *testing.T, inst *v1alpha1.Installation) {
	t.Helper()
	for of, want := range map[v1alpha1.ConditionType]string{
		v1alpha1.WarningsCondition:      `subinstallationExecution: unknown field, it is ignored, did you mean "subinstallationExecutions"?`,
		v1alpha1.ChildWarningsCondition: `deploy item "one": spec.config.readinessCheks: unknown field, it is ignored, did you mean "readinessChecks"?`,
	} {
		if found := job.GetCondition(inst.Status.Conditions, of); found == nil || found.Status != v1alpha1.ConditionTrue || found.Message != want {
			t.Errorf("%s: %+v", of, found)
		}
	}
}
