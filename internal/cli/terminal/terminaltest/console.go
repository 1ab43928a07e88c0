// Package terminaltest is for tests of commands: what they read and print.
package terminaltest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal"
)

// Console records what a command prints.
type Console struct {
	// Out and Err are the standard output and the standard error.
	Out, Err bytes.Buffer
	// Environment has the variables of the environment.
	Environment map[string]string
	// Columns is the width of the terminal: 0 without one, -1 if it is not known.
	Columns int
}

// Streams returns the streams of a command that prints on the console.
func (c *Console) Streams() terminal.Streams {
	return terminal.Streams{
		In: strings.NewReader(""), Out: &c.Out, Err: &c.Err,
		Getenv:   func(name string) string { return c.Environment[name] },
		Terminal: c.Columns != 0,
		Columns:  func() int { return max(c.Columns, 0) },
		Rows:     func() int { return 0 },
	}
}

// Fields splits a command line; "" is an empty argument.
func Fields(line string) []string {
	args := strings.Fields(line)
	for i := range args {
		if args[i] == `""` {
			args[i] = ""
		}
	}
	return args
}

// WriteFiles makes files in a new working directory, and returns it.
func WriteFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	t.Chdir(directory)
	for name, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}
