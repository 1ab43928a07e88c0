package targets

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestNameOf follows the copies of Targets to the names that users gave.
func TestNameOf(t *testing.T) {
	named := func(name, parent string, imports ...v1alpha1.TargetImport) *v1alpha1.Installation {
		i := &v1alpha1.Installation{}
		i.Name, i.Spec.Imports.Targets = name, imports
		if parent != "" {
			i.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		}
		return i
	}
	root := named("shop", "", v1alpha1.TargetImport{Name: "cluster", Target: "edge"}, v1alpha1.TargetImport{Name: "direct", Target: "#real"},
		v1alpha1.TargetImport{Name: "list", Targets: []string{"first", "second"}}, v1alpha1.TargetImport{Name: "map", TargetMap: map[string]string{"eu": "frankfurt"}})
	sub := named("web-1", "shop", v1alpha1.TargetImport{Name: "own", Target: "cluster"}, v1alpha1.TargetImport{Name: "there", Target: "direct"},
		v1alpha1.TargetImport{Name: "one", Target: "list[1]"}, v1alpha1.TargetImport{Name: "eu", Target: "map[eu]"}, v1alpha1.TargetImport{Name: "all", TargetListReference: "list"},
		v1alpha1.TargetImport{Name: "keyed", TargetMapReference: "map"}, v1alpha1.TargetImport{Name: "lost", TargetMapReference: "gone"},
		v1alpha1.TargetImport{Name: "made", Target: "of-a-sibling"})
	leaf := named("page-2", "web-1", v1alpha1.TargetImport{Name: "c", Target: "own"}, v1alpha1.TargetImport{Name: "again", TargetMapReference: "keyed"})
	copyOf := func(parent, name string) string {
		return v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope(parent), name)
	}
	whole := []*v1alpha1.Installation{root, sub, leaf}
	for _, test := range []struct {
		reason  string
		lineage []*v1alpha1.Installation
		object  string
		want    string
	}{
		{"a Target that the root names itself", whole[:1], "edge", "edge"},
		{"a copy", whole[:2], copyOf("shop", "cluster"), "edge"},
		{"a copy of a copy", whole, copyOf("web-1", "own"), "edge"},
		{"a Target by its real name", whole[:2], copyOf("shop", "direct"), "real"},
		{"an element of a list", whole[:2], copyOf("shop", "list[1]"), "second"},
		{"an element of a propagated list", whole[:2], copyOf("shop", "list[0]"), "first"},
		{"an element of a map", whole[:2], copyOf("shop", "map[eu]"), "frankfurt"},
		{"an element of a propagated map", whole, copyOf("web-1", "keyed[eu]"), "frankfurt"},
		{"a map without such a key", whole, copyOf("web-1", "keyed[us]"), copyOf("web-1", "keyed[us]")},
		{"a map that no Installation has", whole[:2], copyOf("shop", "gone[eu]"), copyOf("shop", "gone[eu]")},
		{"a Target that a sibling has exported has the name of the export", whole[:2], copyOf("shop", "of-a-sibling"), "of-a-sibling"},
		{"a Target that no import leads to", whole[:2], "other", "other"},
		{"an unknown Installation", nil, "other", "other"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := NameOf(test.lineage, test.object); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	message := "item x on Target ns/" + copyOf("shop", "cluster") + ": check \"open\" on Target " + copyOf("shop", "list[1]") + ": a name of 32 characters, " + strings.Repeat("a", 32)
	if got, want := Say(whole[:2], message), `item x on Target ns/edge: check "open" on Target second: a name of 32 characters, `+strings.Repeat("a", 32); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
