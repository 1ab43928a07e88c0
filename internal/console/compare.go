package console

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Comparison is the page of two jobs of an Installation: what each of them worked on, and what came of it.
type Comparison struct {
	Frame
	// Missing says that there is no such Installation; then there is nothing else.
	Missing bool `json:"missing,omitempty"`
	Object
	Above []Object `json:"above,omitempty"`
	// Jobs are those that can be compared, the newest first.
	Jobs []Job `json:"jobs,omitempty"`
	// Earlier and Later are the two; nil if the history does not have it.
	Earlier *Job `json:"earlier,omitempty"`
	Later   *Job `json:"later,omitempty"`
	// Imports are the fingerprints of the values that both have used, as far as they are recorded.
	Imports []ComparedImport `json:"imports,omitempty"`
	// Parts are the Installations below, those first in which something differs; More is how many others
	// there are.
	Parts []ComparedPart `json:"parts,omitempty"`
	More  int            `json:"more,omitempty"`
}

// ComparedImport is an import in two jobs; a fingerprint is empty where the job had no such import.
type ComparedImport struct {
	Name    string `json:"name"`
	Earlier string `json:"earlier,omitempty"`
	Later   string `json:"later,omitempty"`
}

// ComparedPart is a part of a tree in two jobs; nil where it had no part in the job, or where its history
// does not have it.
type ComparedPart struct {
	Object
	Earlier *Outcome `json:"earlier,omitempty"`
	Later   *Outcome `json:"later,omitempty"`
	// Differs names what differs: phase, reason, generation, component, or imports.
	Differs []string `json:"differs,omitempty"`
}

// Outcome is what a part did in a job.
type Outcome struct {
	v1alpha1.JobRecord
	// Took is how long it was in the job; nil if that is less than a second, or if it has not ended.
	Took *v1alpha1.Duration `json:"took,omitempty"`
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
	view.Object, view.Above, view.Jobs = s.object(node), s.lineage(node), s.jobsOf(node)
	view.Earlier, view.Later = chosen(view.Jobs, one, other)
	if view.Earlier == nil || view.Later == nil {
		return view
	}
	history := node.Installation.Status.History
	view.Imports = compareImports(importsOf(history, view.Earlier.JobRecord), importsOf(history, view.Later.JobRecord))
	node.Walk(func(below *inspect.Node) {
		if below.Installation == nil || below == node {
			return
		}
		part := ComparedPart{Object: s.object(below)}
		part.Earlier, part.Later = outcomeOf(below.Installation, view.Earlier.JobID), outcomeOf(below.Installation, view.Later.JobID)
		if part.Earlier != nil || part.Later != nil {
			part.Differs = differences(part.Earlier, part.Later)
			view.Parts = append(view.Parts, part)
		}
	})
	slices.SortStableFunc(view.Parts, func(a, b ComparedPart) int {
		return cmp.Or(min(len(b.Differs), 1)-min(len(a.Differs), 1), cmp.Compare(b.change(), a.change()))
	})
	view.More = max(0, len(view.Parts)-shown)
	view.Parts = view.Parts[:len(view.Parts)-view.More]
	return view
}

// chosen returns two jobs by their IDs, the earlier one first.
func chosen(jobs []Job, one, other string) (earlier, later *Job) {
	if other == "" {
		at := slices.IndexFunc(jobs, func(j Job) bool { return one == "" || j.JobID == one })
		switch {
		case at >= 0 && at+1 < len(jobs):
			return &jobs[at+1], &jobs[at]
		case at >= 0:
			return nil, &jobs[at]
		}
		return nil, nil
	}
	// Jobs are listed from the newest.
	for i := range jobs {
		switch jobs[i].JobID {
		case one, other:
			if later == nil {
				later = &jobs[i]
			} else {
				earlier = &jobs[i]
			}
		}
	}
	if earlier == nil && later != nil && later.JobID == one {
		// The other one is not in the history any more, or is the same.
		return later, nil
	}
	return earlier, later
}

// importsOf returns the imports of a job: jobs with the same ones share a list.
func importsOf(history []v1alpha1.JobRecord, record v1alpha1.JobRecord) []v1alpha1.ImportFingerprint {
	if record.ImportsHash == "" {
		return nil
	}
	for _, of := range history {
		if of.ImportsHash == record.ImportsHash && len(of.Imports) > 0 {
			return of.Imports
		}
	}
	return nil
}

func compareImports(earlier, later []v1alpha1.ImportFingerprint) []ComparedImport {
	all := map[string]ComparedImport{}
	for _, imported := range earlier {
		all[imported.Name] = ComparedImport{Name: imported.Name, Earlier: imported.Fingerprint}
	}
	for _, imported := range later {
		one := all[imported.Name]
		one.Name, one.Later = imported.Name, imported.Fingerprint
		all[imported.Name] = one
	}
	return slices.SortedFunc(maps.Values(all), func(a, b ComparedImport) int { return cmp.Compare(a.Name, b.Name) })
}

// outcomeOf returns what an Installation did in a job of its root.
func outcomeOf(inst *v1alpha1.Installation, jobID string) *Outcome {
	for _, record := range inst.Status.History {
		if record.JobID == jobID {
			outcome := &Outcome{JobRecord: record}
			if took := outcome.took(); took > 0 {
				outcome.Took = v1alpha1.NewDuration(took)
			}
			return outcome
		}
	}
	return nil
}

// took is the length of all spans.
func (o *Outcome) took() (took time.Duration) {
	if o == nil {
		return 0
	}
	for _, span := range []*v1alpha1.Duration{o.Queued, o.Preparing, o.Running} {
		if span != nil {
			took += span.Duration
		}
	}
	return took
}

// change is by how much the times of a part differ.
func (p ComparedPart) change() time.Duration { return (p.Later.took() - p.Earlier.took()).Abs() }

// differences names what differs in a part; a job without the part differs in the phase.
func differences(earlier, later *Outcome) []string {
	if earlier == nil || later == nil {
		return []string{"phase"}
	}
	var names []string
	for _, fact := range []struct {
		name string
		same bool
	}{
		{"phase", earlier.Phase == later.Phase},
		// A job that runs has no reason yet.
		{"reason", earlier.Reason == later.Reason || earlier.Phase == "" || later.Phase == ""},
		{"generation", earlier.Generation == later.Generation},
		{"component", earlier.Component == later.Component},
		{"imports", earlier.ImportsHash == later.ImportsHash},
	} {
		if !fact.same {
			names = append(names, fact.name)
		}
	}
	return names
}
