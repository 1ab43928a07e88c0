package repositories

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestListed(t *testing.T) {
	many := make([]ComponentVersion, 13)
	for i := range many {
		many[i] = ComponentVersion{"c", fmt.Sprint(i)}
	}
	for _, test := range []struct {
		reason string
		found  []ComponentVersion
		want   string
	}{
		{"nothing", nil, ": it is empty"},
		{"one", many[:1], ": there are c:0"},
		{"as many as are listed", many[:10], ": there are c:0, c:1, c:2, c:3, c:4, c:5, c:6, c:7, c:8, c:9"},
		{"one more than the limit is only counted", many[:11], ", c:9, and 1 more"},
		{"more", many, ", c:9, and 3 more"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Listed(test.found); !strings.HasSuffix(got, test.want) {
				t.Error(got)
			}
		})
	}
}

// TestNewestLast: versions are in the order of semantic versions, not in that of texts.
func TestNewestLast(t *testing.T) {
	for _, test := range []struct{ reason, versions, want string }{
		{"numbers", "10.0.0 9.0.0 1.2.3", "1.2.3 9.0.0 10.0.0"},
		{"a candidate comes before what it is one for", "1.0.0 1.0.0-rc.2 1.0.0-rc.10", "1.0.0-rc.2 1.0.0-rc.10 1.0.0"},
		{"with and without a v", "v2.0.0 1.0.0 v0.1.0", "v0.1.0 1.0.0 v2.0.0"},
		{"the same version in several ways keeps one order", "1.0.0+b v1.0.0 1.0.0+a 1.0.0", "1.0.0 1.0.0+a 1.0.0+b v1.0.0"},
		{"invalid versions keep their order", "latest main", "latest main"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var all []ComponentVersion
			for _, version := range strings.Fields(test.versions) {
				all = append(all, ComponentVersion{"c", version})
			}
			for range len(all) {
				// Whatever the order before was.
				all = append(all[1:], all[0])
				sorted := slices.Clone(all)
				slices.SortStableFunc(sorted, byVersion)
				var got []string
				for _, version := range sorted {
					got = append(got, version.Version)
				}
				if strings.Join(got, " ") != test.want {
					t.Errorf("%q", got)
				}
			}
		})
	}
	if byVersion(ComponentVersion{"a", "9.0.0"}, ComponentVersion{"b", "1.0.0"}) >= 0 {
		t.Error("names come first")
	}
}

// TestVersionsOfFiles: what archives and directories hold, and what keeps them from
// saying it.
func TestVersionsOfFiles(t *testing.T) {
	const d = "meta: {schemaVersion: v2}\ncomponent: {name: example.org/%s, version: %s, provider: p, repositoryContexts: [], resources: [], sources: [], componentReferences: []}\n"
	descriptorOf := func(name, version string) string { return fmt.Sprintf(d, name, version) }
	for _, test := range []struct {
		reason string
		files  map[string]string
		want   string
		err    string
	}{
		{"a directory of descriptors, whatever the files are called", map[string]string{"x/b": descriptorOf("b", "1.0.0"), "x/a.yaml": descriptorOf("a", "2.0.0")}, "example.org/a:2.0.0 example.org/b:1.0.0", ""},
		{"directories in it are not descriptors", map[string]string{"x/a": descriptorOf("a", "1.0.0"), "x/blobs/b": "content"}, "example.org/a:1.0.0", ""},
		{"a file that is not a descriptor is named", map[string]string{"x/a": descriptorOf("a", "1.0.0"), "x/notes.txt": "nothing"}, "", "x/notes.txt"},
		{"a component archive", map[string]string{"x/component-descriptor.yaml": descriptorOf("a", "1.0.0"), "x/blobs/b": "content"}, "example.org/a:1.0.0", ""},
		{"a component archive without a name", map[string]string{"x/component-descriptor.yaml": "meta: {schemaVersion: v2}\n"}, "", "name"},
		{"a transport archive", map[string]string{"x/artifact-index.json": `{"schemaVersion":1,"artifacts":[
			{"repository":"component-descriptors/example.org/a","tag":"1.0.0.build-x","digest":"sha256:` + strings.Repeat("0", 64) + `"},
			{"repository":"images/other","tag":"1","digest":"sha256:` + strings.Repeat("0", 64) + `"}]}`}, "example.org/a:1.0.0+x", ""},
		{"a transport archive that is broken", map[string]string{"x/artifact-index.json": "{"}, "", "artifact-index.json"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, test.files)
			at, err := Locate("x")
			if err != nil {
				t.Fatal(err)
			}
			found, err := at.Versions()
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v", err)
				}
				return
			}
			var got []string
			for _, version := range found {
				got = append(got, version.String())
			}
			if err != nil || strings.Join(got, " ") != test.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
