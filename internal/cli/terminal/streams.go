package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
)

// ClearRight removes the rest of a line of a terminal.
const ClearRight = "\x1b[K"

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
	// Terminal tells that Out is a terminal.
	Terminal bool
	// Columns is the width of the terminal; 0 if it is not known.
	Columns func() int
	// Rows is the height of the terminal; 0 if it is not known.
	Rows func() int
}

// Standard returns the streams of the process.
func Standard() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())), Columns: func() int { columns, _ := standardSize(); return columns },
		Rows: func() int { _, rows := standardSize(); return rows },
	}
}

func standardSize() (columns, rows int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Color tells whether the output may be coloured.
func (s Streams) Color() bool {
	return s.Terminal && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// ASCII tells whether a terminal says that it shows no more than ASCII. Into
// files and pipes we write UTF-8.
func (s Streams) ASCII() bool {
	if !s.Terminal {
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

// Printable keeps what others have written from sending control characters to a
// terminal.
func Printable(text string) string { return printable(text, "") }

// PrintableLines does the same with a text of several lines.
func PrintableLines(text string) string { return printable(text, "\n\t") }

func printable(text, except string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(except, r) {
			return r
		}
		if Controls(r) {
			return '?'
		}
		return r
	}, text)
}

// OneLine keeps a foreign message in its line, and from acting on a terminal.
func OneLine(text string) string { return Printable(strings.Join(strings.Fields(text), " ")) }

// Controls reports whether a character does something to a terminal instead of being
// shown: control characters, and those that turn the direction of writing around.
func Controls(char rune) bool {
	return unicode.IsControl(char) || unicode.Is(unicode.Bidi_Control, char) || char == 0x2028 || char == 0x2029
}

// Lines returns a writer for lines that repeat what others have written. Each write must
// end between two characters.
func Lines(out io.Writer) io.Writer { return linesWriter{out} }

type linesWriter struct{ out io.Writer }

// Write implements io.Writer.
func (w linesWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.out, PrintableLines(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// JSON returns a writer for texts in JSON: it escapes what JSON lets through and a
// terminal would act on. Each write must end between two characters.
func JSON(out io.Writer) io.Writer { return jsonWriter{out} }

// WriteJSON prints a result for programs that people can read as well.
func WriteJSON(out io.Writer, result any) error {
	encoder := json.NewEncoder(JSON(out))
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

// WriteYAML prints a result for programs that people can read as well, and escapes what
// a terminal would act on.
func WriteYAML(out io.Writer, result any) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("print as yaml: %w", err)
	}
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	if err != nil {
		return fmt.Errorf("print as yaml: %w", err)
	}
	text, err := yamltext.EncodeEscaped(value, func(char rune) bool { return Controls(char) && char != '\n' && char != '\t' })
	if err != nil {
		return fmt.Errorf("print as yaml: %w", err)
	}
	_, err = io.WriteString(out, text)
	return err
}

type jsonWriter struct{ out io.Writer }

// Write implements io.Writer.
func (w jsonWriter) Write(text []byte) (int, error) {
	var escaped strings.Builder
	for _, char := range string(text) {
		// JSON has no other control characters outside of texts.
		if char > ' ' && Controls(char) {
			fmt.Fprintf(&escaped, "\\u%04x", char)
			continue
		}
		escaped.WriteRune(char)
	}
	if _, err := io.WriteString(w.out, escaped.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
