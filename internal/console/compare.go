package console

import (
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/landscape/history"
)

// Comparison is the page of two jobs of an Installation: what each of them worked on, and what came of it.
type Comparison struct {
	Frame
	// Missing says that there is no such Installation; then there is nothing else.
	Missing bool `json:"missing,omitempty"`
	Object
	Above []Object `json:"above,omitempty"`
	// Jobs are those that can be compared, the newest first.
	Jobs []history.Job `json:"jobs,omitempty"`
	history.Comparison
	// Parts are the Installations below, those first in which something differs; More is how many others
	// there are.
	Parts []ComparedPart `json:"parts,omitempty"`
	More  int            `json:"more,omitempty"`
}

// ComparedPart is a part of a tree in two jobs.
type ComparedPart struct {
	Object
	history.Part
}

// compare returns the comparison of two jobs by their IDs. Without the second one, it is that with the job
// before; without any, that of the last two.
func (s *state) compare(namespace, name, one, other string) Comparison {
	view := Comparison{Frame: s.frame()}
	node := s.installations[types.NamespacedName{Namespace: namespace, Name: name}]
	if node == nil {
		view.Missing, view.Namespace, view.Name = true, namespace, name
		return view
	}
	view.Object, view.Above, view.Jobs = s.object(node), s.lineage(node), history.JobsOf(node, s.snapshot.Events)
	view.Comparison = history.Compare(node, view.Jobs, one, other)
	parts := history.PartsOf(node, view.Comparison)
	view.More = max(0, len(parts)-shown)
	for _, part := range parts[:len(parts)-view.More] {
		view.Parts = append(view.Parts, ComparedPart{s.object(part.Node), part})
	}
	return view
}
