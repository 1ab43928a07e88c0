package planner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

// TestOf: a page shows what changes, with lines; what stays is counted only, and of secrets there is no
// line.
func TestOf(t *testing.T) {
	result := &preview.Result{
		Warnings: []string{"unknown field"}, Follows: []string{"reports"}, Waiting: []preview.Waiting{{Path: "shop/web", Reason: "later"}},
		Summary: diff.Summary{Update: 1, Keep: 3},
		Items: []preview.Item{
			{Path: "shop/quiet", Action: diff.Update, Changes: []diff.Change{{Action: diff.Keep, Kind: "ConfigMap", Name: "same"}}},
			{Path: "shop/old", Action: diff.Delete},
			{Path: "shop/away", Unknown: "no answer"},
			{Path: "shop/db", Target: "edge", Action: diff.Update, Changes: []diff.Change{
				{Action: diff.Update, Kind: "Deployment", Namespace: "n", Name: "db", Fields: []diff.Field{
					{Path: "spec.replicas", Before: 1, After: 3},
					{Path: "spec.text", Before: "a\nb\r\n", After: "a\nc"},
					{Path: "data.key", Before: "(secret)", After: "(secret)", Secret: true},
					{Path: "data.new", After: "(secret)", Secret: true},
					{Path: "data.gone", Before: "x"},
				}},
				{Action: diff.Move, Kind: "Service", Name: "s", MovesFrom: "shop/a", MovesTo: "shop/b"},
				{Action: diff.Keep, Kind: "Volume", Name: "v", Reason: "because it says so"},
				{Action: diff.Delete, Kind: "Job", Name: "j", Cluster: "https://old"},
			}},
		},
	}
	line := func(action diff.Action, text string) diff.Line { return diff.Line{Action: action, Text: text} }
	want := &console.Plan{
		Notes: []string{"unknown field"}, Follows: []string{"reports"}, Waiting: []console.PlanWait{{Path: "shop/web", Reason: "later"}},
		Summary: result.Summary.String(), Changes: true,
		Items: []console.PlanItem{
			{Path: "shop/old", Action: diff.Delete},
			{Path: "shop/away", Unknown: "no answer"},
			{Path: "shop/db", Target: "edge", Action: diff.Update, Objects: []console.PlanObject{
				{Action: diff.Update, Kind: "Deployment", Name: "n/db", Fields: []console.PlanField{
					{Path: "spec.replicas", Action: diff.Update, Lines: []diff.Line{line(diff.Delete, "1"), line(diff.Create, "3")}},
					{Path: "spec.text", Action: diff.Update, Lines: []diff.Line{line(diff.Delete, "b"), line(diff.Create, "c")}},
					{Path: "data.key", Secret: true, Action: diff.Update},
					{Path: "data.new", Secret: true, Action: diff.Create},
					{Path: "data.gone", Action: diff.Delete, Lines: []diff.Line{line(diff.Delete, "x")}},
				}},
				{Action: diff.Move, Kind: "Service", Name: "s", Note: "moves from deploy item shop/a to deploy item shop/b"},
				{Action: diff.Keep, Kind: "Volume", Name: "v", Note: "stays, because it says so"},
				{Action: diff.Delete, Kind: "Job", Name: "j", Cluster: "https://old"},
			}},
		},
	}
	if diff := cmp.Diff(want, Of(result)); diff != "" {
		t.Error(diff)
	}
}

// TestLargePlan: a page is sent no more than it can show, and says so. Objects are named all the same.
func TestLargePlan(t *testing.T) {
	result := &preview.Result{}
	for range 300 {
		result.Items = append(result.Items, preview.Item{Path: "shop/large", Action: diff.Update, Changes: []diff.Change{
			{Action: diff.Update, Kind: "ConfigMap", Name: "c", Fields: []diff.Field{{Path: "data.a", Before: strings.Repeat("x", 20_000), After: "y"}}},
		}})
	}
	plan := Of(result)
	shown, objects := 0, 0
	for _, item := range plan.Items {
		for _, object := range item.Objects {
			objects++
			for _, field := range object.Fields {
				shown += sizeOf(field)
			}
		}
	}
	if objects != 300 || shown > maxText || shown < maxText/2 || len(plan.Notes) != 1 {
		t.Errorf("%d objects with %d bytes of fields, notes %q", objects, shown, plan.Notes)
	}
}
