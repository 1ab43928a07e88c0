package change

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/requests"
)

// NewSetImportCommand returns the command that sets imports in a cluster.
func NewSetImportCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	command := &cobra.Command{
		Use:     "set-import NAME KEY=VALUE...",
		Aliases: []string{"set-imports"},
		Short:   "Give imports of an Installation fixed values",
		Long: `Give imports of an Installation fixed values: the import is no longer read from an
object, its value is in spec.importDataMappings.

KEY=VALUE gives a number if VALUE is one, else a text; KEY:=VALUE gives any value as
YAML or JSON; KEY@FILE gives the value of a file. No job is started.`,
		Example: `  landscaper-cli installations set-import shop replicas=3 domain=shop.example.org
  landscaper-cli inst set-import shop 'hosts:=[a, b]' settings@settings.yaml`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			values, err := importValues(args[1:])
			if err != nil {
				return terminal.Usage(err)
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			_, err = requests.SetImports(command.Context(), on.Client, client.ObjectKey{Namespace: on.Namespace, Name: args[0]}, values)
			if err != nil {
				return on.Explain(err)
			}
			fmt.Fprintf(streams.Out, "Set %s of the Installation %s; start a job with landscaper-cli installations reconcile %s\n", listed(values), args[0], args[0])
			return nil
		},
		ValidArgsFunction: connection.CompleteImports(f),
	}
	f.Add(command)
	terminal.BeStrict(command)
	return command
}

// NewSetImportParametersCommand returns the command that sets imports in a manifest.
func NewSetImportParametersCommand(streams terminal.Streams) *cobra.Command {
	output := ""
	command := &cobra.Command{
		Use:     "set-import-parameters FILE KEY=VALUE...",
		Aliases: []string{"sip"},
		Short:   "Give imports in the manifest of an Installation fixed values",
		Long: `Give imports in the manifest of an Installation fixed values, like set-import. The
file is written again, without its comments.`,
		Example: `  landscaper-cli installations set-import-parameters shop.yaml replicas=3 -o shop-3.yaml`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(_ *cobra.Command, args []string) error {
			values, err := importValues(args[1:])
			if err != nil {
				return terminal.Usage(err)
			}
			installation, err := readInstallation(args[0])
			if err != nil {
				return err
			}
			if err := requests.ReplaceImports(installation, values); err != nil {
				return err
			}
			if output == "" {
				output = args[0]
			}
			written, err := manifest(installation)
			if err != nil {
				return err
			}
			if err := terminal.WriteFile(output, written, 0o644); err != nil {
				return fmt.Errorf("write the Installation: %w", err)
			}
			fmt.Fprintf(streams.Out, "Wrote the Installation to %s\n", output)
			return nil
		},
	}
	command.Flags().StringVarP(&output, "output-file", "o", "", "`file` to write (default: the one that was read)")
	return command
}

// manifest is the text of an Installation without what only a cluster sets.
func manifest(installation *v1alpha1.Installation) ([]byte, error) {
	raw, err := json.Marshal(installation)
	if err != nil {
		return nil, err
	}
	// All digits of numbers stay.
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, err
	}
	delete(fields, "status")
	if metadata, ok := fields["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	text, err := yamltext.Encode(fields)
	return []byte(text), err
}

// readInstallation reads a file that holds an Installation and nothing else, since it is
// written again.
func readInstallation(path string) (*v1alpha1.Installation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the Installation: %w", err)
	}
	installation := &v1alpha1.Installation{}
	if _, err = requests.OnlyDocument(text); err == nil {
		err = yamltext.Unmarshal(text, yamltext.Lenient(), installation)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if installation.Kind != "Installation" {
		return nil, fmt.Errorf("%s: kind %q: name the manifest of an Installation", path, installation.Kind)
	}
	return installation, nil
}

// importValues reads what the arguments say about imports.
func importValues(pairs []string) ([]requests.ImportValue, error) {
	var values []requests.ImportValue
	for _, pair := range pairs {
		at := strings.IndexAny(pair, "=@")
		if at <= 0 || pair[:at] == ":" {
			return nil, fmt.Errorf("%q: write KEY=VALUE, KEY:=VALUE or KEY@FILE", pair)
		}
		key, text, anything := pair[:at], pair[at+1:], pair[at] == '@'
		if anything {
			content, err := os.ReadFile(text)
			if err != nil {
				return nil, fmt.Errorf("import %s: %w", key, err)
			}
			text = string(content)
		} else if strings.HasSuffix(key, ":") {
			key, anything = strings.TrimSuffix(key, ":"), true
		}
		value, err := requests.ReadImportValue(key, text, anything)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func listed(values []requests.ImportValue) string {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = value.Name
	}
	return strings.Join(names, ", ")
}
