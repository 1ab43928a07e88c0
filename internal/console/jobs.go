package console

import (
	"slices"
	"strings"

	"go.landscaper.dev/internal/landscape/history"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Job is a job of an Installation, with who or what started it.
type Job struct {
	history.Job
	// Of is the Installation, where that is not known from the page.
	Of *Object `json:"of,omitempty"`
}

// Jobs is the history of all roots.
type Jobs struct {
	Frame
	// Jobs are those that run, and then the newest; More is how many others are known.
	Jobs []Job `json:"jobs"`
	More int   `json:"more,omitempty"`
}

// jobsOf returns the jobs that an Installation records, the newest first.
func (s *state) jobsOf(node *inspect.Node) []Job {
	var jobs []Job
	for _, recorded := range history.JobsOf(node, s.snapshot.Events) {
		jobs = append(jobs, Job{Job: recorded})
	}
	return jobs
}

// jobs returns the history of the roots whose names have a text in them.
func (s *state) jobs(text string) Jobs {
	view := Jobs{Frame: s.frame(), Jobs: []Job{}}
	text = strings.ToLower(strings.TrimSpace(text))
	for _, root := range s.forest {
		if root.Installation == nil || !strings.Contains(strings.ToLower(root.Namespace+"/"+root.Name), text) {
			continue
		}
		of := s.object(root)
		for _, j := range s.jobsOf(root) {
			j.Of = &of
			view.Jobs = append(view.Jobs, j)
		}
	}
	slices.SortStableFunc(view.Jobs, func(a, b Job) int {
		switch runs, other := a.Phase == "", b.Phase == ""; {
		case runs != other && runs:
			return -1
		case runs != other:
			return 1
		case a.Start == nil || b.Start == nil:
			return 0
		}
		return b.Start.Compare(a.Start.Time)
	})
	view.More = max(0, len(view.Jobs)-shown)
	view.Jobs = view.Jobs[:len(view.Jobs)-view.More]
	return view
}
