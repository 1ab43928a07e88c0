package planner

import (
	"fmt"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/diff"
)

// Lines are a plan in lines, by which two are compared.
func Lines(plan *console.Plan) []string {
	var lines []string
	for _, item := range plan.Items {
		heading := item.Path
		if item.Target != "" {
			heading += " on " + item.Target
		}
		if item.Action == diff.Delete {
			heading += ": the item goes"
		}
		lines = append(lines, heading)
		if item.Unknown != "" {
			lines = append(lines, "  not known: "+item.Unknown)
		}
		for _, object := range item.Objects {
			lines = append(lines, linesOfObject(object)...)
		}
	}
	for _, name := range plan.Follows {
		lines = append(lines, "The Installation "+name+" gets a job, too")
	}
	for _, waiting := range plan.Waiting {
		lines = append(lines, waiting.Path+" is known only when the job runs: "+waiting.Reason)
	}
	return append(lines, plan.Summary)
}

func linesOfObject(object console.PlanObject) []string {
	line := fmt.Sprintf("  %s %s %s", object.Action, object.Kind, object.Name)
	if object.Cluster != "" {
		line += " on the earlier cluster " + object.Cluster
	}
	if object.Note != "" {
		line += ": " + object.Note
	}
	lines := []string{line}
	for _, field := range object.Fields {
		if field.Secret {
			lines = append(lines, fmt.Sprintf("    %s: secret, %s", field.Path, field.Action))
			continue
		}
		for _, text := range field.Lines {
			sign := "+ "
			if text.Action == diff.Delete {
				sign = "- "
			}
			lines = append(lines, "    "+field.Path+": "+sign+text.Text)
		}
	}
	return lines
}
