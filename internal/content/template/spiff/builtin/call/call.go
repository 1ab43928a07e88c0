// Package call is what every function of the language is made of: its entry in a table,
// with its documentation, and a call of it with its arguments and its host.
package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Access is how much of the outside world functions may touch.
type Access int

// The access levels. Each one includes the ones before.
const (
	None  Access = iota // pure functions only
	Files               // reading the given file system
	Full                // everything
)

// Group collects related functions in the documentation.
type Group string

// Function is one builtin.
type Function struct {
	Name   string
	Group  Group
	Tier   int
	Usage  string // call syntax, for documentation and messages
	Result string // type of the result
	Doc    string // rules, one paragraph
	// Example is an expression and its printed result, checked by the tests.
	Example, Gives string

	Min, Max int // number of arguments; Max < 0 is unbounded
	Access   Access
	// Keeps marks functions that return parts of their arguments unchanged. The results of all others
	// inherit the data mark of their arguments.
	Keeps bool
	// Aware marks functions that the evaluator implements on expressions.
	Aware bool
	Run   func(c *Call) (value.Value, error)
}

// Host is what functions need from the evaluation that calls them.
type Host interface {
	Context() context.Context
	// Invoke calls a lambda value.
	Invoke(fn value.Value, args ...value.Value) (value.Value, error)
	// Arity returns the smallest and largest number of arguments of a lambda;
	// largest is -1 if unbounded. ok is false if fn is no lambda.
	Arity(fn value.Value) (smallest, largest int, ok bool)
	// Show renders a value for a message, without content if it is sensitive.
	Show(v value.Value) string
	// Template turns unevaluated content into a template value.
	Template(content *value.Node) (value.Value, error)
	// Process evaluates a document text at the current place. Own makes
	// absolute references mean the document itself.
	Process(content *value.Node, own bool) (value.Value, error)
	// Cached keeps a result for the rest of the run.
	Cached(key string, make func() (value.Value, error)) (value.Value, error)
	Settings() *Settings
}

// Settings are the parts of the configuration that functions read.
type Settings struct {
	Access    Access
	Files     fs.FS
	System    System
	Features  []string
	Random    io.Reader
	Now       func() time.Time
	Key       string
	Sensitive bool
}

// System is the outside world beyond reading files.
type System interface {
	WriteFile(path string, data []byte, perm fs.FileMode) error
	MakeDir(path string, perm fs.FileMode) error
	TempFile(data []byte, perm fs.FileMode) (string, error)
	ReadFile(path string) ([]byte, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	Stat(path string) (fs.FileInfo, error)
	Run(ctx context.Context, stdin []byte, command []string) ([]byte, error)
	Env(name string) (string, bool)
	Fetch(ctx context.Context, url string) ([]byte, error)
}

// Call is one call of a function.
type Call struct {
	Host
	Function *Function
	Args     []value.Value
}

// Len is the number of arguments.
func (c *Call) Len() int { return len(c.Args) }

// Check verifies the number of arguments and the access level.
func (c *Call) Check() error {
	f := c.Function
	if f.Access > c.Settings().Access {
		return fmt.Errorf("%s: no OS operations supported in this execution environment", f.Name)
	}
	if len(c.Args) >= f.Min && (f.Max < 0 || len(c.Args) <= f.Max) {
		return nil
	}
	return fmt.Errorf("%s takes %s, but got %d: usage is %s", f.Name, f.Arity(), len(c.Args), f.Usage)
}

// Arity describes the number of arguments in words.
func (f *Function) Arity() string {
	plural := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return fmt.Sprintf("%d arguments", n)
	}
	switch {
	case f.Max < 0:
		return "at least " + plural(f.Min)
	case f.Min == f.Max:
		return plural(f.Min)
	}
	return fmt.Sprintf("%d to %s", f.Min, plural(f.Max))
}

// Wrong reports an argument of the wrong type.
func (c *Call) Wrong(i int, want string) error {
	got := "nothing"
	if i < len(c.Args) {
		got = value.TypeName(c.Args[i])
	}
	return fmt.Errorf("%s: argument %d must be %s, but is %s", c.Function.Name, i+1, want, got)
}

// Failf reports a problem of the function.
func (c *Call) Failf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", c.Function.Name, fmt.Errorf(format, args...))
}

// Because passes on a reason from outside, which may name arguments.
func (c *Call) Because(err error) error {
	if c.Settings().Sensitive {
		return errDetails
	}
	return err
}

var errDetails = errors.New("details are left out because they may hold bound values")

// Quote shows a text of an argument in a message.
func (c *Call) Quote(s string) string { return c.Show(value.Text(s)) }

// Text returns argument i as a string.
func (c *Call) Text(i int) (string, error) {
	switch v := c.Arg(i).(type) {
	case value.String:
		return v.Text, nil
	case value.Bytes:
		return string(v), nil
	}
	return "", c.Wrong(i, "a string")
}

// Arg returns argument i, or nothing if it is not given.
func (c *Call) Arg(i int) value.Value {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return nil
}

// Simple returns a string, integer or boolean argument as text.
func (c *Call) Simple(i int) (string, error) {
	if text, ok := value.SimpleText(c.Arg(i)); ok {
		return text, nil
	}
	return "", c.Wrong(i, "a string, integer or boolean")
}

// Int returns argument i as an integer.
func (c *Call) Int(i int) (int64, error) {
	if n, ok := c.Arg(i).(value.Int); ok {
		return int64(n), nil
	}
	return 0, c.Wrong(i, "an integer")
}

// IntOr returns an optional argument as an integer, or a default if it is not
// given. Numeric text counts as an integer here.
func (c *Call) IntOr(i int, otherwise int64) (int64, error) {
	if i >= len(c.Args) {
		return otherwise, nil
	}
	if s, ok := c.Args[i].(value.String); ok {
		if n, err := strconv.ParseInt(s.Text, 10, 64); err == nil {
			return n, nil
		}
	}
	return c.Int(i)
}

// List returns argument i as a list.
func (c *Call) List(i int) (*value.List, error) {
	if l, ok := c.Arg(i).(*value.List); ok {
		return l, nil
	}
	return nil, c.Wrong(i, "a list")
}

// Map returns argument i as a map.
func (c *Call) Map(i int) (*value.Map, error) {
	if m, ok := c.Arg(i).(*value.Map); ok {
		return m, nil
	}
	return nil, c.Wrong(i, "a map")
}

// TextList makes a list of strings.
func TextList(texts []string) *value.List {
	values := make([]value.Value, len(texts))
	for i, s := range texts {
		values[i] = value.Text(s)
	}
	return value.ListOf(values...)
}

// Texts reads a list of strings, or a single string.
func (c *Call) Texts(i int) ([]string, error) {
	switch v := c.Arg(i).(type) {
	case value.String:
		return []string{v.Text}, nil
	case *value.List:
		var texts []string
		for _, n := range v.Items {
			s, ok := n.Value.(value.String)
			if !ok {
				return nil, c.Wrong(i, "a string or a list of strings")
			}
			texts = append(texts, s.Text)
		}
		return texts, nil
	}
	return nil, c.Wrong(i, "a string or a list of strings")
}
