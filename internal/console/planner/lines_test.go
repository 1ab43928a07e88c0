package planner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/diff"
)

// TestLines: two plans are compared by all that a page shows of them.
func TestLines(t *testing.T) {
	plan := &console.Plan{
		Summary: "1 to change", Follows: []string{"reports"}, Waiting: []console.PlanWait{{Path: "shop/late", Reason: "it imports url"}},
		Items: []console.PlanItem{
			{Path: "shop/web", Target: "eu", Objects: []console.PlanObject{
				{Action: diff.Update, Kind: "ConfigMap", Name: "n/web", Fields: []console.PlanField{
					{Path: "data.a", Action: diff.Update, Lines: []diff.Line{{Action: diff.Delete, Text: "1"}, {Action: diff.Create, Text: "2"}}},
					{Path: "data.b", Action: diff.Update, Secret: true},
				}},
				{Action: diff.Keep, Kind: "Service", Name: "n/web", Cluster: "us", Note: "stays, for others"},
			}},
			{Path: "shop/old", Action: diff.Delete, Unknown: "its cluster does not answer"},
		},
	}
	want := []string{
		"shop/web on eu", "  update ConfigMap n/web", "    data.a: - 1", "    data.a: + 2", "    data.b: secret, update",
		"  keep Service n/web on the earlier cluster us: stays, for others",
		"shop/old: the item goes", "  not known: its cluster does not answer",
		"The Installation reports gets a job, too", "shop/late is known only when the job runs: it imports url", "1 to change",
	}
	if diff := cmp.Diff(want, Lines(plan)); diff != "" {
		t.Error(diff)
	}
}
