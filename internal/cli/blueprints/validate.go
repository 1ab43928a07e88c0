package blueprints

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/blueprint/check"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/plan"
)

const validateHelp = `Check blueprints without rendering them: their fields, schemas and defaults, the
syntax of their templates, the files that they refer to, and the subinstallations
and blueprints in them.

SOURCE is the directory of a blueprint, or an archive of one.`

type validateOptions struct {
	strict bool
	output string
}

func newValidateCommand(streams terminal.Streams) *cobra.Command {
	o := &validateOptions{}
	command := &cobra.Command{
		Use:     "validate SOURCE...",
		Short:   "Check blueprints",
		Long:    validateHelp,
		Example: "  landscaper-cli blueprints validate ./blueprint\n  landscaper-cli blueprints validate --strict -o json ./blueprint",
		Args:    terminal.Arguments(cobra.MinimumNArgs(1)),
		RunE: func(command *cobra.Command, args []string) error {
			if o.output != "" && o.output != "json" {
				return terminal.Usage(fmt.Errorf("output format is expected to be json but got '%s'", o.output))
			}
			return o.run(command.Context(), streams, args)
		},
	}
	command.Flags().BoolVar(&o.strict, "strict", false, "take warnings, such as unknown fields, for errors")
	command.Flags().StringVarP(&o.output, "output", "o", "", "json (default: a text)")
	terminal.CompleteWith(command, "output", "json")
	return command
}

// report is what is found out about one blueprint.
type report struct {
	Source   string          `json:"source"`
	Valid    bool            `json:"valid"`
	Findings []check.Finding `json:"findings"`
}

func (o *validateOptions) run(ctx context.Context, streams terminal.Streams, sources []string) error {
	reports := make([]report, 0, len(sources))
	failed := 0
	for _, source := range sources {
		made := o.check(ctx, source)
		if !made.Valid {
			failed++
		}
		reports = append(reports, made)
	}
	if o.output == "json" {
		text, err := json.MarshalIndent(reports, "", "  ")
		if err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		fmt.Fprintf(streams.Out, "%s\n", text)
	} else {
		writeReports(streams, reports)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d blueprints are not valid", failed, len(reports))
	}
	return nil
}

func (o *validateOptions) check(ctx context.Context, source string) report {
	made := report{Source: source, Findings: []check.Finding{}}
	loaded, err := readBlueprint(source)
	if err != nil {
		made.Findings = append(made.Findings, check.Finding{Severity: check.Error, Message: err.Error()})
		return made
	}
	made.Findings = append(made.Findings, check.Checker{Functions: plan.Functions(nil, clusterFunctions())}.Blueprint(ctx, loaded)...)
	made.Valid = true
	for _, finding := range made.Findings {
		made.Valid = made.Valid && finding.Severity == check.Warning && !o.strict
	}
	return made
}

func writeReports(streams terminal.Streams, reports []report) {
	for _, made := range reports {
		prefix := ""
		if len(reports) > 1 {
			prefix = made.Source + ": "
		}
		for _, finding := range made.Findings {
			fmt.Fprintf(streams.Out, "%s%s\n", prefix, finding)
		}
		if made.Valid {
			fmt.Fprintf(streams.Out, "%sBlueprint validated without errors\n", prefix)
		}
	}
}
