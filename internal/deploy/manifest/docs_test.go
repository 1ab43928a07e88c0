package manifest

import (
	"os"
	"strings"
	"testing"
)

// TestDocumentedConfigurations shows that each example of the reference page is a
// configuration that works, alone or as a part of one.
func TestDocumentedConfigurations(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/deployers.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(page), "```yaml\n")[1:]
	if len(examples) < 8 {
		t.Errorf("%d examples", len(examples))
	}
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		if !strings.HasPrefix(example, "apiVersion") {
			example = "apiVersion: " + group + "v1alpha2\nkind: ProviderConfiguration\n" + example
		}
		config, err := parseConfig(raw(t, example))
		if err == nil {
			_, err = (source{}).desiredState(config)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, example)
		}
	}
}
