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

// TestClosureOfLargeVersions: each component version of a registry may have a descriptor of 32 MiB, or a
// short one with elements without content.
func TestClosureOfLargeVersions(t *testing.T) {
	tests := []struct {
		reason, content string
		versions        int
	}{
		{"long texts", `"labels":[{"name":"long","value":"` + strings.Repeat("x", 8<<20) + `"}]`, 30},
		{"resources without content, which take a hundred times their text", `"resources":[` + strings.Repeat(`{"name":"n","type":"t","relation":"local","version":"1","access":{"type":"none"}},`, 50_000) + `{"name":"n","type":"t","relation":"local","version":"1","access":{"type":"none"}}]`, 30},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			versions := []*descriptor.Descriptor{{Name: "example.org/root", Version: "1.0.0"}}
			for i := range test.versions {
				element := descriptor.Element{Name: fmt.Sprint("r", i), Version: "1.0.0"}
				versions[0].References = append(versions[0].References, descriptor.Reference{Element: element, ComponentName: fmt.Sprintf("example.org/c%d", i)})
			}
			content := test.content
			if !strings.Contains(content, "resources") {
				content += `,"resources":[]`
			}
			decoded, err := descriptor.Decode([]byte(`{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/c","version":"1.0.0","provider":"p","repositoryContexts":[],"sources":[],"componentReferences":[],` + content + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			for i := range test.versions {
				// The estimate counts each, although this test shares what is large.
				shared := *decoded
				shared.Name = fmt.Sprintf("example.org/c%d", i)
				versions = append(versions, &shared)
			}
			s := session(t, Options{})
			s.Know(versions...)
			root, err := s.Resolve(t.Context(), Reference{Name: "example.org/root", Version: "1.0.0"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Closure(t.Context(), root, nil); err == nil || !strings.Contains(err.Error(), "take more than 96 MiB of memory") {
				t.Errorf("got %v", err)
			}
		})
	}
}
