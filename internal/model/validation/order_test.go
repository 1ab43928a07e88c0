package validation

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
)

// TestErrorsKeepTheirOrder: a message that changes with every attempt is a write with every
// attempt.
func TestErrorsKeepTheirOrder(t *testing.T) {
	many := map[string]string{}
	for i := range 20 {
		many[fmt.Sprintf("key %d", i)] = fmt.Sprintf("value %d", i)
	}
	waiting := make(v1alpha1.DeployItemTemplateList, 20)
	for i := range waiting {
		waiting[i] = v1alpha1.DeployItemTemplate{Name: fmt.Sprintf("i%d", i), Type: "t", DependsOn: []string{fmt.Sprintf("i%d", i^1)}}
	}
	template := &v1alpha1.InstallationTemplate{Name: "a"}
	template.Imports.Targets = []v1alpha1.TargetImport{{Name: "a", TargetMap: many}, {Name: "b", TargetMap: many}}
	path := field.NewPath("list")
	for reason, check := range map[string]func() field.ErrorList{
		"labels": func() field.ErrorList {
			return DeployItemTemplates(v1alpha1.DeployItemTemplateList{{Name: "a", Type: "t", Labels: many}}, path)
		},
		"cycles":        func() field.ErrorList { return DeployItemTemplates(waiting, path) },
		"keys of a map": func() field.ErrorList { return InstallationTemplate(template, path) },
	} {
		t.Run(reason, func(t *testing.T) {
			first := check().ToAggregate().Error()
			for range 20 {
				if again := check().ToAggregate().Error(); again != first {
					t.Fatalf("first %.300s\nthen %.300s", first, again)
				}
			}
		})
	}
}
