package spiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/content/template/spiff"
)

// merge is one run of the merge or process command.
type merge struct {
	engineFlags
	outputFlags
	bindingFlags
	statePath string
	options   spiff.Options
}

func newMerge() *cobra.Command {
	m := &merge{}
	cmd := &cobra.Command{
		Use:   "merge TEMPLATE [STUB...]",
		Short: "Evaluate a template and merge it with stubs",
		Long: "Evaluate a template and merge it with stubs. A later stub has precedence over an earlier one.\n" +
			"\"-\" reads standard input.",
		Example: "  landscaper-cli spiff merge template.yaml stub.yaml\n" +
			"  landscaper-cli spiff merge -D imports.name=demo template.yaml --json",
		Args:         commandline.Arguments,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return m.run(cmd, args[0], args[1:], "")
		},
	}
	m.register(cmd)
	return cmd
}

func newProcess() *cobra.Command {
	m := &merge{}
	cmd := &cobra.Command{
		Use:          "process DOCUMENT TEMPLATE [STUB...]",
		Short:        "Evaluate a template that works on another document",
		Long:         "Evaluate a template. The document is available below the temporary field \"document\".",
		Example:      `  landscaper-cli spiff process document.yaml template.yaml`,
		Args:         commandline.Arguments,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return m.run(cmd, args[1], args[2:], args[0])
		},
	}
	m.register(cmd)
	return cmd
}

func (m *merge) register(cmd *cobra.Command) {
	m.engineFlags.register(cmd)
	m.outputFlags.register(cmd)
	m.bindingFlags.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&m.statePath, "state", "", "state file to read, if it exists, and to write")
	flags.BoolVar(&m.options.Partial, "partial", false, "leave unresolved expressions in the output")
	flags.BoolVar(&m.options.PreserveEscapes, "preserve-escapes", false, "keep escaped expressions escaped")
	flags.BoolVar(&m.options.PreserveTemporary, "preserve-temporary", false, "keep temporary fields")
}

func (m *merge) run(cmd *cobra.Command, template string, stubs []string, document string) error {
	in := &inputs{stdin: cmd.InOrStdin()}
	engine, cleanup, err := m.engine(in)
	if err != nil {
		return err
	}
	defer cleanup()
	docs, input, err := m.load(in, template, stubs, document)
	if err != nil {
		return fmt.Errorf("error generating manifest: %w", err)
	}
	var out bytes.Buffer
	state, err := m.process(cmd.Context(), engine, docs, input, &out)
	if err != nil {
		return fmt.Errorf("error generating manifest: %w", err)
	}
	if m.statePath != "" {
		if err := writeState(m.statePath, state); err != nil {
			return err
		}
	}
	_, err = out.WriteTo(cmd.OutOrStdout())
	return err
}

// load reads all documents.
func (m *merge) load(in *inputs, template string, stubs []string, document string) ([]spiff.Document, spiff.Input, error) {
	var input spiff.Input
	text, err := in.read(template)
	if err != nil {
		return nil, input, err
	}
	docs, err := spiff.Parse(text, template)
	if err != nil {
		return nil, input, err
	}
	if document != "" {
		if docs, err = withDocument(in, docs, document); err != nil {
			return nil, input, err
		}
	}
	if input.Stubs, err = in.parseStubs(stubs); err != nil {
		return nil, input, err
	}
	if input.Bindings, err = m.bindings(in); err != nil {
		return nil, input, err
	}
	if m.statePath == "" {
		return docs, input, nil
	}
	if len(docs) != 1 {
		return nil, input, fmt.Errorf("--state needs a template with a single document")
	}
	input.State, err = readState(m.statePath)
	return docs, input, err
}

func withDocument(in *inputs, docs []spiff.Document, name string) ([]spiff.Document, error) {
	text, err := in.read(name)
	if err != nil {
		return nil, err
	}
	extra, err := spiff.ParseOne(text, name)
	if err != nil {
		return nil, err
	}
	for i, d := range docs {
		if docs[i], err = d.WithTemporary("document", extra); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func (m *merge) process(ctx context.Context, engine *spiff.Engine, docs []spiff.Document, input spiff.Input, out *bytes.Buffer) ([]byte, error) {
	prepared, err := engine.Prepare(ctx, input)
	if err != nil {
		return nil, err
	}
	stream := prepared.Stream(m.options)
	var results []*spiff.Result
	var state bytes.Buffer
	for _, doc := range docs {
		result, err := stream.Process(ctx, doc)
		if err != nil {
			return nil, err
		}
		if m.statePath != "" {
			if err := result.WriteState(&state); err != nil {
				return nil, err
			}
		}
		if !result.Temporary || m.options.PreserveTemporary {
			results = append(results, result)
		}
	}
	return state.Bytes(), m.write(ctx, engine, results, out)
}

func readState(path string) (*spiff.Document, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	doc, err := spiff.ParseData(text, path)
	return &doc, err
}

// writeState replaces the state file and keeps the old one as .bak.
func writeState(path string, state []byte) error {
	if _, err := os.Stat(path); err == nil {
		if err := os.Rename(path, path+".bak"); err != nil {
			return fmt.Errorf("keeping the old state: %w", err)
		}
	}
	if err := os.WriteFile(path, state, 0o600); err != nil {
		return fmt.Errorf("writing state: %w", err)
	}
	return nil
}
