package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
)

// TestRenderedKeys makes keys of a map that look like something else: a template may have
// taken them from a Secret, a number as well as a text.
func TestRenderedKeys(t *testing.T) {
	const canary = "Tr0ub"
	known := func(text string) bool { return text == "blue" || text == "0" }
	tests := []struct{ reason, key, want string }{
		{"a text", canary, "targetMap[...]"},
		{"a number is not a position", "90210", "targetMap[...]"},
		{"a bracket does not end a key", "a]" + canary, "targetMap[...]"},
		{"many brackets do not end a key", "]]]]" + canary + "]]", "targetMap[...]"},
		{"a bracket does not begin a key again", "[" + canary, "targetMap[...]"},
		{"a key that looks like the rest of a path", "0].targets[1]." + canary + "[2", "targetMap[...]"},
		{"a key that looks like another map", "blue].targetMap[" + canary, "targetMap[...]"},
		{"a known key within another one", "blue]" + canary, "targetMap[...]"},
		{"nothing", "", "targetMap[...]"},
		{"lines", "a\nb]" + canary + "\n", "targetMap[...]"},
		{"a long key", strings.Repeat(canary, 10_000), "targetMap[...]"},
		{"a key that is known because the template says it", "blue", "targetMap[blue]"},
		{"a known number", "0", "targetMap[0]"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			template := &v1alpha1.InstallationTemplate{Name: "a"}
			template.Imports.Targets = []v1alpha1.TargetImport{{Name: "a", TargetMap: map[string]string{test.key: ""}}}
			errs := InstallationTemplate(template, field.NewPath("subinstallations").Index(12))
			shown, found := Rendered(errs, known), false
			for _, err := range shown {
				if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "90210") {
					t.Errorf("the key is shown: %.300v", err)
				}
				found = found || err.Field == "subinstallations[12].imports.targets[0]."+test.want
			}
			if !found {
				t.Errorf("no field ends with %s: %.500v", test.want, shown.ToAggregate())
			}
			for _, err := range errs {
				if err.Field != "subinstallations[12].blueprint" && !strings.Contains(err.Field, test.key) {
					t.Errorf("the errors themselves were changed: %.300v", err)
				}
			}
		})
	}
}

// TestRenderedPositions: where the error is stays readable.
func TestRenderedPositions(t *testing.T) {
	for _, path := range []string{"deployItems", "deployItems[0]", "deployItems[10].dependsOn[3]", "subinstallations[1].exports.data[22].dataRef", ""} {
		t.Run(path, func(t *testing.T) {
			shown := Rendered(field.ErrorList{{Type: field.ErrorTypeRequired, Field: path}}, func(string) bool { return false })
			if shown[0].Field != path {
				t.Errorf("became %s", shown[0].Field)
			}
		})
	}
}
