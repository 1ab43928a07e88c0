package link

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"go.landscaper.dev/internal/base/pattern"
)

// maxPrograms is how many instructions all expressions of a schema may have.
const maxPrograms = 1_000_000

// Pattern is a compiled regular expression.
type Pattern struct {
	*pattern.Pattern
	// text is the expression as it was written.
	text string
}

// String implements jsonschema.Regexp.
func (p *Pattern) String() string { return p.text }

// escape finds characters in the form of ECMA, which RE2 does not know.
var escape = regexp.MustCompile(`\\(?:u[0-9A-Fa-f]{4}|.)`)

// compilePattern compiles a regular expression of ECMA.
func compilePattern(text string) (*Pattern, error) {
	if len(text) > pattern.MaxLength {
		return nil, fmt.Errorf("the pattern %.40q... is longer than %d bytes: use a shorter one", text, pattern.MaxLength)
	}
	compiled, err := pattern.Compile(escape.ReplaceAllStringFunc(text, func(escaped string) string {
		if len(escaped) == len(`\u0000`) {
			return `\x{` + escaped[2:] + `}`
		}
		return escaped
	}))
	if limit := (*pattern.Error)(nil); errors.As(err, &limit) {
		return nil, fmt.Errorf("the pattern %q %s", text, limit.Reason)
	}
	return &Pattern{Pattern: compiled, text: text}, err
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
