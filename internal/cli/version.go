package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/terminal"
)

// build is what is known about the program.
type build struct {
	Version      string `json:"version"`
	GitCommit    string `json:"gitCommit,omitempty"`
	GitTreeState string `json:"gitTreeState,omitempty"`
	GoVersion    string `json:"goVersion"`
	Compiler     string `json:"compiler"`
	Platform     string `json:"platform"`
}

func newVersionCommand() *cobra.Command {
	output := ""
	command := &cobra.Command{
		Use:     "version",
		Aliases: []string{"v"},
		Short:   "Show the version of the program",
		Example: `  landscaper-cli version -o short`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			return thisBuild().write(command.OutOrStdout(), output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "short, json or yaml (default: a text)")
	terminal.CompleteWith(command, "output", "short", "json", "yaml")
	return command
}

func thisBuild() build {
	b := build{
		Version: version.String(), GitCommit: version.Commit(), GoVersion: runtime.Version(),
		Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if clean, known := version.Clean(); known {
		b.GitTreeState = map[bool]string{true: "clean", false: "dirty"}[clean]
	}
	return b
}

func (b build) write(out io.Writer, output string) error {
	var text []byte
	var err error
	switch output {
	case "":
		b.writeText(out)
		return nil
	case "short":
		text = []byte(b.Version)
	case "json":
		text, err = json.Marshal(b)
	case "yaml":
		text, err = yaml.Marshal(b)
	default:
		err = terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use short, json or yaml", output))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", text)
	return nil
}

// writeText prints the version in the form that older releases had. The server
// that fits is the one of the same version.
func (b build) writeText(out io.Writer) {
	fmt.Fprintf(out, "\nLandscaper-CLI Version: %s\n", b.Version)
	for _, field := range [][2]string{
		{"GitCommit", b.GitCommit}, {"GitTreeState", b.GitTreeState}, {"GoVersion", b.GoVersion}, {"Compiler", b.Compiler}, {"Platform", b.Platform},
	} {
		if field[1] != "" {
			fmt.Fprintf(out, "  %s: %s\n", field[0], field[1])
		}
	}
	fmt.Fprintf(out, "\nDefault Landscaper Version: %s\n\n", b.Version)
}
