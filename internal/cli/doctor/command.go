// Package doctor has the command that checks a whole set-up.
package doctor

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/doctor/diagnosis"
	"go.landscaper.dev/internal/cli/terminal"
)

type flags struct {
	connection.Flags
	tokens        connection.TokenFlag
	allNamespaces bool
	output        string
	noColor       bool
	ascii         bool
}

// NewCommand returns the command.
func NewCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check a whole set-up, and say what to do about each finding",
		Long: `Check a whole set-up: the API server and its definitions, your permissions, the clocks,
whether controllers and deployers pick up their jobs, whether the clusters
of Targets answer, deletions that are stuck, and jobs that have failed. Each finding
comes with what to do about it. Nothing is changed.

The command ends with code 1 if it finds a problem; warnings do not count.`,
		Example: `  landscaper-cli doctor -n shop
  landscaper-cli doctor -A -o json`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			if f.output != "" && f.output != "json" {
				return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use json", f.output))
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			scope := on.Namespace
			if f.allNamespaces {
				scope = ""
			}
			facts, err := gather(command.Context(), on, &f.tokens, scope)
			if err != nil {
				return on.Explain(err)
			}
			facts.Now = time.Now()
			return f.print(streams, diagnosis.Judge(facts))
		},
	}
	f.Add(command)
	f.tokens.Add(command)
	command.Flags().BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "look at all namespaces")
	command.Flags().StringVarP(&f.output, "output", "o", "", "json (default: a text)")
	command.Flags().BoolVar(&f.noColor, "no-color", false, "do not colour the output of a terminal")
	command.Flags().BoolVar(&f.ascii, "ascii", false, "write with ASCII characters")
	terminal.CompleteWith(command, "output", "json")
	terminal.BeStrict(command)
	return command
}

var marks = map[diagnosis.Severity]struct {
	symbol, ascii string
	color         int
}{
	diagnosis.OK: {"✅", "ok     ", 32}, diagnosis.Warning: {"⚠️ ", "warning", 33}, diagnosis.Problem: {"❌", "problem", 31},
}

func (f *flags) print(streams terminal.Streams, findings []diagnosis.Finding) error {
	problems := 0
	for _, finding := range findings {
		if finding.Severity == diagnosis.Problem {
			problems++
		}
	}
	if f.output == "json" {
		if err := terminal.WriteJSON(streams.Out, findings); err != nil {
			return err
		}
	} else {
		f.printText(streams, findings)
	}
	if problems > 0 {
		return terminal.Exitf(terminal.ExitFailed, "problems found: %d", problems)
	}
	return nil
}

// shownOfEach is how many findings of a check are shown to people: a thousand that say
// the same hide what else there is.
const shownOfEach = 10

func (f *flags) printText(streams terminal.Streams, findings []diagnosis.Finding) {
	count := map[string]int{}
	for i, finding := range findings {
		if count[finding.Check]++; count[finding.Check] > shownOfEach {
			if i+1 == len(findings) || findings[i+1].Check != finding.Check {
				fmt.Fprintf(streams.Out, "   and %d more of %s: landscaper-cli doctor -o json shows all\n", count[finding.Check]-shownOfEach, finding.Check)
			}
			continue
		}
		mark := marks[finding.Severity]
		symbol := mark.symbol
		if f.ascii || streams.ASCII() {
			symbol = mark.ascii
		}
		text := terminal.OneLine(finding.Message)
		if streams.Color() && !f.noColor && finding.Severity != diagnosis.OK {
			text = fmt.Sprintf("\x1b[%dm%s\x1b[0m", mark.color, text)
		}
		fmt.Fprintf(streams.Out, "%s %s: %s\n", symbol, finding.Check, text)
		if finding.Remedy != "" {
			fmt.Fprintf(streams.Out, "   %s\n", finding.Remedy)
		}
	}
}
