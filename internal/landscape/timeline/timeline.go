// Package timeline says what each object of a job did when, and which objects decided how long the
// job took. It follows from the times in statuses alone: what no status records is not in it.
package timeline

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job"
)

// Kind is what an object does for a span of time.
type Kind string

// The kinds of spans.
const (
	// Queued means that the object has the job, and its controller or deployer has not begun.
	Queued Kind = "queued"
	// Waits means that something else has to happen first, such as the end of a sibling.
	Waits Kind = "waits"
	// Works means that the controller or deployer of the object works on it.
	Works Kind = "works"
	// Below means that the objects below it work.
	Below Kind = "below"
)

// Span is what an object does for some time.
type Span struct {
	Kind Kind `json:"kind"`
	// From is when it began, To when it ended; nil if it has not.
	From time.Time  `json:"from"`
	To   *time.Time `json:"to,omitempty"`
}

// Row is an object of the job.
type Row struct {
	Node *inspect.Node
	// Depth is how far the object is from the root of the tree.
	Depth int
	// Spans follow each other. Between them may be time of which nothing is known.
	Spans []Span
	// Critical means that the job would have ended earlier, or would be further, if this object had
	// taken less time.
	Critical bool

	below []*Row
}

// Timeline is the current or last job of a tree.
type Timeline struct {
	JobID string
	Start time.Time
	// End is nil as long as the job runs.
	End *time.Time
	// Rows are the objects of the job whose times are known, each before those below it.
	Rows []*Row
}

// Of returns the timeline of the current or last job of a tree, or nil if no status says when it began.
func Of(tree *inspect.Node) *Timeline {
	if tree.JobID == "" || tree.StartTime == nil {
		return nil
	}
	t := &Timeline{JobID: job.BaseOf(tree.JobID), Start: tree.StartTime.Time, End: endOf(tree)}
	root := t.row(tree, 0, nil)
	if root == nil {
		return nil
	}
	root.markCritical()
	root.list(t)
	return t
}

func (r *Row) list(t *Timeline) {
	t.Rows = append(t.Rows, r)
	for _, below := range r.below {
		below.list(t)
	}
}

// row returns an object of the job with all below it; nil if the job has not reached it and will not.
func (t *Timeline) row(node *inspect.Node, depth int, above *inspect.Node) *Row {
	r := &Row{Node: node, Depth: depth}
	switch {
	case job.BaseOf(node.JobID) == t.JobID:
		r.Spans = t.spans(node)
	case node.Outdated && t.End == nil && above != nil:
		// It gets the job when its turn has come.
		if from := t.written(above); from != nil {
			r.Spans = []Span{{Kind: Waits, From: *from}}
		}
	}
	if len(r.Spans) == 0 {
		return nil
	}
	for _, child := range node.Children {
		if below := t.row(child, depth+1, node); below != nil {
			r.below = append(r.below, below)
		}
	}
	r.awaitOthers(t.written(node))
	return r
}

// spans are what the status of an object says about the job.
func (t *Timeline) spans(node *inspect.Node) []Span {
	times := timesOf(node)
	if times == nil {
		return nil
	}
	asked, begun, written, ended := t.within(times.TriggerTime), t.within(times.InitTime), t.within(times.WaitTime), endOf(node)
	if job.IsRemoval(node.JobID) && begun != nil {
		// The times of the first round are overwritten by those of the removal round.
		asked = nil
	}
	var spans []Span
	add := func(kind Kind, from, to *time.Time) {
		if from == nil {
			return
		}
		if to == nil {
			to = ended
		}
		if over := node.JobID == node.JobIDFinished; to == nil && over || to != nil && to.Before(*from) {
			return
		}
		spans = append(spans, Span{Kind: kind, From: *from, To: to})
	}
	add(Queued, asked, cmp.Or(begun, written))
	if node.Kind == inspect.KindDeployItem {
		add(Works, begun, t.waitingSince(node, begun))
		add(Waits, t.waitingSince(node, begun), nil)
		return spans
	}
	if since := t.waitingSince(node, begun); written == nil && since != nil {
		add(Works, begun, since)
		add(Waits, since, nil)
		return spans
	}
	add(Works, begun, written)
	add(Below, written, nil)
	return spans
}

// waitingSince is since when an object says that something has to happen first.
func (t *Timeline) waitingSince(node *inspect.Node, begun *time.Time) *time.Time {
	condition := job.GetCondition(conditionsOf(node), v1alpha1.ReconcilingCondition)
	if begun == nil || node.JobID == node.JobIDFinished || !node.SaysWait() || condition == nil {
		return nil
	}
	if since := condition.LastTransitionTime.Time; since.After(*begun) {
		return &since
	}
	return begun
}

// written is when an object of the job began to wait for those below it.
func (t *Timeline) written(node *inspect.Node) *time.Time {
	if times := timesOf(node); times != nil {
		return t.within(times.WaitTime)
	}
	return nil
}

// within drops times that belong to an earlier job.
func (t *Timeline) within(at *metav1.Time) *time.Time {
	if at == nil || at.Time.Before(t.Start) {
		return nil
	}
	return &at.Time
}

func endOf(node *inspect.Node) *time.Time {
	if node.JobID != node.JobIDFinished || node.FinishTime == nil {
		return nil
	}
	return &node.FinishTime.Time
}

func timesOf(node *inspect.Node) *v1alpha1.TransitionTimes {
	switch {
	case node.Installation != nil:
		return node.Installation.Status.TransitionTimes
	case node.Execution != nil:
		return node.Execution.Status.TransitionTimes
	case node.DeployItem != nil:
		return node.DeployItem.Status.TransitionTimes
	}
	return nil
}

func conditionsOf(node *inspect.Node) []v1alpha1.Condition {
	switch {
	case node.Installation != nil:
		return node.Installation.Status.Conditions
	case node.Execution != nil:
		return node.Execution.Status.Conditions
	case node.DeployItem != nil:
		return node.DeployItem.Status.Conditions
	}
	return nil
}
