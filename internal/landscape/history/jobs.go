package history

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Job is a job of an Installation, with what started it.
type Job struct {
	v1alpha1.JobRecord
	// Cause says in a sentence what started the job, as long as there is an event about it.
	Cause string `json:"cause,omitempty"`
}

// announced is how far an event about a job may be from its start.
const announced = 10 * time.Second

// JobsOf returns the jobs that an Installation records, the newest first.
func JobsOf(node *inspect.Node, events []*corev1.Event) []Job {
	alone := *node
	alone.Children = nil
	var entries []inspect.Entry
	if len(node.Installation.Status.History) > 0 {
		entries = inspect.EventsOf(&alone, events)
	}
	var jobs []Job
	for _, record := range node.Installation.Status.History {
		if record.JobID == node.JobID && record.Start == nil {
			record.Start = node.StartTime
		}
		j := Job{JobRecord: record}
		for _, entry := range entries {
			if reasons.AnnouncesJob(entry.Reason) && record.Start != nil && entry.Time.Sub(record.Start.Time).Abs() <= announced {
				j.Cause = entry.Message
			}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// ImportsOf returns the imports of a job: jobs with the same ones share a list.
func ImportsOf(records []v1alpha1.JobRecord, record v1alpha1.JobRecord) []v1alpha1.ImportFingerprint {
	if record.ImportsHash == "" {
		return nil
	}
	for _, of := range records {
		if of.ImportsHash == record.ImportsHash && len(of.Imports) > 0 {
			return of.Imports
		}
	}
	return nil
}

// shortest is how much of an ID names a job at least.
const shortest = 4

// Find returns the job with an ID, or with the only one that begins so.
func Find(jobs []Job, id string) (*Job, error) {
	var found *Job
	for i := range jobs {
		switch {
		case jobs[i].JobID == id:
			return &jobs[i], nil
		case len(id) < shortest || !strings.HasPrefix(jobs[i].JobID, id):
		case found != nil:
			return nil, fmt.Errorf("several jobs begin with %q: write more of the ID", id)
		default:
			found = &jobs[i]
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the history has no job %q: see with landscaper-cli installations history which it has", id)
	}
	return found, nil
}
