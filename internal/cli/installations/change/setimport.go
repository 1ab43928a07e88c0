package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
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
			err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				installation, err := on.Installation(command.Context(), args[0])
				if err != nil {
					return fmt.Errorf("read the Installation: %w", err)
				}
				before := installation.DeepCopy()
				if err := setImports(installation, values); err != nil {
					return err
				}
				return on.Client.Patch(command.Context(), installation, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
			})
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
			if err := setImports(installation, values); err != nil {
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
	if _, err = onlyDocument(text); err == nil {
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

// importValue is a value for an import.
type importValue struct {
	key   string
	value v1alpha1.AnyJSON
}

func importValues(pairs []string) ([]importValue, error) {
	var values []importValue
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
		value, err := valueOf(text, anything)
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", key, err)
		}
		values = append(values, importValue{key, value})
	}
	return values, nil
}

// valueOf reads a value: anything, or else a number or a text.
func valueOf(text string, anything bool) (v1alpha1.AnyJSON, error) {
	if anything {
		document, err := onlyDocument([]byte(text))
		if document == nil {
			return v1alpha1.NewAnyJSON([]byte("null")), err
		}
		raw, err := document.JSON()
		return v1alpha1.NewAnyJSON(raw), err
	}
	if isNumber(text) {
		return v1alpha1.NewAnyJSON([]byte(text)), nil
	}
	raw, err := json.Marshal(text)
	return v1alpha1.NewAnyJSON(raw), err
}

// onlyDocument returns the document of a text, or nil if it has none. A second one would
// be lost without a word.
func onlyDocument(text []byte) (*yamltext.Document, error) {
	documents, err := yamltext.Documents(text, yamltext.Lenient())
	switch {
	case err != nil:
		return nil, err
	case len(documents) > 1:
		return nil, fmt.Errorf("line %d: a second document begins here: leave one", documents[1].Line())
	case len(documents) == 0:
		return nil, nil
	}
	return documents[0], nil
}

// isNumber tells that a text is a number, as JSON writes it, and none that is too large
// for anybody.
func isNumber(text string) bool {
	var number any
	if json.Unmarshal([]byte(text), &number) != nil {
		return false
	}
	_, is := number.(float64)
	return is && strings.TrimSpace(text) == text
}

// setImports replaces imports by values. It also replaces values that were set before.
func setImports(installation *v1alpha1.Installation, values []importValue) error {
	spec := &installation.Spec
	var unknown []error
	for _, value := range values {
		at := slices.IndexFunc(spec.Imports.Data, func(item v1alpha1.DataImport) bool { return item.Name == value.key })
		_, mapped := spec.ImportDataMappings[value.key]
		if at < 0 && !mapped {
			unknown = append(unknown, fmt.Errorf("import parameter '%s' not found in the installation", value.key))
			continue
		}
		if at >= 0 {
			spec.Imports.Data = slices.Delete(spec.Imports.Data, at, at+1)
		}
		if spec.ImportDataMappings == nil {
			spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{}
		}
		spec.ImportDataMappings[value.key] = value.value
	}
	return errors.Join(unknown...)
}

func listed(values []importValue) string {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = value.key
	}
	return strings.Join(names, ", ")
}
