package component

import (
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// TestMessages: what has no name is not named by its separators.
func TestMessages(t *testing.T) {
	for _, test := range []struct {
		reason  string
		context string
		name    string
		version string
		want    string
	}{
		{"a local repository without a path", `{"type":"local"}`, "example.org/a", "1.0.0", "find component version example.org/a:1.0.0: open repository local: error indexing repository: f: "},
		{"a local repository with a path", `{"type":"local","filePath":"d"}`, "example.org/a", "1.0.0", "open repository local d: error indexing repository: f: "},
		{"no version, and no repository", "", "example.org/a", "", "find component version example.org/a without version: no repository or ocm resolvers found"},
		{"no name", `{"type":"local"}`, "", "1.0.0", "component descriptor reference cannot be nil"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			files := fstest.MapFS{"f": {Data: []byte("{}")}, "d/f": {Data: []byte("{}")}}
			session := NewSession(NewSharedWith(egress.Policy{}), Options{Local: files})
			defer session.Close() //nolint:errcheck // nothing was written
			_, err := session.Resolve(t.Context(), Reference{Context: descriptor.Typed(test.context), Name: test.name, Version: test.version})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if got := (Reference{}).String(); got != "without name and version" {
		t.Errorf("a reference to nothing is called %q", got)
	}
}
