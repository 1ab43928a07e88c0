// Package planner shows on the pages of a console what the command line prints: the plan of a job, and
// what a deletion takes away.
package planner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/landscape/requests"
	"go.landscaper.dev/internal/preview"
)

// askTimeout is how long the clusters may take to say which objects a deletion removes.
const askTimeout = 30 * time.Second

// Planner implements console.Planner.
type Planner struct {
	// Reader reads with the rights of the user.
	Reader client.Reader
	// Previewer returns what previews with the rights of the user, for one preview, and what ends it.
	Previewer func(context.Context) (*preview.Previewer, func())
	// Explain adds to an error what to do about it; it may be nil.
	Explain func(context.Context, error) error
	// Within bounds what is done under a context; it may be nil.
	Within func(context.Context) context.Context
	// Limit is how long a plan may take; 0 is no limit besides that of the console.
	Limit time.Duration
}

func (p Planner) explain(ctx context.Context, err error) error {
	if p.Explain == nil || err == nil {
		return err
	}
	return p.Explain(ctx, err)
}

// read returns an Installation with all that belongs to it, the roots of its namespace, and what could
// not be read.
func (p Planner) read(ctx context.Context, namespace, name, what string) (tree *inspect.Node, roots []*inspect.Node, notes []string, err error) {
	snapshot, err := reading.Collect(ctx, p.Reader, namespace)
	if err != nil {
		return nil, nil, nil, p.explain(ctx, err)
	}
	if tree = inspect.Tree(snapshot, namespace, name); tree == nil {
		return nil, nil, nil, fmt.Errorf("there is no Installation %s in namespace %s", name, namespace)
	}
	for _, unreadable := range snapshot.Unreadable {
		notes = append(notes, what+" is not complete: "+unreadable.Error())
	}
	return tree, inspect.Forest(snapshot), notes, nil
}

// Plan implements console.Planner.
func (p Planner) Plan(ctx context.Context, namespace, name string) (*console.Plan, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	tree, roots, notes, err := p.read(ctx, namespace, name, "the plan")
	if err != nil {
		return nil, err
	}
	previewer, end := p.Previewer(ctx)
	defer end()
	result, err := previewer.Of(ctx, tree, roots)
	if err != nil {
		return nil, p.explain(ctx, err)
	}
	plan := Of(result)
	plan.Notes = append(notes, plan.Notes...)
	return plan, nil
}

func (p Planner) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Within != nil {
		ctx = p.Within(ctx)
	}
	if p.Limit > 0 {
		return context.WithTimeout(ctx, p.Limit)
	}
	return ctx, func() {}
}

// Uninstalls implements console.Planner. Without an answer within a limit, the recorded objects are
// shown.
func (p Planner) Uninstalls(ctx context.Context, namespace, name string) ([]requests.Uninstall, []string, error) {
	tree, roots, notes, err := p.read(ctx, namespace, name, "the preview")
	if err != nil {
		return nil, nil, err
	}
	previewer, end := p.Previewer(ctx)
	defer end()
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, askTimeout)
	defer stop()
	return previewer.Uninstalls(ctx, tree, roots), notes, nil
}

// maxText bounds the values that a page shows of a plan; all objects are named.
const maxText = 2 << 20

// Of is a plan for a page. Objects that stay as they are have no place in it.
func Of(result *preview.Result) *console.Plan {
	plan := &console.Plan{Notes: result.Warnings, Follows: result.Follows, Summary: result.Summary.String(), Changes: result.Summary.Changes(), Digest: result.Digest}
	for _, waiting := range result.Waiting {
		plan.Waiting = append(plan.Waiting, console.PlanWait{Path: waiting.Path, Reason: waiting.Reason})
	}
	left := maxText
	for _, item := range result.Items {
		shown := console.PlanItem{Path: item.Path, Target: item.Target, Action: item.Action, Unknown: item.Unknown}
		for _, change := range item.Changes {
			if change.Action != diff.Keep || change.Reason != "" {
				shown.Objects = append(shown.Objects, objectOf(change, &left))
			}
		}
		if len(shown.Objects) > 0 || item.Unknown != "" || item.Action == diff.Delete {
			plan.Items = append(plan.Items, shown)
		}
	}
	if left <= 0 {
		plan.Notes = append(plan.Notes, "The plan is too large for a page, which does not show all fields: landscaper-cli installations plan does.")
	}
	return plan
}

// objectOf is an object for a page, with as many of its fields as fit.
func objectOf(change diff.Change, left *int) console.PlanObject {
	object := console.PlanObject{Action: change.Action, Kind: change.Kind, Name: change.Name, Cluster: change.Cluster, Note: change.Reason}
	if change.Namespace != "" {
		object.Name = change.Namespace + "/" + change.Name
	}
	switch change.Action {
	case diff.Keep:
		object.Note = "stays, " + change.Reason
	case diff.Move:
		object.Note = fmt.Sprintf("moves from deploy item %s to deploy item %s", change.MovesFrom, change.MovesTo)
	}
	for _, field := range change.Fields {
		shown := fieldOf(field)
		*left -= sizeOf(shown)
		if *left <= 0 {
			break
		}
		object.Fields = append(object.Fields, shown)
	}
	return object
}

func fieldOf(field diff.Field) console.PlanField {
	shown := console.PlanField{Path: field.Path, Secret: field.Secret, Action: diff.Update}
	switch {
	case field.Before == nil:
		shown.Action = diff.Create
	case field.After == nil:
		shown.Action = diff.Delete
	}
	if field.Secret {
		return shown
	}
	shown.Lines = diff.Lines(linesOf(field.Before), linesOf(field.After))
	return shown
}

// linesOf are the lines of a value; none if there is no value.
func linesOf(value any) []string {
	if value == nil {
		return nil
	}
	lines := diff.TextLines(value)
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// sizeOf is about how many bytes a field takes.
func sizeOf(field console.PlanField) int {
	const around = 32
	size := around + len(field.Path)
	for _, line := range field.Lines {
		size += around + len(line.Text)
	}
	return size
}
