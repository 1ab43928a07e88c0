package assistant

import (
	"context"
	"errors"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/history"
	"go.landscaper.dev/internal/landscape/inspect/reading"
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
	Cause       string `json:"cause,omitempty" jsonschema:"what started it, in a sentence, as long as there is an event"`
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
	tree, snapshot, err := s.read(ctx, in.installation, reading.Events)
	if err != nil {
		return jobList{}, err
	}
	jobs := history.JobsOf(tree, snapshot.Events)
	out, left := jobList{Jobs: []jobEntry{}}, newBudget()
	for _, job := range jobs {
		if len(out.Jobs) == limit || !left.entry() {
			break
		}
		found := entryOf(job.JobRecord, left)
		found.Cause = left.text(job.Cause)
		out.Jobs = append(out.Jobs, found)
	}
	out.More = len(jobs) - len(out.Jobs)
	return out, nil
}

type compareQuestion struct {
	installation

	Job   string `json:"job,omitempty" jsonschema:"a job, or at least four characters that its ID begins with; if absent, the newest"`
	Other string `json:"other,omitempty" jsonschema:"another job; if absent, the one before"`
}

// comparison are two jobs, and what differs.
type comparison struct {
	Earlier jobEntry         `json:"earlier"`
	Later   jobEntry         `json:"later"`
	Imports []comparedImport `json:"imports" jsonschema:"the imports that differ, by fingerprints; those that are the same are left out"`
	Parts   []comparedPart   `json:"parts" jsonschema:"the subinstallations in which something differs"`
	More    int              `json:"more,omitempty" jsonschema:"how many other subinstallations differ"`
}

type comparedImport struct {
	Name    string `json:"name"`
	Earlier string `json:"earlier,omitempty"`
	Later   string `json:"later,omitempty"`
}

type comparedPart struct {
	Name    string   `json:"name"`
	Differs []string `json:"differs" jsonschema:"phase, reason, generation, component or imports"`
	Earlier string   `json:"earlier,omitempty" jsonschema:"how it has ended, with the reason"`
	Later   string   `json:"later,omitempty" jsonschema:"how it has ended, with the reason"`
}

func (s *server) compare(ctx context.Context, in compareQuestion) (comparison, error) {
	tree, snapshot, err := s.read(ctx, in.installation, reading.Events)
	if err != nil {
		return comparison{}, err
	}
	jobs := history.JobsOf(tree, snapshot.Events)
	if err := in.complete(jobs); err != nil {
		return comparison{}, err
	}
	compared := history.Compare(tree, jobs, in.Job, in.Other)
	if compared.Earlier == nil || compared.Later == nil {
		return comparison{}, errors.New("the history has no two such jobs: see with list_jobs which it has")
	}
	left := newBudget()
	out := comparison{Earlier: entryOf(compared.Earlier.JobRecord, left), Later: entryOf(compared.Later.JobRecord, left), Imports: []comparedImport{}, Parts: []comparedPart{}}
	for _, one := range compared.Imports {
		if one.Earlier != one.Later && left.entry() {
			out.Imports = append(out.Imports, comparedImport{left.text(one.Name), left.text(one.Earlier), left.text(one.Later)})
		}
	}
	for _, part := range history.PartsOf(tree, compared) {
		switch {
		case len(part.Differs) == 0:
		case !left.entry():
			out.More++
		default:
			out.Parts = append(out.Parts, comparedPart{left.text(part.Node.Name), part.Differs, endOf(part.Earlier, left), endOf(part.Later, left)})
		}
	}
	return out, nil
}

// complete replaces the beginnings of IDs by the IDs. One job is compared with the last one.
func (q *compareQuestion) complete(jobs []history.Job) error {
	for _, id := range []*string{&q.Job, &q.Other} {
		if *id == "" {
			continue
		}
		found, err := history.Find(jobs, *id)
		if err != nil {
			return err
		}
		*id = found.JobID
	}
	if q.Job == "" && q.Other != "" && len(jobs) > 0 {
		q.Job = jobs[0].JobID
	}
	return nil
}

// endOf says how a part has ended in a job.
func endOf(outcome *history.Outcome, left *budget) string {
	switch {
	case outcome == nil:
		return "not in the job"
	case outcome.Phase == "":
		return "running"
	case outcome.Reason != "":
		return left.text(string(outcome.Phase) + ": " + outcome.Reason)
	}
	return left.text(string(outcome.Phase))
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
