package validation

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
)

// TestRendered puts a value wherever a template could, and looks for it in what the
// rules say.
func TestRendered(t *testing.T) {
	const canary = "Tr0ubador Xk9"
	timeout := &v1alpha1.Duration{}
	if err := timeout.UnmarshalJSON([]byte(`"` + canary + `"`)); err != nil {
		t.Fatal(err)
	}
	item := func(name string, dependsOn ...string) v1alpha1.DeployItemTemplate {
		return v1alpha1.DeployItemTemplate{Name: name, Type: "t", DependsOn: dependsOn}
	}
	path := field.NewPath("deployItems")
	late := item("a")
	late.Timeout = timeout
	template := &v1alpha1.InstallationTemplate{Name: canary}
	template.Imports.Targets = []v1alpha1.TargetImport{{Name: "a", TargetMap: map[string]string{canary: ""}}, {Name: "a", Target: canary}}
	tests := map[string]field.ErrorList{
		"items of the same name":              DeployItemTemplates(v1alpha1.DeployItemTemplateList{item(canary), item(canary)}, path),
		"items that wait for an unknown item": DeployItemTemplates(v1alpha1.DeployItemTemplateList{item("a", canary)}, path),
		"items that wait for each other":      DeployItemTemplates(v1alpha1.DeployItemTemplateList{item(canary, "b"), item("b", canary)}, path),
		"a timeout":                           DeployItemTemplates(v1alpha1.DeployItemTemplateList{late}, path),
		"a subinstallation":                   InstallationTemplate(template, field.NewPath("subinstallations").Index(0)),
		"a key of a path":                     {field.Required(path.Index(3).Key(canary), "give it")},
	}
	for reason, errs := range tests {
		t.Run(reason, func(t *testing.T) {
			if len(errs) == 0 {
				t.Fatal("an error is expected")
			}
			said := Rendered(errs, func(string) bool { return false }).ToAggregate().Error()
			if strings.Contains(said, "Tr0ubador") || strings.Contains(said, "Xk9") {
				t.Errorf("the value is shown: %s", said)
			}
			if !strings.Contains(said, "deployItems") && !strings.Contains(said, "subinstallations[0]") {
				t.Errorf("the field is not named: %s", said)
			}
		})
	}
	if _, err := timeout.Parsed(); err == nil || time.Duration(0) != timeout.Duration {
		t.Error("the test has no wrong timeout")
	}
	known := func(text string) bool { return text == "web" || text == "db" }
	cycle := DeployItemTemplates(v1alpha1.DeployItemTemplateList{item("web", "db"), item("db", "web")}, path)
	if said := Rendered(cycle, known).ToAggregate().Error(); !strings.Contains(said, "web -> db -> web") {
		t.Errorf("names of the template are hidden: %s", said)
	}
}
