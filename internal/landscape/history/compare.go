package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Comparison is two jobs of an Installation: what each of them worked on, and what came of it.
type Comparison struct {
	// Earlier and Later are the two; nil if the history does not have it.
	Earlier *Job `json:"earlier,omitempty"`
	Later   *Job `json:"later,omitempty"`
	// Imports are the fingerprints of the values that both have used, as far as they are recorded.
	Imports []ComparedImport `json:"imports,omitempty"`
}

// ComparedImport is an import in two jobs; a fingerprint is empty where the job had no such import.
type ComparedImport struct {
	Name    string `json:"name"`
	Earlier string `json:"earlier,omitempty"`
	Later   string `json:"later,omitempty"`
}

// Part is a part of a tree in two jobs; nil where it had no part in the job, or where its history does not
// have it.
type Part struct {
	// Node is the part.
	Node    *inspect.Node `json:"-"`
	Earlier *Outcome      `json:"earlier,omitempty"`
	Later   *Outcome      `json:"later,omitempty"`
	// Differs names what differs: phase, reason, generation, component, or imports.
	Differs []string `json:"differs,omitempty"`
}

// Outcome is what a part did in a job.
type Outcome struct {
	v1alpha1.JobRecord
	// Took is how long it was in the job; nil if that is less than a second, or if it has not ended.
	Took *v1alpha1.Duration `json:"took,omitempty"`
}

// Compare returns the comparison of two jobs by their IDs. Without the second one, it is that with the job
// before; without any, that of the last two.
func Compare(node *inspect.Node, jobs []Job, one, other string) Comparison {
	var c Comparison
	c.Earlier, c.Later = chosen(jobs, one, other)
	if c.Earlier != nil && c.Later != nil {
		records := node.Installation.Status.History
		c.Imports = compareImports(ImportsOf(records, c.Earlier.JobRecord), ImportsOf(records, c.Later.JobRecord))
	}
	return c
}

// PartsOf returns the Installations below, those first in which something differs, and then those whose
// times differ most.
func PartsOf(node *inspect.Node, c Comparison) []Part {
	if c.Earlier == nil || c.Later == nil {
		return nil
	}
	var parts []Part
	node.Walk(func(below *inspect.Node) {
		if below.Installation == nil || below == node {
			return
		}
		part := Part{Node: below, Earlier: outcomeOf(below.Installation, c.Earlier.JobID), Later: outcomeOf(below.Installation, c.Later.JobID)}
		if part.Earlier != nil || part.Later != nil {
			part.Differs = differences(part.Earlier, part.Later)
			parts = append(parts, part)
		}
	})
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(min(len(b.Differs), 1)-min(len(a.Differs), 1), cmp.Compare(b.change(), a.change()))
	})
	return parts
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
func (p Part) change() time.Duration { return (p.Later.took() - p.Earlier.took()).Abs() }

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
