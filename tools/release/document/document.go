// Package document writes what goes with the command line: completions for shells and man pages.
package document

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra/doc"

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/tools/release/pack"
)

// streams of a command that runs in this process.
func streams(out io.Writer) terminal.Streams {
	return terminal.Streams{
		In: strings.NewReader(""), Out: out, Err: out, Getenv: func(string) string { return "" },
		Columns: func() int { return 0 }, Rows: func() int { return 0 },
	}
}

// Run runs the command line as its users do.
func Run(ctx context.Context, arguments ...string) ([]byte, error) {
	var out bytes.Buffer
	if code := cli.Run(ctx, streams(&out), "landscaper-cli", arguments); code != 0 {
		return nil, fmt.Errorf("landscaper-cli %s: exit code %d: %s", strings.Join(arguments, " "), code, out.String())
	}
	return out.Bytes(), nil
}

// shells are those with completions, and the names that their files have.
var shells = map[string]string{"bash": "landscaper-cli.bash", "zsh": "_landscaper-cli", "fish": "landscaper-cli.fish", "powershell": "landscaper-cli.ps1"}

// Completions returns the scripts of all shells.
func Completions(ctx context.Context) ([]pack.File, error) {
	files := []pack.File{{Name: "completions/"}}
	for shell, name := range shells {
		script, err := Run(ctx, "completion", shell)
		if err != nil {
			return nil, fmt.Errorf("write the completion for %s: %w", shell, err)
		}
		files = append(files, pack.File{Name: "completions/" + name, Data: script})
	}
	return files, nil
}

// Manual returns the man pages, one for each command. They bear the date of the release.
func Manual(version string, at time.Time) ([]pack.File, error) {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, fmt.Errorf("write the man pages: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left is in the folder for what is left
	root := cli.NewCommand(streams(io.Discard))
	root.DisableAutoGenTag = true
	date := at.UTC()
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "landscaper-cli " + version, Manual: "Landscaper", Date: &date}, folder); err != nil {
		return nil, fmt.Errorf("write the man pages: %w", err)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil {
		return nil, err // the pattern is valid
	}
	files := []pack.File{{Name: "man/"}}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return nil, fmt.Errorf("write the man pages: %w", err)
		}
		files = append(files, pack.File{Name: "man/" + filepath.Base(page), Data: content})
	}
	return files, nil
}
