package installation

import (
	"fmt"
	"slices"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/kin"
)

// TestRelations: siblings are looked at once as long as they say the same, in whatever
// order they come, and anew when one of them is wired otherwise.
func TestRelations(t *testing.T) {
	self := sibling("self x => y")
	others := func(wired string) []*v1alpha1.Installation { return []*v1alpha1.Installation{self, sibling(wired)} }
	mapped := sibling("b => x")
	mapped.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "t", TargetMap: map[string]string{"k": "y"}}}
	swapped := others("b => x")
	slices.Reverse(swapped)
	ran := others("b => x")
	ended(ran[1], "b", "Succeeded")
	for _, test := range []struct {
		reason   string
		siblings []*v1alpha1.Installation
		same     bool
		waits    []string
	}{
		{"nothing has changed", others("b => x"), true, []string{"b"}},
		{"another order", swapped, true, []string{"b"}},
		{"one has ended its job", ran, true, []string{"b"}},
		{"one exports something else", others("b => z"), false, nil},
		{"one imports something", others("b y => x"), false, []string{"b"}},
		{"one imports a map", []*v1alpha1.Installation{self, mapped}, false, []string{"b"}},
		{"one has another name", others("c => x"), false, []string{"c"}},
		{"one is alone", []*v1alpha1.Installation{self}, false, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var relations kin.Relations
			first := relations.Of(self, others("b => x"))
			got := relations.Of(self, test.siblings)
			if (got == first) != test.same || !slices.Equal(got.Graph.Predecessors("self"), test.waits) {
				t.Errorf("the same: %t, it waits for %v", got == first, got.Graph.Predecessors("self"))
			}
		})
	}
}

// TestManyFamilies: only some families are remembered.
func TestManyFamilies(t *testing.T) {
	var relations kin.Relations
	for i := range 3 * kin.MostRelations {
		root := root(t, "one", nil, []string{"x"})
		root.Namespace = fmt.Sprint("n", i)
		relations.Of(root, []*v1alpha1.Installation{root})
	}
	if len(relations.Recent) != kin.MostRelations {
		t.Errorf("%d families are remembered", len(relations.Recent))
	}
}

// TestImportsOf: who imports something of whom; the quick answer misses nobody.
func TestImportsOf(t *testing.T) {
	targets := sibling("self")
	targets.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "t", Targets: []string{"a", "x"}}}
	direct := sibling("self #" + v1alpha1.GenerateDataObjectName("Inst.parent", "x"))
	for _, test := range []struct {
		reason             string
		importer, exporter *v1alpha1.Installation
		want               bool
	}{
		{"what it exports", sibling("self x"), sibling("b => x"), true},
		{"something else", sibling("self x"), sibling("b => y"), false},
		{"nothing", sibling("self"), sibling("b => x"), false},
		{"a longer name", sibling("self xy"), sibling("b => x"), false},
		{"a Target of that name is something else", targets, sibling("b => x"), false},
		{"the object by its real name", direct, sibling("b => x"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := kin.ImportsFrom(test.importer, test.exporter); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
