package blueprints

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
)

const renderHelp = `Render the deploy items and subinstallations of a blueprint, without a cluster.
"blueprints --help" tells what a SOURCE can be.

Subinstallations are rendered, too, and so are theirs. One that imports what
another one exports can only be rendered if the exports are given: -e names a file
that says what the deploy items export, and the exports of all Installations are
worked out from that.

KINDS is a list of deployitems (di), subinstallations (subinst, inst), imports and
exports; all is the default. Exports, and imports by default, are shown with -e only.

Results go to the standard output, or with -w to files; warnings and progress go to
the standard error. The configurations of imported and exported Targets are not
shown unless --show-sensitive is given.`

const renderExamples = `  # What does this blueprint deploy with these imports?
  landscaper-cli blueprints render ./blueprint -f imports.yaml

  # The same for a blueprint in a registry, as files
  landscaper-cli blueprints render registry.example.org/delivery//example.org/shop:1.0.0 -f imports.yaml -w out

  # A local blueprint that refers to what its published component has
  landscaper-cli blueprints render ./blueprint -c registry.example.org/delivery//example.org/shop:1.0.0 -f imports.yaml

  # The whole tree with the data that flows through it
  landscaper-cli blueprints render ./blueprint -f imports.yaml -e exports.yaml`

// The values of -o.
const (
	outputYAML = "yaml"
	outputJSON = "json"
)

type renderOptions struct {
	sourceFlags
	imports   []string
	exports   string
	output    string
	directory string
	quiet     bool
	sensitive bool
	// named is what blueprints.namedTargets is for a server.
	named bool

	streams    terminal.Streams
	kinds      kinds
	simulation *simulation
	// inputs are what each Installation of the tree consists of.
	inputs map[*v1alpha1.Installation]plan.Input
}

func newRenderCommand(streams terminal.Streams) *cobra.Command {
	o := &renderOptions{streams: streams, inputs: map[*v1alpha1.Installation]plan.Input{}}
	command := &cobra.Command{
		Use:               "render SOURCE [KINDS]",
		Short:             "Render deploy items, subinstallations and exports",
		Long:              renderHelp,
		Example:           renderExamples,
		Args:              terminal.Arguments(commandline.Arguments),
		ValidArgsFunction: completeRender,
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return terminal.Usage(err)
			}
			return o.with(command.Context(), streams, args[0], o.run)
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&o.imports, "file", "f", nil, "`file` with the imports: a map imports of names and values; may be repeated, the later one wins for each name")
	flags.StringVarP(&o.exports, "export-templates", "e", "", "`file` that says what deploy items or Installations export; the whole tree is worked out")
	flags.StringVarP(&o.output, "output", "o", outputYAML, "yaml or json; or a directory that ends with /, like -w")
	flags.StringVarP(&o.directory, "write", "w", "", "write files below this `directory` instead of one stream")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	flags.BoolVar(&o.sensitive, "show-sensitive", false, "show the configurations of Targets in imports and exports")
	flags.BoolVar(&o.named, "named-targets", false, "blueprints may name every Target and Secret, as where the server has blueprints.namedTargets")
	o.add(command)
	terminal.CompleteWith(command, "output", outputYAML, outputJSON)
	return command
}

// complete checks the flags and reads the file of -e.
func (o *renderOptions) complete(args []string) error {
	if err := o.completeOutput(); err != nil {
		return err
	}
	if err := o.check(args[0]); err != nil {
		return err
	}
	if o.exports != "" {
		read, err := readExports(o.exports)
		if err != nil {
			return err
		}
		o.simulation = &simulation{exportFile: read, say: o.say, input: func(inst *v1alpha1.Installation) plan.Input { return o.inputs[inst] }}
	}
	text := kindAll
	if len(args) > 1 {
		text = args[1]
	}
	var err error
	o.kinds, err = parseKinds(text, o.simulation != nil)
	return err
}

func (o *renderOptions) completeOutput() error {
	switch o.output {
	case outputYAML, outputJSON:
		return nil
	case "-":
		o.output = outputYAML
		return nil
	}
	if !isDirectory(o.output) {
		return fmt.Errorf("output format is expected to be json or yaml but got '%s' (a directory to write files to ends with /)", o.output)
	}
	if o.directory != "" {
		return fmt.Errorf("-o %s and -w %s both name a directory: give one of them", o.output, o.directory)
	}
	o.directory, o.output = o.output, outputYAML
	return nil
}

// isDirectory tells whether a value of -o means a directory.
func isDirectory(text string) bool {
	if strings.ContainsAny(text, `/\`) {
		return true
	}
	info, err := os.Stat(text)
	return err == nil && info.IsDir()
}

// say tells what is done.
func (o *renderOptions) say(text string) {
	if !o.quiet {
		fmt.Fprintln(o.streams.Err, text)
	}
}

func (o *renderOptions) run(ctx context.Context, from *source) error {
	root, err := o.root(from)
	if err != nil {
		return err
	}
	tree := &plan.Tree{Maker: foreign.Renderers(ctx).Plans(), Open: func(ctx context.Context, parent plan.Input, inst *v1alpha1.Installation) (plan.Input, error) {
		return o.child(ctx, from, parent, inst)
	}}
	if o.simulation != nil {
		tree.Simulation = o.simulation
	}
	node, err := tree.Grow(ctx, root)
	if err != nil {
		if o.simulation != nil {
			return o.simulation.explain(err)
		}
		return err // names the Installation
	}
	o.warn(node)
	return o.write(node)
}

// root returns what the tree begins with.
func (o *renderOptions) root(from *source) (plan.Input, error) {
	inst := &v1alpha1.Installation{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation"},
		ObjectMeta: metav1.ObjectMeta{Name: rootName, Namespace: namespace},
		Spec:       v1alpha1.InstallationSpec{Context: v1alpha1.DefaultContextName, ComponentDescriptor: from.definition},
	}
	inst.Spec.Blueprint.Reference = from.reference
	imports, err := readImports(o.streams, o.imports, from.blueprint.Info.Imports)
	if err != nil {
		return plan.Input{}, terminal.Usage(err)
	}
	in := plan.Input{Installation: inst, Blueprint: from.blueprint, Component: from.component, Imports: imports, Functions: clusterFunctions(), NamedTargets: o.named}
	o.inputs[inst] = in
	return in, nil
}

// child opens what a subinstallation consists of.
func (o *renderOptions) child(ctx context.Context, from *source, parent plan.Input, inst *v1alpha1.Installation) (plan.Input, error) {
	in := plan.Input{Installation: inst, Functions: parent.Functions, NamedTargets: parent.NamedTargets}
	var err error
	// Without a component there is the reference to an example that does not exist.
	if definition := inst.Spec.ComponentDescriptor; !definition.IsEmpty() && from.component != nil {
		if reference := definition.Reference; reference != nil {
			o.say(fmt.Sprintf("resolving component descriptor %s:%s", reference.ComponentName, reference.Version))
		}
		if in.Component, err = plan.OpenComponent(ctx, from.session.Session, definition); err != nil {
			return in, fmt.Errorf("component of subinstallation %s: %w", inst.Name, err)
		}
	}
	if in.Blueprint, err = plan.OpenBlueprint(ctx, nil, in.Component, &inst.Spec.Blueprint); err != nil {
		return in, fmt.Errorf("blueprint of subinstallation %s: %w", inst.Name, err)
	}
	o.inputs[inst] = in
	return in, nil
}

// warn tells what is probably not meant, and what could not be rendered.
func (o *renderOptions) warn(node *plan.Node) {
	o.warnNode(node)
	if o.simulation != nil {
		o.simulation.reportUnused(o.streams)
	}
}

func (o *renderOptions) warnNode(node *plan.Node) {
	warnings := node.Warnings
	if node.Exports != nil {
		warnings = append(warnings[:len(warnings):len(warnings)], node.Exports.Warnings...)
	}
	for _, warning := range warnings {
		fmt.Fprintf(o.streams.Err, "Warning: %s: %s\n", node.Path, terminal.Printable(warning))
	}
	for _, waiting := range node.Waiting {
		fmt.Fprintf(o.streams.Err, "Warning: %s is not rendered, because it imports what others export (say with -e what their deploy items export): %s\n",
			waiting.Path, terminal.Printable(missing(waiting.Reason)))
	}
	for _, child := range node.Nodes {
		o.warnNode(child)
	}
}

// missing lists the names without an exporter.
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
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
