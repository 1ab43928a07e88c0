package components

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

type getFlags struct {
	commonFlags
	schema    string
	recursive bool
}

func newGetCommand(streams terminal.Streams) *cobra.Command {
	f := &getFlags{}
	command := &cobra.Command{
		Use:   "get REPOSITORY COMPONENT VERSION",
		Short: "Print the descriptor of a component version",
		Long: `Print the descriptor of a component version, in its own schema or in another one.
With --recursive, those of all component versions that it refers to follow: as YAML
documents, or as a list in JSON. -o tree shows only how they refer to each other.

` + help,
		Example: `  landscaper-cli components get registry.example.org/delivery example.org/shop/web 1.4.2
  landscaper-cli components get registry.example.org/delivery//example.org/shop/web:1.4.2 -o json
  landscaper-cli components get ./transport.tgz example.org/shop/web 1.4.2 -o tree
  landscaper-cli components get ./component-archive --schema ocm.software/v3alpha1`,
		Args: terminal.Arguments(needsTarget()),
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.checkSchema(); err != nil {
				return err
			}
			return f.withTarget(command.Context(), streams, args, func(ctx context.Context, o *opened) error {
				return f.print(ctx, streams, o)
			})
		},
	}
	f.add(command, outputYAML, outputJSON, outputTree)
	command.Flags().StringVar(&f.schema, "schema", "", descriptor.SchemaV2+" or "+descriptor.SchemaV3Alpha1+" (default: that of the descriptor)")
	command.Flags().BoolVarP(&f.recursive, "recursive", "R", false, "print the descriptors of all referenced component versions, too")
	terminal.CompleteWith(command, "schema", descriptor.SchemaV2, descriptor.SchemaV3Alpha1)
	return command
}

func (f *getFlags) checkSchema() error {
	switch f.schema {
	case "", descriptor.SchemaV2, descriptor.SchemaV3Alpha1:
	case "v3alpha1":
		f.schema = descriptor.SchemaV3Alpha1
	default:
		return terminal.Usage(fmt.Errorf("invalid option for '--schema' flag: %q: use %s or %s", f.schema, descriptor.SchemaV2, descriptor.SchemaV3Alpha1))
	}
	return nil
}

func (f *getFlags) print(ctx context.Context, streams terminal.Streams, o *opened) error {
	if f.output == outputTree {
		tree := referenceTree{ctx: ctx, streams: streams, session: o.session, context: o.target.Context}
		return tree.print(o.version, "", nil)
	}
	all, err := o.versions(ctx, f.recursive)
	if err != nil {
		return err
	}
	descriptors := make([]*descriptor.Descriptor, 0, len(all))
	for _, one := range all {
		descriptors = append(descriptors, one.Descriptor)
	}
	return printDescriptors(streams, descriptors, f.schema, f.output, f.recursive)
}

// printDescriptors prints descriptors: YAML documents, or JSON, as a list where
// there may be several.
func printDescriptors(streams terminal.Streams, all []*descriptor.Descriptor, schema, form string, list bool) error {
	raws := make([]json.RawMessage, 0, len(all))
	for i, d := range all {
		if schema != "" {
			d = d.As(schema)
		}
		if form == outputYAML {
			text, err := d.EncodeYAML()
			if err != nil {
				return err
			}
			if i > 0 {
				fmt.Fprintln(streams.Out, "---")
			}
			if _, err := streams.Out.Write(text); err != nil {
				return err
			}
			continue
		}
		raw, err := d.Encode()
		if err != nil {
			return err
		}
		raws = append(raws, raw)
	}
	switch {
	case form == outputYAML:
		return nil
	case list:
		return writeDocument(streams.Out, form, raws)
	}
	return writeDocument(streams.Out, form, raws[0])
}

// referenceTree prints how component versions refer to each other.
type referenceTree struct {
	ctx     context.Context // lives for one call
	streams terminal.Streams
	session *repositories.Session
	context descriptor.Typed
}

// maxTreeDepth bounds the depth of the tree; cycles end before.
const maxTreeDepth = 100

// print prints a component version and those below it. What refers back to one
// above is marked.
func (t *referenceTree) print(version *repository.Version, prefix string, above []string) error {
	key := version.Name + ":" + version.Version
	if len(above) == 0 {
		fmt.Fprintln(t.streams.Out, terminal.Printable(key))
	}
	if len(above) > maxTreeDepth {
		return fmt.Errorf("component versions refer to each other more than %d levels deep", maxTreeDepth)
	}
	above = append(above, key)
	middle, last, further := "├── ", "└── ", "│   "
	if t.streams.ASCII() {
		middle, last, further = "|-- ", "`-- ", "|   "
	}
	for i, reference := range version.References {
		child, err := t.session.Referenced(t.ctx, version, &reference, t.context)
		if err != nil {
			return err
		}
		branch, next := middle, further
		if i == len(version.References)-1 {
			branch, next = last, "    "
		}
		name := child.Name + ":" + child.Version
		cycle := ""
		if slices.Contains(above, name) {
			cycle = " (refers back)"
		}
		fmt.Fprintf(t.streams.Out, "%s%s%s %s%s\n", prefix, branch, terminal.Printable(reference.Name), terminal.Printable(name), cycle)
		if cycle != "" {
			continue
		}
		if err := t.print(child, prefix+next, above); err != nil {
			return err
		}
	}
	return nil
}
