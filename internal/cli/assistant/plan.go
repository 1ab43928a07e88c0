package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/preview"
)

const (
	// maxItems and maxObjects bound what a plan names; those that lose something come first.
	maxItems, maxObjects = 200, 500
	// maxLines bounds the lines of a field.
	maxLines = 12
)

// addPlan gives the server the tool that plans.
func (s *server) addPlan(to *mcp.Server) {
	add(to, s.planLimit, mcp.Tool{
		Name: "plan_job", Annotations: reads("Plan a job"),
		Description: "Says what a job of an Installation would change on the target clusters, object by object, by dry runs; nothing is written. Of secret fields it says only that they change. Takes seconds to minutes. Deletions come first.",
	}, func(ctx context.Context, in installation) (planAnswer, error) {
		tree, snapshot, err := s.read(ctx, in)
		if err != nil {
			return planAnswer{}, err
		}
		return s.plan(ctx, tree, snapshot)
	})
}

// planAnswer is what a job would change.
type planAnswer struct {
	Changes bool   `json:"changes" jsonschema:"whether something changes, or may"`
	Summary string `json:"summary"`
	Digest  string `json:"digest,omitempty" jsonschema:"the name of this plan; another plan has another one"`
	// Objects are those that change, and those of which nothing is known.
	Objects     []plannedObject `json:"objects"`
	MoreObjects int             `json:"moreObjects,omitempty" jsonschema:"how many other objects change that the answer has no space for"`
	// Unknown are items of whose objects nothing is known, and Installations that wait for others.
	Unknown    []string `json:"unknown,omitempty" jsonschema:"items and Installations of which nothing is known before the job runs"`
	Follows    []string `json:"follows,omitempty" jsonschema:"other root Installations that get a job because of this one"`
	Warnings   []string `json:"warnings,omitempty"`
	Incomplete []string `json:"incomplete,omitempty" jsonschema:"what could not be read: the plan lacks it"`
}

// plannedObject is an object on a cluster.
type plannedObject struct {
	Action string   `json:"action"`
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	Item   string   `json:"item" jsonschema:"the deploy item, by its path in the blueprints"`
	Target string   `json:"target,omitempty"`
	Note   string   `json:"note,omitempty"`
	Fields []string `json:"fields,omitempty" jsonschema:"the fields that change; - before, + after"`
}

// plan makes one plan at a time.
func (s *server) plan(ctx context.Context, tree *inspect.Node, snapshot inspect.Snapshot) (planAnswer, error) {
	select {
	case s.planning <- struct{}{}:
		defer func() { <-s.planning }()
	case <-ctx.Done():
		return planAnswer{}, fmt.Errorf("wait for another plan: %w", context.Cause(ctx))
	}
	previewer, end := s.previewer()
	defer end()
	result, err := previewer.Of(ctx, tree, inspect.Forest(snapshot))
	if err != nil {
		return planAnswer{}, s.explain(ctx, err)
	}
	out := planned(result)
	out.Incomplete = unreadable(snapshot)
	return out, nil
}

// planned is a plan for an answer.
func planned(result *preview.Result) planAnswer {
	out := planAnswer{
		Changes: result.Summary.Changes(), Summary: result.Summary.String(), Digest: result.Digest, Objects: []plannedObject{},
		Follows: notes(result.Follows), Warnings: notes(result.Warnings),
	}
	type change struct {
		diff.Change
		item preview.Item
	}
	var all []change
	for _, item := range result.Items {
		if item.Unknown != "" && len(out.Unknown) < maxItems {
			out.Unknown = append(out.Unknown, shown(item.Path+": "+item.Unknown))
		}
		for _, one := range item.Changes {
			if one.Action != diff.Keep || one.Reason != "" {
				all = append(all, change{one, item})
			}
		}
	}
	for _, waiting := range result.Waiting[:min(len(result.Waiting), maxItems)] {
		out.Unknown = append(out.Unknown, shown(waiting.Path+": "+waiting.Reason))
	}
	// What an attacker or an accident adds must not push out of sight what is lost.
	slices.SortStableFunc(all, func(a, b change) int { return severity(a.Action) - severity(b.Action) })
	out.MoreObjects = max(0, len(all)-maxObjects)
	left := newBudget()
	for _, one := range all[:len(all)-out.MoreObjects] {
		out.Objects = append(out.Objects, plannedOf(one.Change, one.item, left))
	}
	return out
}

// severity orders changes: what loses data comes first.
func severity(action diff.Action) int {
	return slices.Index([]diff.Action{diff.Delete, diff.Replace, diff.Unknown, diff.Move, diff.Update, diff.Create, diff.Keep}, action)
}

// plannedOf names an object in any case, and its fields as long as there is space.
func plannedOf(change diff.Change, item preview.Item, left *budget) plannedObject {
	name := change.Name
	if change.Namespace != "" {
		name = change.Namespace + "/" + name
	}
	out := plannedObject{
		Action: string(change.Action), Kind: left.text(change.Kind), Name: left.text(name), Item: left.text(item.Path),
		Target: left.text(item.Target), Note: left.text(noteOf(change)),
	}
	for i, field := range change.Fields {
		if !left.entry() {
			return withMore(out, len(change.Fields)-i, "fields")
		}
		for _, line := range fieldLines(change.Action, field) {
			out.Fields = append(out.Fields, left.text(line))
		}
	}
	return out
}

func withMore(object plannedObject, count int, what string) plannedObject {
	object.Fields = append(object.Fields, fmt.Sprintf("… and %d more %s", count, what))
	return object
}

func noteOf(change diff.Change) string {
	var parts []string
	if change.Cluster != "" {
		parts = append(parts, "on the earlier cluster "+change.Cluster)
	}
	if change.MovesFrom != "" {
		parts = append(parts, "moves from item "+change.MovesFrom+" to item "+change.MovesTo)
	}
	if change.Reason != "" {
		parts = append(parts, change.Reason)
	}
	return strings.Join(parts, "; ")
}

// fieldLines says in a few lines how a field changes.
func fieldLines(action diff.Action, field diff.Field) []string {
	switch {
	case field.Secret && (action == diff.Update || action == diff.Replace):
		return []string{field.Path + ": (secret, changed)"}
	case field.Secret:
		return []string{field.Path + ": (secret)"}
	}
	var before, after []string
	if field.Before != nil {
		before = diff.TextLines(field.Before)
	}
	if field.After != nil {
		after = diff.TextLines(field.After)
	}
	if len(before) == 1 && len(after) == 1 {
		return []string{field.Path + ": " + cut(before[0], maxText/3) + " → " + cut(after[0], maxText/3)}
	}
	lines := []string{field.Path + ":"}
	steps := diff.Lines(before, after)
	for i, step := range steps {
		if i == maxLines {
			return append(lines, fmt.Sprintf("… and %d more lines", len(steps)-i))
		}
		sign := "+ "
		if step.Action == diff.Delete {
			sign = "- "
		}
		lines = append(lines, sign+step.Text)
	}
	return lines
}
