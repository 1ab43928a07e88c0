package plan

import (
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestReadTemplate checks the messages to authors of a file with an installation template.
func TestReadTemplate(t *testing.T) {
	for _, test := range []struct{ reason, file, text, want string }{
		{"fine", "sub.yaml", "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: InstallationTemplate\nname: a\n", ""},
		{"a path cannot lead out of the blueprint", "../../sub.yaml", "name: a", ""},
		{"a field of a wrong type", "sub.yaml", "name: a\nimports:\n  data:\n  - name: 7\n", "unable to decode installation template: field imports.data.name must be a text, not number"},
		{"aliases that multiply", "sub.yaml", "a: &a {b: [" + strings.Repeat("x,", 1000) + "]}\nc: [" + strings.Repeat("*a,", 1000) + "]\n", "more than 750000 values"},
		{"another kind", "sub.yaml", "kind: Installation", "kind is"},
		{"no file", "other.yaml", "", "Not found"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			files := fstest.MapFS{"sub.yaml": {Data: []byte(test.text)}}
			template, err := ReadTemplate(files, test.file, field.NewPath("file"))
			switch {
			case test.want == "" && (err != nil || template.Name != "a"):
				t.Errorf("got %+v, %v", template, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
