// Package schemas has the command that gives editors the JSON schemas of what users write.
package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/schemas"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/terminal"
)

const suffix = ".json"

// NewCommand returns the command.
func NewCommand(streams terminal.Streams) *cobra.Command {
	directory := ""
	command := &cobra.Command{
		Use:   "schemas [NAME]",
		Short: "Print JSON schemas for editors",
		Long: `Print the JSON schema of a kind, of blueprints, of the configuration of a deployer, or of the
files of landscapes without a cluster; without NAME, list the schemas. The schema landscaper
chooses among the others by apiVersion and kind, so that one setting of an editor suffices:
it needs the others beside it, as --all writes them.`,
		Example: `  landscaper-cli schemas
  landscaper-cli schemas blueprint > blueprint.json
  landscaper-cli schemas --all .vscode/landscaper`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case directory != "" && len(args) > 0:
				return terminal.Usage(errors.New("--all writes all schemas: leave out NAME"))
			case directory != "":
				return writeAll(streams, directory)
			case len(args) > 0:
				return printOne(streams, args[0])
			}
			return list(streams)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	command.Flags().StringVar(&directory, "all", "", "write all schemas into this `directory`")
	terminal.BeStrict(command)
	return command
}

// names are those of all schemas, sorted.
func names() []string {
	// The files are embedded, and the pattern is valid.
	found, _ := fs.Glob(schemas.Files, "*"+suffix)
	for i, name := range found {
		found[i] = strings.TrimSuffix(name, suffix)
	}
	return found
}

func list(streams terminal.Streams) error {
	table := tabwriter.NewWriter(streams.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tAPIVERSION\tKIND")
	for _, name := range names() {
		var schema struct {
			Properties map[string]struct {
				Const string `json:"const"`
			} `json:"properties"`
		}
		text, err := schemas.Files.ReadFile(name + suffix)
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
		apiVersion, kind := schema.Properties["apiVersion"].Const, schema.Properties["kind"].Const
		if name == schemas.Any {
			apiVersion, kind = "all", "all"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, apiVersion, kind)
	}
	return table.Flush()
}

func printOne(streams terminal.Streams, name string) error {
	text, err := schemas.Files.ReadFile(strings.ToLower(name) + suffix)
	if err != nil {
		return terminal.Exitf(terminal.ExitNotFound, "there is no schema %s: there are %s", name, strings.Join(names(), ", "))
	}
	_, err = streams.Out.Write(text)
	return err // the standard output
}

func writeAll(streams terminal.Streams, directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("write the schemas: %w", err)
	}
	for _, name := range names() {
		text, err := schemas.Files.ReadFile(name + suffix)
		if err == nil {
			err = terminal.WriteFile(filepath.Join(directory, name+suffix), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write the schema %s: %w", name, err)
		}
	}
	_, err := fmt.Fprintf(streams.Out, "Wrote %d schemas to %s\n", len(names()), directory)
	return err // the standard output
}
