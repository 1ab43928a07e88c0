package component

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// TestClosureIsBounded: each component version of a registry may refer to the next
// one without end.
func TestClosureIsBounded(t *testing.T) {
	chain := make([]*descriptor.Descriptor, maxClosure+1)
	for i := range chain {
		decoded, err := descriptor.Decode(fmt.Appendf(nil, `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/c%d","version":"1.0.0","provider":"p","repositoryContexts":[],"sources":[],"resources":[],"componentReferences":[{"name":"next","componentName":"example.org/c%d","version":"1.0.0"}]}}`, i, i+1))
		if err != nil {
			t.Fatal(err)
		}
		chain[i] = decoded
	}
	chain[maxClosure].References = nil
	for _, test := range []struct {
		reason string
		first  int
		want   string
	}{
		{"as many as may be", 1, ""},
		{"one component version too many", 0, "more than 10000 component versions belong to example.org/c0:1.0.0"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := session(t, Options{})
			s.Know(chain...)
			root, err := s.Resolve(t.Context(), Reference{Name: fmt.Sprintf("example.org/c%d", test.first), Version: "1.0.0"})
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.Closure(t.Context(), root, nil)
			switch {
			case test.want == "" && (err != nil || len(all) != maxClosure):
				t.Errorf("%d, %v", len(all), err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
