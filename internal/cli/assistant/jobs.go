package assistant

import (
	"context"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

type jobsQuestion struct {
	installation

	Limit int `json:"limit,omitempty" jsonschema:"how many jobs to list at most: 1 to 100, by default 20"`
}

// jobList are the jobs of an Installation.
type jobList struct {
	Jobs []jobEntry `json:"jobs"`
	More int        `json:"more,omitempty" jsonschema:"how many earlier jobs are recorded"`
}

type jobEntry struct {
	Job         string `json:"job"`
	Trigger     string `json:"trigger,omitempty" jsonschema:"what started the job"`
	RequestedBy string `json:"requestedBy,omitempty" jsonschema:"the client that has asked for it, by the name it gives itself; a claim, not a proof"`
	Running     bool   `json:"running,omitempty"`
	Phase       string `json:"phase,omitempty" jsonschema:"how it has ended"`
	Reason      string `json:"reason,omitempty"`
	Generation  int64  `json:"generation,omitempty"`
	Component   string `json:"component,omitempty"`
	Imports     string `json:"imports,omitempty" jsonschema:"fingerprint of all imports"`
	Start       string `json:"start,omitempty"`
	Took        string `json:"took,omitempty"`
}

func (s *server) jobs(ctx context.Context, in jobsQuestion) (jobList, error) {
	limit, err := limited(in.Limit, 20, 100)
	if err != nil {
		return jobList{}, err
	}
	if err := named(in.Name); err != nil {
		return jobList{}, err
	}
	on, err := s.at(in.place)
	if err != nil {
		return jobList{}, err
	}
	found, err := on.Installation(ctx, in.Name)
	if err != nil {
		return jobList{}, on.Explain(err)
	}
	out, left := jobList{Jobs: []jobEntry{}}, newBudget()
	for _, record := range found.Status.History {
		if len(out.Jobs) == limit || !left.entry() {
			break
		}
		out.Jobs = append(out.Jobs, entryOf(record, left))
	}
	out.More = len(found.Status.History) - len(out.Jobs)
	return out, nil
}

func entryOf(record v1alpha1.JobRecord, left *budget) jobEntry {
	var took time.Duration
	for _, span := range []*v1alpha1.Duration{record.Queued, record.Preparing, record.Running} {
		if span != nil {
			took += span.Duration
		}
	}
	out := jobEntry{
		Job: left.text(record.JobID), Trigger: left.text(string(record.Trigger)), RequestedBy: left.text(record.RequestedBy),
		Running: record.Phase == "", Phase: left.text(string(record.Phase)), Reason: left.text(record.Reason),
		Generation: record.Generation, Component: left.text(record.Component), Imports: left.text(record.ImportsHash), Start: moment(record.Start),
	}
	if took > 0 {
		out.Took = took.String()
	}
	return out
}
