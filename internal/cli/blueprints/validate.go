package blueprints

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/lint"
	"go.landscaper.dev/internal/landscape/plan"
)

const validateHelp = `Check blueprints without rendering them: their fields, schemas and defaults, the
syntax of their templates, the files that they refer to, and the subinstallations
and blueprints in them. "blueprints --help" tells what a SOURCE can be.

What refers to a component is checked if the component is known: by the SOURCE, or by
-c. Otherwise a note tells what was not checked.

With -o json, a list is printed: for each SOURCE whether it is valid, and findings
with severity (error, warning or note), file, line, field and message.`

const validateExamples = `  landscaper-cli blueprints validate ./blueprint
  landscaper-cli blueprints validate --strict -o json ./blueprint ./database.tgz
  landscaper-cli blueprints validate ./blueprint -c registry.example.org/delivery//example.org/shop:1.0.0`

type validateOptions struct {
	sourceFlags
	strict bool
	output string
}

func newValidateCommand(streams terminal.Streams) *cobra.Command {
	o := &validateOptions{}
	command := &cobra.Command{
		Use:     "validate SOURCE...",
		Short:   "Check blueprints",
		Long:    validateHelp,
		Example: validateExamples,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			if o.output != "text" && o.output != outputJSON {
				return terminal.Usage(fmt.Errorf("output format is expected to be text or json but got '%s'", o.output))
			}
			for _, text := range args {
				if err := o.sourceFlags.check(text); err != nil {
					return terminal.Usage(err)
				}
			}
			return o.run(command.Context(), streams, args)
		},
	}
	command.Flags().BoolVar(&o.strict, "strict", false, "take warnings, such as unknown fields, for errors")
	command.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	o.add(command)
	terminal.CompleteWith(command, "output", "text", outputJSON)
	return command
}

// report is what is found out about one blueprint.
type report struct {
	Source   string         `json:"source"`
	Valid    bool           `json:"valid"`
	Findings []lint.Finding `json:"findings"`
}

func (o *validateOptions) run(ctx context.Context, streams terminal.Streams, sources []string) error {
	reports := make([]report, 0, len(sources))
	failed, code := 0, 0
	for _, text := range sources {
		made, err := o.validate(ctx, streams, text)
		if !made.Valid {
			failed++
			code = together(code, exitCode(err))
		}
		reports = append(reports, made)
	}
	if err := o.write(streams, reports); err != nil {
		return err
	}
	if failed > 0 {
		return terminal.Exitf(code, "not valid: %d of %d blueprints", failed, len(reports))
	}
	return nil
}

// exitCode is the code for a blueprint that is not valid: what kept it from being
// read, if anything did.
func exitCode(err error) int {
	if err == nil {
		return terminal.ExitFailed
	}
	return terminal.ExitCode(err, true)
}

// together is the code that all have in common.
func together(code, more int) int {
	if code == 0 || code == more {
		return more
	}
	return terminal.ExitFailed
}

// validate checks one blueprint. The error tells that it could not be read, and is
// among the findings.
func (o *validateOptions) validate(ctx context.Context, streams terminal.Streams, text string) (report, error) {
	made := report{Source: text, Findings: []lint.Finding{}}
	err := o.withFiles(ctx, streams, text, func(ctx context.Context, files fs.FS, component *plan.Component) error {
		checker := lint.Checker{Functions: plan.Functions(nil, clusterFunctions()), Component: component}
		made.Findings = append(made.Findings, checker.Files(ctx, files)...)
		return ctx.Err() // the user gave up
	})
	if err != nil {
		made.Findings = append(made.Findings, lint.Finding{Severity: lint.Error, Message: err.Error()})
	}
	made.Valid = true
	for _, finding := range made.Findings {
		made.Valid = made.Valid && finding.Severity != lint.Error && (finding.Severity != lint.Warning || !o.strict)
	}
	return made, err
}

// withFiles opens the files of a blueprint, which need not be a valid one.
func (o *validateOptions) withFiles(ctx context.Context, streams terminal.Streams, text string, do func(context.Context, fs.FS, *plan.Component) error) error {
	_, _, _, isComponent := repositories.SplitComponent(text)
	if isComponent || repositories.HasScheme(text) {
		return o.with(ctx, streams, text, func(ctx context.Context, s *source) error { return do(ctx, s.blueprint.Files, s.component) })
	}
	return o.withAccess(ctx, streams, func(ctx context.Context, s *source) error {
		if err := o.openDescriptor(ctx, s); err != nil {
			return err
		}
		files, err := readFiles(text)
		if err != nil {
			return err
		}
		return do(ctx, files, s.component)
	})
}

func (o *validateOptions) write(streams terminal.Streams, reports []report) error {
	if o.output == outputJSON {
		return terminal.WriteJSON(streams.Out, reports)
	}
	var text strings.Builder
	for _, made := range reports {
		prefix := ""
		if len(reports) > 1 {
			prefix = made.Source + ": "
		}
		for _, finding := range made.Findings {
			fmt.Fprintf(&text, "%s%s\n", prefix, strings.TrimRight(finding.String(), "\n"))
		}
		if made.Valid {
			fmt.Fprintf(&text, "%sBlueprint validated without errors\n", prefix)
		}
	}
	// The blueprint may be another's, and findings repeat its names.
	_, err := fmt.Fprint(streams.Out, terminal.PrintableLines(text.String()))
	return err // the standard output
}
