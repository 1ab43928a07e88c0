package link

import (
	"errors"
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

// Pattern is a compiled regular expression.
type Pattern struct {
	*regexp.Regexp
	// Size is the number of instructions.
	Size int
	// text is the expression as it was written.
	text string
}

// String implements jsonschema.Regexp.
func (p *Pattern) String() string { return p.text }

// escape finds characters in the form of ECMA, which RE2 does not know.
var escape = regexp.MustCompile(`\\(?:u[0-9A-Fa-f]{4}|.)`)

// compilePattern compiles a regular expression, the work of which grows linearly
// with the text.
func compilePattern(text string) (*Pattern, error) {
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
	return &Pattern{Regexp: compiled, Size: size, text: text}, nil
}

func programSize(text string) (int, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err // the caller names the pattern
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err // the caller names the pattern
	}
	return len(program.Inst), nil
}

// Patterns are the regular expressions of one schema.
type Patterns struct {
	compiled map[string]*Pattern
	size     int
}

func (p *Patterns) add(text string) error {
	if p.compiled[text] != nil {
		return nil
	}
	compiled, err := compilePattern(text)
	if err != nil {
		return err
	}
	if p.size += compiled.Size; p.size > maxPrograms {
		return errors.New("the patterns of the schema are too complex in all: use fewer, or smaller repetitions")
	}
	p.compiled[text] = compiled
	return nil
}

// Engine implements jsonschema.RegexpEngine. It may be called when values are
// checked, too, and changes nothing.
func (p *Patterns) Engine(text string) (jsonschema.Regexp, error) {
	if compiled := p.compiled[text]; compiled != nil {
		return compiled, nil
	}
	return compilePattern(text)
}
