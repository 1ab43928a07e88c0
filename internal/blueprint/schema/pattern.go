package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of regular expressions.
const (
	maxPattern = 8 << 10
	// maxProgram is how many instructions an expression may have, maxPrograms how
	// many all of a schema may have.
	maxProgram  = 20_000
	maxPrograms = 1_000_000
)

// expression is a compiled regular expression.
type expression struct {
	*regexp.Regexp
	// text is the expression as it was written.
	text string
	// size is the number of instructions.
	size int
}

// String implements jsonschema.Regexp.
func (e *expression) String() string { return e.text }

// escape finds characters in the form of ECMA, which RE2 does not know.
var escape = regexp.MustCompile(`\\(?:u[0-9A-Fa-f]{4}|.)`)

// compileExpression compiles a regular expression, the work of which grows
// linearly with the text.
func compileExpression(text string) (*expression, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern %.40q... is longer than %d bytes", text, maxPattern)
	}
	translated := escape.ReplaceAllStringFunc(text, func(escaped string) string {
		if len(escaped) == len(`\u0000`) {
			return `\x{` + escaped[2:] + `}`
		}
		return escaped
	})
	size, err := programSize(translated)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %w; patterns have the syntax of RE2, which has no look-around and no back references", text, err)
	}
	if size > maxProgram {
		return nil, fmt.Errorf("the pattern %q is too complex: use smaller repetitions", text)
	}
	compiled, err := regexp.Compile(translated)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %w", text, err)
	}
	return &expression{Regexp: compiled, text: text, size: size}, nil
}

func programSize(text string) (int, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller names the pattern
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller names the pattern
	}
	return len(program.Inst), nil
}

// expressions are those of one schema.
type expressions struct {
	compiled map[string]*expression
	size     int
}

func (e *expressions) add(text string) error {
	if e.compiled[text] != nil {
		return nil
	}
	compiled, err := compileExpression(text)
	if err != nil {
		return err
	}
	if e.size += compiled.size; e.size > maxPrograms {
		return fmt.Errorf("the patterns of the schema are too complex in all: use fewer, or smaller repetitions")
	}
	e.compiled[text] = compiled
	return nil
}

// engine implements jsonschema.RegexpEngine. It is called when values are
// checked, too, and changes nothing.
func (e *expressions) engine(text string) (jsonschema.Regexp, error) {
	if compiled := e.compiled[text]; compiled != nil {
		return compiled, nil
	}
	return compileExpression(text)
}
