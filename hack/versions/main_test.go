package main

import (
	"slices"
	"testing"
)

func TestConflicts(t *testing.T) {
	server, registry := program{module: "."}, program{module: "lab/registry"}
	in := func(path, of, version string) listed {
		found := listed{ImportPath: path}
		found.Module = &module{Path: of, Version: version}
		return found
	}
	standard := listed{ImportPath: "fmt", Standard: true}
	own := in("go.landscaper.dev/api", "go.landscaper.dev", "")
	own.Module.Main = true
	for _, test := range []struct {
		reason           string
		server, registry []listed
		want             []string
	}{
		{"one version", []listed{in("a/x", "a", "v1")}, []listed{in("a/x", "a", "v1")}, nil},
		{"two versions, of packages that only one program has", []listed{in("a/x", "a", "v1")}, []listed{in("a/y", "a", "v2")}, nil},
		{"two versions of several packages are one line", []listed{in("a/x", "a", "v1"), in("a/y", "a", "v1")}, []listed{in("a/x", "a", "v2"), in("a/y", "a", "v2")},
			[]string{"a: v1 in .; v2 in lab/registry"}},
		{"packages of Go and of the project have no version", []listed{standard, own}, []listed{standard, own}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := inventory{}
			for _, found := range test.server {
				all.add(server, found)
			}
			for _, found := range test.registry {
				all.add(registry, found)
			}
			if got := all.conflicts(); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
