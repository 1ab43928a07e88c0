package show

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/picture"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

var graphForms = []string{"text", "dot", "mermaid", "svg", "json"}

// NewGraphCommand returns the command that draws how values flow.
func NewGraphCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	output, ascii := "text", false
	command := &cobra.Command{
		Use:   "graph [NAME]",
		Short: "Show how values flow between Installations",
		Long: `Show which Installation exports what, and which one imports it. Without NAME, the root
Installations of the namespace are shown, with NAME that one and what is inside. What
has failed and what waits stands out.`,
		Example: `  landscaper-cli installations graph
  landscaper-cli inst graph shop -o svg > shop.svg
  landscaper-cli inst graph shop -o dot | dot -Tpng > shop.png`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			if !slices.Contains(graphForms, output) {
				return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use text, dot, mermaid, svg or json", output))
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			snapshot, err := reading.Collect(command.Context(), on.Client, on.Namespace)
			if err != nil {
				return on.Explain(err)
			}
			forest := inspect.Forest(snapshot)
			if len(args) > 0 {
				tree := inspect.Tree(snapshot, on.Namespace, args[0])
				if tree == nil {
					return on.Missing(args[0])
				}
				forest = []*inspect.Node{tree}
			}
			return drawFlow(streams.Out, flowview.Of(forest), output, ascii || streams.ASCII())
		},
		ValidArgsFunction: connection.CompleteInstallations(f, 1),
	}
	f.Add(command)
	command.Flags().StringVarP(&output, "output", "o", output, "text, dot, mermaid, svg or json")
	command.Flags().BoolVar(&ascii, "ascii", false, "draw with ASCII characters")
	terminal.CompleteWith(command, "output", graphForms...)
	terminal.BeStrict(command)
	return command
}

func drawFlow(out io.Writer, scope *flowview.Scope, form string, ascii bool) error {
	switch form {
	case "dot":
		return picture.DOT(out, scope)
	case "mermaid":
		return picture.Mermaid(out, scope)
	case "svg":
		return picture.SVG(out, scope)
	case "json":
		return terminal.WriteJSON(out, scope)
	case "text":
		return picture.Text(out, scope, ascii)
	}
	return errors.New("there is no such form")
}
