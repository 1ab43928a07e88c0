// Package expression evaluates conditions in CEL on objects of clusters. What
// an expression may cost is bounded, and what it says about an object never has a
// value in it: the object may be a Secret.
package expression

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

const (
	// maxLength is the length of the longest expression.
	maxLength = 4096
	// maxCost is what an evaluation may cost: it bounds the memory, too.
	maxCost = 100_000
	// maxTime bounds what the cost does not cover.
	maxTime = 500 * time.Millisecond
)

// Condition is a condition that was checked. It may be used by several at a time.
type Condition struct {
	text    string
	program cel.Program
}

// base is what all expressions have in common. Functions that make large texts of
// small ones are left out on purpose: what they need is known too late.
var base = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.OptionalTypes(), cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxLength), cel.ParserRecursionLimit(50))
})

// Parse checks an expression. Its variables are the top-level fields of an object. The
// error quotes no text of the expression, which may have come from a template.
func Parse(text string) (Condition, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return Condition{}, errors.New("it is empty")
	case len(text) > maxLength:
		return Condition{}, fmt.Errorf("it is longer than %d characters", maxLength)
	}
	env, err := base()
	if err != nil {
		return Condition{}, fmt.Errorf("prepare expressions: %w", err)
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return Condition{}, fmt.Errorf("it is not an expression in CEL%s", place(issues))
	}
	if env, err = env.Extend(variables(parsed)...); err != nil {
		return Condition{}, errors.New("it has a variable that is not valid")
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return Condition{}, fmt.Errorf("it has a function that does not exist, or that does not fit%s", place(issues))
	}
	if result := checked.OutputType(); !result.IsExactType(types.BoolType) && !result.IsExactType(types.DynType) {
		return Condition{}, errors.New("it is not a condition: it must be true or false")
	}
	program, err := env.Program(checked, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(100), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		// The reason is dropped on purpose: it may quote the expression.
		return Condition{}, errors.New("it has a constant that cannot work")
	}
	return Condition{text: text, program: program}, nil
}

// place says where the first problem is.
func place(issues *cel.Issues) string {
	for _, problem := range issues.Errors() {
		if at := problem.Location; at != nil && at.Line() > 0 {
			return fmt.Sprintf(" (line %d, column %d)", at.Line(), at.Column()+1)
		}
	}
	return ""
}

// typeNames are identifiers that mean types.
var typeNames = map[string]bool{
	"bool": true, "bytes": true, "double": true, "dyn": true, "int": true, "list": true, "map": true,
	"null_type": true, "string": true, "uint": true, "google": true, "optional_type": true,
}

var name = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// variables declares what an expression speaks of: which fields an object has is known
// only when there is one.
func variables(parsed *cel.Ast) []cel.EnvOption {
	var options []cel.EnvOption
	known := map[string]bool{}
	for _, found := range celast.MatchDescendants(celast.NavigateAST(parsed.NativeRep()), celast.KindMatcher(celast.IdentKind)) {
		if ident := found.AsIdent(); !known[ident] && !typeNames[ident] && name.MatchString(ident) {
			known[ident] = true
			options = append(options, cel.Variable(ident, cel.DynType))
		}
	}
	return options
}

// Holds reports whether the condition holds for an object. An object that it does not
// fit is an error: mostly a field is not there yet.
//
//nolint:contextcheck // a job that is cancelled must not report that its expression takes too long
func (c Condition) Holds(object map[string]any) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	result, _, err := c.program.ContextEval(ctx, object)
	if err != nil {
		return false, c.restate(err)
	}
	holds, ok := result.Value().(bool)
	if !ok {
		return false, errors.New("the result is neither true nor false")
	}
	return holds, nil
}

var missing = regexp.MustCompile(`^no such (?:key|attribute\(s\)|field)[^:]*: '?([A-Za-z][A-Za-z0-9_]*)`)

// restate says what is wrong without any value of the object.
func (c Condition) restate(err error) error {
	if found := missing.FindStringSubmatch(err.Error()); found != nil && regexp.MustCompile(`\b`+found[1]+`\b`).MatchString(c.text) {
		return fmt.Errorf("there is no field %s yet", found[1])
	}
	if strings.Contains(err.Error(), "cost limit exceeded") || strings.Contains(err.Error(), "operation interrupted") {
		return errors.New("it takes too long: look at fewer elements")
	}
	return errors.New("it does not fit the object yet")
}

// String is the expression as it was written.
func (c Condition) String() string { return c.text }
