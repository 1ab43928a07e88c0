// Package pattern compiles and runs the regular expressions of users, all within the
// same limits.
//
// Go's engine has no look-around and no back references, so one search takes at most a
// step for each instruction of the expression and each byte of the text. That leaves
// three ways to be expensive, each with its limit: repetitions, by which a short
// expression becomes millions of instructions; many groups, which each step may copy; and
// a long text. All matches of a text may take the square of it: templates look for them in
// a process of their own.
//
// Errors say what to do, and repeat neither the expression nor the text.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// The limits, far above what people write.
const (
	// MaxLength is how many bytes an expression may have. The longest in use list
	// alternatives and have some hundreds.
	MaxLength = 10_000
	// MaxSize is how many instructions it may become, two for each byte of the longest
	// one.
	MaxSize = 20_000
	// MaxWork is how many instructions one search may execute, so that it ends within
	// one or two seconds: nothing can stop a search before.
	MaxWork = 50_000_000
)

// Pattern is a regular expression. A caller of the methods of Regexp instead of Match must bound the
// work, by Size and the text or by the process that it runs in.
type Pattern struct {
	*regexp.Regexp
	// Size is the number of instructions, see size.
	Size int
}

// Error says why an expression, or a search with it, is refused.
type Error struct {
	// Malformed is set if the text is not a regular expression, whatever the limits.
	Malformed bool
	// Reason follows the words "the regular expression", and says what to do.
	Reason string
}

// Error implements error.
func (e *Error) Error() string { return "the regular expression " + e.Reason }

// Compile reads an expression. Its error is an *Error.
func Compile(text string) (*Pattern, error) {
	parsed, err := Parse(text)
	if err != nil {
		return nil, err
	}
	size := size(parsed)
	if size > MaxSize {
		return nil, tooComplex
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, malformed(err)
	}
	return &Pattern{Regexp: compiled, Size: size}, nil
}

var tooComplex = &Error{Reason: "is too complex: use smaller repetitions, or fewer groups"}

// Parse returns what an expression says, without a program for it. Its error is an
// *Error.
func Parse(text string) (*syntax.Regexp, error) {
	if len(text) > MaxLength {
		return nil, &Error{Reason: fmt.Sprintf("is longer than %d bytes: use a shorter one, or several", MaxLength)}
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, malformed(err)
	}
	return parsed, nil
}

// malformed names the kind of a mistake, without the part of the expression.
func malformed(err error) *Error {
	var mistake *syntax.Error
	switch {
	case !errors.As(err, &mistake):
		return &Error{Malformed: true, Reason: "is not valid: " + remedy}
	case mistake.Code == syntax.ErrLarge:
		return tooComplex // the parser has a limit as well
	}
	return &Error{Malformed: true, Reason: "is not valid (" + mistake.Code.String() + "): " + remedy}
}

const remedy = "use the syntax of RE2, which has no look-around and no back references"

// Work is how many instructions a search in a text may execute.
func (p *Pattern) Work(text string) int64 { return int64(p.Size) * int64(len(text)+1) }

// Affordable refuses a text in which a search would take too long. Its error is an
// *Error.
func (p *Pattern) Affordable(text string) error {
	if p.Work(text) > MaxWork {
		return p.costly(text)
	}
	return nil
}

func (p *Pattern) costly(text string) *Error {
	return &Error{Reason: fmt.Sprintf("is too costly for a text of %d bytes: use a simpler one, or a shorter text", len(text))}
}

// Match reports whether the expression fits anywhere in a text. Its error is an *Error.
func (p *Pattern) Match(text string) (bool, error) {
	if err := p.Affordable(text); err != nil {
		return false, err
	}
	return p.MatchString(text), nil
}
