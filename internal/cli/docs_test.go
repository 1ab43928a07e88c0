package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

var (
	// written is a command as pages show it: in a line of its own, or in the text.
	written = regexp.MustCompile("(?m)(?:^[ \t$]*|`|[(|;&] *)((?:landscaper-cli|kubectl landscaper) [^`\n]*)")
	// long is a flag in a text.
	long = regexp.MustCompile("`(--[a-z][a-z-]*)")
)

// TestDocumentedCommands: each command on each page and in each script exists, with its
// flags and with as many arguments.
func TestDocumentedCommands(t *testing.T) {
	const top = "../.."
	seen := 0
	for _, place := range []string{"README.md", "docs", "examples", "charts", "hack"} {
		err := filepath.WalkDir(filepath.Join(top, place), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" && filepath.Ext(path) != ".sh" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			page := strings.ReplaceAll(string(text), "\\\n", " ")
			for _, found := range written.FindAllStringSubmatch(page, -1) {
				seen++
				if err := exists(found[1]); err != nil {
					t.Errorf("%s: %s: %v", path, found[1], err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found", seen)
	}
}

// exists parses a command line without running it.
func exists(line string) error {
	line, _, _ = strings.Cut(strings.TrimSuffix(line, " [flags]"), " #")
	for _, end := range []string{" | ", " > ", " && ", "; ", ")"} {
		line, _, _ = strings.Cut(line, end)
	}
	fields := terminaltest.Fields(line)
	if fields[0] == "kubectl" {
		fields = fields[1:]
	}
	command, args, err := NewCommand((&terminaltest.Console{}).Streams()).Find(fields[1:])
	if err != nil {
		return err
	}
	if err := command.ParseFlags(args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	args = command.Flags().Args()
	if command.Args == nil || len(args) == 0 || strings.ContainsAny(line, "…|") {
		return nil // a command that is only mentioned
	}
	return command.Args(command, args)
}

// TestDocumentedFlags: each flag that the guide mentions is one of some command.
func TestDocumentedFlags(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"--help": true}
	var add func(command *cobra.Command)
	add = func(command *cobra.Command) {
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) { known["--"+flag.Name] = true })
		for _, child := range command.Commands() {
			add(child)
		}
	}
	add(NewCommand((&terminaltest.Console{}).Streams()))
	for _, found := range long.FindAllStringSubmatch(string(page), -1) {
		if !known[found[1]] {
			t.Errorf("no command has %s", found[1])
		}
	}
}
