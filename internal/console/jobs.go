package console

import (
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Job is a job of an Installation, with who or what started it.
type Job struct {
	v1alpha1.JobRecord
	// Of is the Installation, where that is not known from the page.
	Of *Object `json:"of,omitempty"`
	// Cause says in a sentence what started the job, as long as there is an event about it.
	Cause string `json:"cause,omitempty"`
}

// Jobs is the history of all roots.
type Jobs struct {
	Frame
	// Jobs are those that run, and then the newest; More is how many others are known.
	Jobs []Job `json:"jobs"`
	More int   `json:"more,omitempty"`
}

// announced is how far an event about a job may be from its start.
const announced = 10 * time.Second

// jobsOf returns the jobs that an Installation records, the newest first.
func (s *state) jobsOf(node *inspect.Node) []Job {
	alone := *node
	alone.Children = nil
	var events []inspect.Entry
	if len(node.Installation.Status.History) > 0 {
		events = inspect.EventsOf(&alone, s.snapshot.Events)
	}
	var jobs []Job
	for _, record := range node.Installation.Status.History {
		start := record.Start
		if record.JobID == node.JobID && start == nil {
			start = node.StartTime
		}
		j := Job{JobRecord: record}
		j.Start = start
		for _, event := range events {
			if reasons.AnnouncesJob(event.Reason) && start != nil && event.Time.Sub(start.Time).Abs() <= announced {
				j.Cause = event.Message
			}
		}
		jobs = append(jobs, j)
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
