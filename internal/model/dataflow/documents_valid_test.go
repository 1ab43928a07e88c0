package dataflow_test

import (
	"os"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/validation"
)

// TestReferenceIsValid: what the reference page shows is what the rules admit.
func TestReferenceIsValid(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/imports-and-exports.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, block := range regexp.MustCompile("(?ms)^```yaml (blueprint|installation)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		checked++
		if block[1] == "blueprint" {
			info := &v1alpha1.Blueprint{}
			if err := yaml.Unmarshal([]byte(block[2]), info); err != nil {
				t.Fatal(err)
			}
			info.SetDefaults()
			if errs := validation.Blueprint(info); len(errs) > 0 {
				t.Errorf("%v in\n%s", errs, block[2])
			}
			continue
		}
		inst := &v1alpha1.Installation{}
		if err := yaml.Unmarshal([]byte("spec:\n  blueprint: {ref: {resourceName: blueprint}}\n"+indented(block[2])), inst); err != nil {
			t.Fatal(err)
		}
		if errs := validation.Installation(inst, nil); len(errs) > 0 {
			t.Errorf("%v in\n%s", errs, block[2])
		}
	}
	if checked == 0 {
		t.Error("the page has no examples")
	}
}

var lines = regexp.MustCompile("(?m)^(.)")

func indented(text string) string { return lines.ReplaceAllString(text, "  $1") }
