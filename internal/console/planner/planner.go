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
	// Previewer returns what previews with the rights of the user.
	Previewer func(context.Context) (*preview.Previewer, error)
	// Explain adds to an error what to do about it; it may be nil.
	Explain func(context.Context, error) error
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
	tree, roots, notes, err := p.read(ctx, namespace, name, "the plan")
	if err != nil {
		return nil, err
	}
	previewer, err := p.Previewer(ctx)
	if err != nil {
		return nil, err // says what was read
	}
	result, err := previewer.Of(ctx, tree, roots)
	if err != nil {
		return nil, p.explain(ctx, err)
	}
	plan := Of(result)
	plan.Notes = append(notes, plan.Notes...)
	return plan, nil
}

// Uninstalls implements console.Planner. Without an answer within a limit, the recorded objects are
// shown.
func (p Planner) Uninstalls(ctx context.Context, namespace, name string) ([]requests.Uninstall, []string, error) {
	tree, roots, notes, err := p.read(ctx, namespace, name, "the preview")
	if err != nil {
		return nil, nil, err
	}
	previewer, err := p.Previewer(ctx)
	if err != nil {
		return nil, nil, err // says what was read
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return previewer.Uninstalls(ctx, tree, roots), notes, nil
}

// Of is a plan for a page. Objects that stay as they are have no place in it.
func Of(result *preview.Result) *console.Plan {
	plan := &console.Plan{Notes: result.Warnings, Follows: result.Follows, Summary: result.Summary.String(), Changes: result.Summary.Changes()}
	for _, waiting := range result.Waiting {
		plan.Waiting = append(plan.Waiting, console.PlanWait{Path: waiting.Path, Reason: waiting.Reason})
	}
	for _, item := range result.Items {
		shown := console.PlanItem{Path: item.Path, Target: item.Target, Action: item.Action, Unknown: item.Unknown}
		for _, change := range item.Changes {
			if change.Action != diff.Keep || change.Reason != "" {
				shown.Objects = append(shown.Objects, objectOf(change))
			}
		}
		if len(shown.Objects) > 0 || item.Unknown != "" || item.Action == diff.Delete {
			plan.Items = append(plan.Items, shown)
		}
	}
	return plan
}

func objectOf(change diff.Change) console.PlanObject {
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
		object.Fields = append(object.Fields, fieldOf(field))
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
