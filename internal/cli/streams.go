package cli

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Streams are where a command reads and writes, and what it knows about them.
type Streams struct {
	// In is the standard input.
	In io.Reader
	// Out receives results.
	Out io.Writer
	// Err receives progress, warnings and errors.
	Err io.Writer
	// Getenv reads the environment.
	Getenv func(string) string
	// Columns is the width of the terminal behind Out; 0 if it is none.
	Columns func() int
}

// Standard returns the streams of the process.
func Standard() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Columns: standardColumns}
}

func standardColumns() int {
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// terminal tells whether a person watches the output.
func (s Streams) terminal() bool { return s.Columns() > 0 }

// color tells whether the output may be coloured.
func (s Streams) color() bool {
	return s.terminal() && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// ascii tells whether a terminal says that it shows no more than ASCII. Into
// files and pipes we write UTF-8.
func (s Streams) ascii() bool {
	if !s.terminal() {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := s.Getenv(name); locale != "" {
			locale = strings.ToLower(locale)
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}
