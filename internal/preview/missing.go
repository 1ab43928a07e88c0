package preview

import (
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

// waitError says which Installations at work a job would wait for.
type waitError struct{ error }

// lacks says what a job would do about missing imports, as the controller decides it: wait for the
// Installations that are about to export them, or fail.
func (c *comparison) lacks(inst *v1alpha1.Installation, missing []*dataflow.MissingError) error {
	var related []*v1alpha1.Installation
	seen := map[string]bool{}
	for _, node := range c.live {
		other := node.Installation
		if other != nil && other.Namespace == inst.Namespace && inspect.Parent(other) == inspect.Parent(inst) && !seen[other.Name] {
			related, seen[other.Name] = append(related, other), true
		}
	}
	slices.SortFunc(related, func(a, b *v1alpha1.Installation) int { return strings.Compare(a.Name, b.Name) })
	in := &decide.Inputs{Missing: missing, Exporters: siblings.ExportersAmong(inst, related, siblings.NewRelations(inst, related), predicates.Triggers{})}
	decision := decide.ByMissing(nil, in, c.Now())
	if decision.Do == decide.Await {
		return &waitError{decision.Err}
	}
	return fmt.Errorf("a job would fail: %w", decision.Err)
}
