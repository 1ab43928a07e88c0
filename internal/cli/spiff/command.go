// Package spiff is the command line of the spiff language.
package spiff

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/content/template/spiff/osaccess"
)

// NewCommand returns the command "spiff" with its subcommands.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "spiff",
		Short: "Evaluate and merge YAML templates written in spiff",
		Long: "Evaluate and merge YAML templates written in spiff, the language of data mappings and of\n" +
			"blueprints with spiff templates.",
		Args: terminal.Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMerge(), newProcess(), newConvert(), newDiff(), newEncrypt())
	return cmd
}

// engineFlags are the flags that configure the engine.
type engineFlags struct {
	access        string
	features      []string
	interpolation bool
	tags          []string
}

func (f *engineFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.access, "access", "files",
		"what templates may reach: none, files (read below the working directory) or full")
	flags.StringSliceVar(&f.features, "features", nil, "optional language features to switch on (control, interpolation)")
	flags.BoolVar(&f.interpolation, "interpolation", false, "short form of --features interpolation")
	flags.StringArrayVar(&f.tags, "tag", nil, "predefined tag with the content of a file, as NAME:FILE")
}

// engine makes an engine for the flags. The returned function cleans up.
func (f *engineFlags) engine(in *inputs) (*spiff.Engine, func(), error) {
	config := spiff.Config{
		Features: f.features, Resolve: resolve, Tags: map[string]any{}, Key: os.Getenv(keyVariable),
	}
	if f.interpolation {
		config.Features = append(config.Features, spiff.FeatureInterpolation)
	}
	cleanup := func() {}
	switch f.access {
	case "none":
		config.Resolve = nil
	case "files", "full":
		root, err := os.OpenRoot(".")
		if err != nil {
			return nil, nil, fmt.Errorf("opening the working directory: %w", err)
		}
		config.Access, config.Files = spiff.AccessFiles, root.FS()
		cleanup = func() { _ = root.Close() }
		if f.access == "full" {
			system := &osaccess.System{}
			config.Access, config.System = spiff.AccessFull, system
			cleanup = func() { _, _ = root.Close(), system.Close() }
		}
	default:
		return nil, nil, fmt.Errorf("unknown access level %q, use none, files or full", f.access)
	}
	if err := f.readTags(in, config.Tags); err != nil {
		return nil, nil, err
	}
	engine, err := spiff.New(config)
	return engine, cleanup, err
}

func (f *engineFlags) readTags(in *inputs, tags map[string]any) error {
	for _, t := range f.tags {
		i := strings.LastIndex(t, ":")
		if i <= 0 || i == len(t)-1 {
			return fmt.Errorf("tag %q must look like NAME:FILE", t)
		}
		text, err := in.read(t[i+1:])
		if err != nil {
			return err
		}
		doc, err := spiff.ParseData(text, t[i+1:])
		if err != nil {
			return err
		}
		tags[strings.ReplaceAll(t[:i], ":", ".")] = doc.Data()
	}
	return nil
}

func resolve(name string) string {
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		return resolved
	}
	return name
}

// inputs reads files, and standard input once.
type inputs struct {
	stdin io.Reader
	used  bool
}

func (in *inputs) read(name string) ([]byte, error) {
	if name != "-" {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		return text, nil
	}
	if in.used {
		return nil, fmt.Errorf("standard input can be used only once")
	}
	in.used = true
	text, err := io.ReadAll(in.stdin)
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return text, nil
}

func (in *inputs) parseStubs(names []string) ([]spiff.Document, error) {
	var stubs []spiff.Document
	for _, name := range names {
		text, err := in.read(name)
		if err != nil {
			return nil, err
		}
		doc, err := spiff.ParseOne(text, name)
		if err != nil {
			return nil, err
		}
		stubs = append(stubs, doc)
	}
	return stubs, nil
}
