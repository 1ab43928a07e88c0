// Package targets has the commands that write manifests of Targets.
package targets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
)

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "targets",
		Aliases: []string{"target", "t"},
		Short:   "Write manifests of Targets",
		Args:    terminal.Subcommand,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	create := &cobra.Command{
		Use:     "create",
		Aliases: []string{"c"},
		Short:   "Write the manifest of a Target, or create it with --apply",
		Args:    terminal.Subcommand,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	create.AddCommand(newKubernetesClusterCommand(streams), newSelfCommand(streams), newOIDCCommand(streams))
	command.AddCommand(create)
	return command
}

// manifestFlags are what all Targets have in common.
type manifestFlags struct {
	name, namespace, output string
	apply                   bool
	cluster                 connection.Flags
}

func (f *manifestFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "name of the Target (required)")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the Target in the manifest")
	flags.StringVarP(&f.output, "output-file", "o", "", "`file` to write (default: the standard output)")
	flags.BoolVar(&f.apply, "apply", false, "send the Target to the resource cluster instead of writing it")
	f.cluster.AddTo(command, &f.namespace)
}

func (f *manifestFlags) check() error {
	if f.name == "" {
		return terminal.Usage(errors.New(`required flag(s) "name" not set: name the Target with --name`))
	}
	if f.apply && f.output != "" {
		return terminal.Usage(errors.New("--apply writes no file: leave out --output-file"))
	}
	return nil
}

// metadata is that of an object in the namespace of the Target.
func (f *manifestFlags) metadata(name string) map[string]any {
	metadata := map[string]any{"name": name}
	if f.namespace != "" {
		metadata["namespace"] = f.namespace
	}
	return metadata
}

// write prints documents, or writes them into a file that only its owner may read: it
// opens a cluster. With --apply, they go to the resource cluster.
func (f *manifestFlags) write(ctx context.Context, out io.Writer, documents ...map[string]any) error {
	if f.apply {
		return f.send(ctx, out, documents)
	}
	var text bytes.Buffer
	for i, document := range documents {
		if i > 0 {
			text.WriteString("---\n")
		}
		raw, err := yaml.Marshal(document)
		if err != nil {
			return fmt.Errorf("print %s: %w", document["kind"], err)
		}
		text.Write(raw)
	}
	if f.output == "" {
		_, err := fmt.Fprintln(out, text.String())
		return err
	}
	if err := terminal.WriteFile(f.output, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write target: %w", err)
	}
	fmt.Fprintf(out, "Wrote target to %s\n", f.output)
	return nil
}

// send applies documents, which do not take anything from others.
func (f *manifestFlags) send(ctx context.Context, out io.Writer, documents []map[string]any) error {
	on, err := f.cluster.Connect()
	if err != nil {
		return err
	}
	for _, document := range documents {
		object := &unstructured.Unstructured{Object: document}
		if err := on.Place(object); err != nil {
			return err
		}
		_, result, err := on.Apply(ctx, object, false)
		if apierrors.IsConflict(err) {
			err = fmt.Errorf("%w: another client has created it; choose another name, or delete it before", err)
		}
		if err != nil {
			return on.Explain(fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err))
		}
		fmt.Fprintf(out, "%s %s: %s\n", object.GetKind(), object.GetName(), result)
	}
	return nil
}
