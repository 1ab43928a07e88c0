package blueprints

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/plan"
)

const renderHelp = `Render the deploy items and subinstallations of a blueprint, without a cluster.

SOURCE is the directory of a blueprint, an archive of one (tar, compressed or
not), or a component version REPOSITORY//NAME:VERSION whose blueprint is meant.

Subinstallations are rendered, too, and so are theirs. One that imports what
another one exports can only be rendered if the exports are given: -e names a file
that says what the deploy items export, and the exports of all Installations are
worked out from that.

KINDS is a list of deploy items (di), subinstallations (inst), imports and exports;
all is the default.`

const renderExamples = `  # What does this blueprint deploy with these imports?
  landscaper-cli blueprints render ./blueprint -f imports.yaml

  # The same for a blueprint in a registry, as files
  landscaper-cli blueprints render registry.example.org/delivery//example.org/shop:1.4.2 -f imports.yaml -w out

  # The whole tree with the data that flows through it
  landscaper-cli blueprints render ./blueprint -f imports.yaml -e exports.yaml`

type renderOptions struct {
	registry    repositories.Flags
	imports     []string
	descriptor  string
	additional  []string
	resources   string
	simulation  string
	output      string
	directory   string
	resource    string
	kinds       kinds
	simulations *simulation
}

func newRenderCommand(streams terminal.Streams) *cobra.Command {
	o := &renderOptions{}
	command := &cobra.Command{
		Use:     "render SOURCE [KINDS]",
		Short:   "Render deploy items, subinstallations and exports",
		Long:    renderHelp,
		Example: renderExamples,
		Args:    terminal.Arguments(cobra.RangeArgs(1, 2)),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return terminal.Usage(err)
			}
			return o.run(command.Context(), streams, args[0])
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&o.imports, "file", "f", nil, "`file` with the imports: a map imports of names and values; of several files the later one wins")
	flags.StringVarP(&o.descriptor, "component-descriptor", "c", "", "`file` with the descriptor of the component that the blueprint belongs to")
	flags.StringArrayVarP(&o.additional, "additional-component-descriptor", "a", nil, "`file` with the descriptor of a component that is referred to")
	flags.StringVarP(&o.resources, "resources", "r", "", "`file` with further resources of the component (needs -c)")
	flags.StringVar(&o.resource, "resource", "", "name of the blueprint among the resources of the component version, if it has several")
	flags.StringVarP(&o.simulation, "export-templates", "e", "", "`file` that says what deploy items or Installations export")
	flags.StringVarP(&o.output, "output", "o", "yaml", "yaml or json; or a directory, like -w")
	flags.StringVarP(&o.directory, "write", "w", "", "write files below this `directory` instead of one stream")
	o.registry.Add(command)
	terminal.CompleteWith(command, "output", "yaml", "json")
	return command
}

// complete checks the flags and reads the files that they name.
func (o *renderOptions) complete(args []string) error {
	switch o.output {
	case "yaml", "json":
	case "-":
		o.output = "yaml"
	default:
		if o.directory != "" || !isDirectory(o.output) {
			return fmt.Errorf("output format is expected to be json or yaml but got '%s' (a directory to write files to ends with /)", o.output)
		}
		o.directory, o.output = o.output, "yaml"
	}
	if o.resources != "" && o.descriptor == "" {
		return errors.New("if you specify a resources yaml file (option -r) you must also specify a component descriptor (option -c)")
	}
	var err error
	if o.simulation != "" {
		if o.simulations, err = readSimulation(o.simulation); err != nil {
			return err
		}
	}
	o.kinds, err = parseKinds(args[1:], o.simulations != nil)
	return err
}

// isDirectory tells whether a value of -o means a directory.
func isDirectory(text string) bool {
	if strings.ContainsAny(text, `/\`) {
		return true
	}
	info, err := os.Stat(text)
	return err == nil && info.IsDir()
}

func (o *renderOptions) run(ctx context.Context, streams terminal.Streams, text string) error {
	from, err := o.open(ctx, streams, text)
	if err != nil {
		return err
	}
	defer from.close()
	root, err := o.root(streams, from)
	if err != nil {
		return err
	}
	tree := &plan.Tree{Open: from.child}
	if o.simulations != nil {
		tree.Simulation = o.simulations
	}
	node, err := tree.Grow(ctx, root)
	if err != nil {
		return from.access.Explain(ctx, hinted(err)) //nolint:wrapcheck // names the Installation
	}
	reportWarnings(streams, node)
	return o.write(streams, node)
}

// hinted says how imports are given on the command line.
func hinted(err error) error {
	var wrong *dataflow.Error
	if errors.As(err, &wrong) && wrong.Reason == dataflow.ImportNotFound {
		return fmt.Errorf("%w\n(here imports are given with -f: a file with a map imports)", err)
	}
	return err
}

// reportWarnings tells what is probably not meant, and what could not be rendered.
func reportWarnings(streams terminal.Streams, node *plan.Node) {
	warnings := node.Plan.Warnings
	if node.Exports != nil {
		warnings = append(warnings[:len(warnings):len(warnings)], node.Exports.Warnings...)
	}
	for _, warning := range warnings {
		fmt.Fprintf(streams.Err, "Warning: %s: %s\n", node.Path, warning)
	}
	for _, waiting := range node.Waiting {
		fmt.Fprintf(streams.Err, "Warning: %s is not rendered, because it imports what others export (say with -e what their deploy items export): %s\n",
			waiting.Path, missing(waiting.Reason))
	}
	for _, child := range node.Nodes {
		reportWarnings(streams, child)
	}
}

// missing lists the names that nobody exports.
func missing(err error) string {
	var names []string
	for _, one := range unjoined(err) {
		var absent *dataflow.MissingError
		if errors.As(one, &absent) {
			names = append(names, absent.Object.Written)
		}
	}
	return strings.Join(names, ", ")
}

func unjoined(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // it is looked at, not for something in it
		return joined.Unwrap()
	}
	return []error{err}
}

// kinds are what is to be shown.
type kinds map[string]bool

const (
	kindDeployItems      = "deployitems"
	kindSubinstallations = "subinstallations"
	kindImports          = "imports"
	kindExports          = "exports"
)

var kindNames = map[string]string{
	kindDeployItems: kindDeployItems, "di": kindDeployItems,
	kindSubinstallations: kindSubinstallations, "subinst": kindSubinstallations, "inst": kindSubinstallations,
	kindImports: kindImports, kindExports: kindExports,
}

// parseKinds reads KINDS. Imports and exports of a tree are shown by default only
// where exports are known.
func parseKinds(args []string, simulated bool) (kinds, error) {
	chosen := kinds{}
	all := "all"
	for _, arg := range append(args, all)[:1] {
		for name := range strings.SplitSeq(arg, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			kind, known := kindNames[name]
			switch {
			case known:
				chosen[kind] = true
			case name == all:
				chosen[kindDeployItems], chosen[kindSubinstallations] = true, true
				chosen[kindImports], chosen[kindExports] = simulated, simulated
			default:
				return nil, fmt.Errorf("unknown resource '%s': choose from all, deployitems (di), subinstallations (subinst, inst), imports, exports", name)
			}
		}
	}
	if chosen[kindExports] && !simulated {
		return nil, errors.New("exports can only be worked out if -e says what the deploy items export")
	}
	return chosen, nil
}
