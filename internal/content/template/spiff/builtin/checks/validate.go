// Package checks holds the functions that check values, and their named checks.
package checks

import (
	"fmt"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Functions are those that check values.
var Functions = []call.Function{
	{Name: "validate", Usage: "validate(value, check…)", Result: "value", Min: 1, Max: -1, Keeps: true, Run: validate,
		Doc: "The value if it passes all checks, else an error. A check is a name, `!name`, a lambda, or a list of " +
			"one of them and its arguments. Names: " + checkNames + ".",
		Example: `validate(8443, ["and", [">", 1023], ["<", 65536]])`, Gives: `8443`},
	{Name: "check", Usage: "check(value, check…)", Result: "bool", Min: 1, Max: -1, Run: check,
		Doc:     "Whether a value passes all checks; the checks are those of `validate`.",
		Example: `check("db-1", "dnslabel")`, Gives: `true`},
}

const checkNames = "empty, type, value (=), valueset, gt (>), lt (<), ge (>=), le (<=), match (~=), list, map, " +
	"mapfield, optionalfield, and, or, not (!), ip, cidr, dnslabel, dnsdomain, wildcarddnsdomain, dnsname, semver, " +
	"publickey, privatekey, certificate, ca"

// verdict is the outcome of a check: whether it passed, what is true of the
// value now, and what would be wrong about it if it were not.
type verdict struct {
	ok     bool
	reason string
}

func yes(format string, args ...any) (verdict, error) {
	return verdict{true, fmt.Sprintf(format, args...)}, nil
}

func no(format string, args ...any) (verdict, error) {
	return verdict{false, fmt.Sprintf(format, args...)}, nil
}

// either reports a plain property.
func either(ok bool, property string) (verdict, error) {
	if ok {
		return yes("is %s", property)
	}
	return no("is no %s", property)
}

func validate(c *call.Call) (value.Value, error) {
	for i := 1; i < c.Len(); i++ {
		v, err := judge(c, c.Args[0], c.Args[i])
		if err != nil {
			return nil, fmt.Errorf("condition %d has problem: %w", i, err)
		}
		if !v.ok {
			return nil, fmt.Errorf("condition %d failed: %s", i, v.reason)
		}
	}
	return c.Args[0], nil
}

func check(c *call.Call) (value.Value, error) {
	passed := true
	for i := 1; i < c.Len(); i++ {
		v, err := judge(c, c.Args[0], c.Args[i])
		if err != nil {
			return nil, fmt.Errorf("condition %d has problem: %w", i, err)
		}
		passed = passed && v.ok
	}
	return value.Bool(passed), nil
}

// judge applies one check.
func judge(c *call.Call, v, condition value.Value) (verdict, error) {
	switch x := condition.(type) {
	case value.Null:
		return yes("is anything")
	case value.String:
		return namedCheck(c, v, x.Text, nil)
	case *value.List:
		if len(x.Items) == 0 {
			return verdict{}, fmt.Errorf("check is an empty list")
		}
		args := make([]value.Value, len(x.Items)-1)
		for i, n := range x.Items[1:] {
			args[i] = n.Value
		}
		if name, ok := x.Items[0].Value.(value.String); ok {
			return namedCheck(c, v, name.Text, args)
		}
		return lambdaCheck(c, v, x.Items[0].Value, args)
	}
	return lambdaCheck(c, v, condition, nil)
}

func namedCheck(c *call.Call, v value.Value, name string, args []value.Value) (verdict, error) {
	if rest, ok := strings.CutPrefix(name, "!"); ok && rest != "" {
		result, err := namedCheck(c, v, rest, args)
		result.ok = !result.ok
		return result, err
	}
	f := checks()[name]
	if f == nil {
		return verdict{}, fmt.Errorf("unknown check %s, known are %s", c.Quote(name), checkNames)
	}
	return f(c, v, args)
}

// lambdaCheck asks a lambda; it may give texts for success and failure.
func lambdaCheck(c *call.Call, v, fn value.Value, args []value.Value) (verdict, error) {
	smallest, largest, ok := c.Arity(fn)
	if !ok {
		return verdict{}, fmt.Errorf("a check must be a name, a lambda or a list, not %s", value.A(fn))
	}
	if given := len(args) + 1; given < smallest || largest >= 0 && given > largest {
		return verdict{}, fmt.Errorf("lambda of the check takes %d to %d arguments, but gets %d", smallest, largest, given)
	}
	result, err := c.Invoke(fn, append([]value.Value{v}, args...)...)
	if err != nil {
		return verdict{}, err
	}
	list, ok := result.(*value.List)
	if !ok {
		if value.Truth(result) {
			return yes("%s succeeded", lambdaText(fn))
		}
		return no("%s failed", lambdaText(fn))
	}
	return listVerdict(c, list, fn)
}

func lambdaText(fn value.Value) string {
	if o, ok := fn.(value.Opaque); ok {
		if s, ok := o.Plain().(value.String); ok {
			return value.LambdaText(s.Text)
		}
	}
	return "check"
}

// listVerdict reads [ok], [ok, message] or [ok, good message, bad message].
func listVerdict(c *call.Call, list *value.List, fn value.Value) (verdict, error) {
	texts := []string{lambdaText(fn) + " succeeded", lambdaText(fn) + " failed"}
	if len(list.Items) == 0 || len(list.Items) > 3 {
		return verdict{}, fmt.Errorf("lambda of a check must give a truth value or a list of 1 to 3 entries")
	}
	for i, n := range list.Items[1:] {
		s, ok := n.Value.(value.String)
		if !ok {
			return verdict{}, fmt.Errorf("messages of a check must be strings, not %s", value.A(n.Value))
		}
		text := s.Text
		if c.Settings().Sensitive {
			text = c.Show(s)
		}
		texts[i] = text
		if len(list.Items) == 2 {
			texts[1] = text
		}
	}
	if value.Truth(list.Items[0].Value) {
		return verdict{true, texts[0]}, nil
	}
	return verdict{false, texts[1]}, nil
}
