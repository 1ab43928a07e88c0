package repositories

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component"
)

func TestSplitComponent(t *testing.T) {
	type parts struct{ repository, name, version string }
	for _, test := range []struct {
		reason, text string
		want         parts
	}{
		{"in a registry", "r.example.org/a//example.org/shop:1.0.0", parts{"r.example.org/a", "example.org/shop", "1.0.0"}},
		{"with a scheme", "https://r.example.org/a//example.org/shop:1.0.0", parts{"https://r.example.org/a", "example.org/shop", "1.0.0"}},
		{"with a port", "http://localhost:5000//example.org/shop:1.0.0+b", parts{"http://localhost:5000", "example.org/shop", "1.0.0+b"}},
		{"in an archive", "./transport.tgz//example.org/shop:1.0.0", parts{"./transport.tgz", "example.org/shop", "1.0.0"}},
		{"in a directory with a slash at its end", "dir///example.org/shop:1.0.0", parts{"dir/", "example.org/shop", "1.0.0"}},
		{"in a repository context", `{"type":"x","baseUrl":"https://r.example.org"}//example.org/shop:1.0.0`, parts{`{"type":"x","baseUrl":"https://r.example.org"}`, "example.org/shop", "1.0.0"}},
		{"a directory", "./blueprint", parts{}},
		{"a directory with a slash too many", "blueprints//shop", parts{}},
		{"an absolute directory with a slash too many", "//blueprints/shop:1", parts{}},
		{"an address with a port", "http://localhost:5000/x:1", parts{}},
		{"a repository context alone", `{"type":"x","baseUrl":"https://r.example.org:5000"}`, parts{}},
		{"no name", "r.example.org//:1.0.0", parts{}},
		{"no version", "r.example.org//example.org/shop", parts{}},
		{"an empty version", "r.example.org//example.org/shop:", parts{}},
		{"nothing", "", parts{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			repository, name, version, ok := SplitComponent(test.text)
			if got := (parts{repository, name, version}); got != test.want || ok != (test.want != parts{}) {
				t.Errorf("%+v, %t", got, ok)
			}
		})
	}
}

func TestNowhereHasNoComponents(t *testing.T) {
	access, err := (&Flags{}).Access((&terminaltest.Console{}).Streams())
	if err != nil {
		t.Fatal(err)
	}
	session, err := access.Session(Nowhere)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // nothing was written
	if _, err := session.Resolve(t.Context(), component.Reference{Name: "example.org/shop", Version: "1.0.0"}); err == nil || !strings.Contains(err.Error(), "repository") {
		t.Errorf("there is no repository to look in: %v", err)
	}
}
