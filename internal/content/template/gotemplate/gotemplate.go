// Package gotemplate renders Go templates of a blueprint. A template gets the
// functions of an explicit list and nothing of the machine it is rendered on. It
// cannot run or print without end, and its errors show no value.
//
// Differences to text/template that authors notice: integers are compared with
// and printed like any other number, and errors of included files name the file.
package gotemplate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"

	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/function"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
	"go.landscaper.dev/internal/content/template/gotemplate/worklimit"
	"go.landscaper.dev/internal/content/template/mask"
)

// Function is a function that is added to the builtin ones. Arguments and result
// are plain values.
type Function = func(ctx context.Context, args []any) (any, error)

// Types that users of this package work with.
type (
	// Source is a template with its name.
	Source = failure.Source
	// Error is an error of a template.
	Error = failure.Error
	// Limits bound one rendering.
	Limits = worklimit.Limits
)

// Config is what templates get.
type Config struct {
	// Files are the files that functions read; may be nil.
	Files fs.FS
	// Functions are added to the builtin ones and win over them.
	Functions map[string]Function
	// Limits bound one rendering. Zero values mean the defaults.
	Limits Limits
}

// program is a template that is ready to be executed.
type program struct {
	Source
	template *template.Template
	// computed is set for a text that a template made, which may hold values.
	computed bool
	// literals are the first bytes of its texts.
	literals []*byte
}

// renderer holds what the templates of one rendering share.
type renderer struct {
	function.Library
	config    Config
	functions template.FuncMap
	bindings  map[string]any

	calls  int            // nested calls of named templates
	open   map[string]int // nested renderings by name
	nested int

	// set has the named templates that all share; nil where each template has its own.
	set *template.Template

	files    map[string]*program // parsed files by path
	programs []*program
	prints   []place         // actions that print, by number
	literals map[*byte]place // texts of templates by their first byte
	out      *output         // where the current template prints
	hides    *mask.Mask      // made when an error needs it
	vanished bool            // an included template printed something that does not exist
	said     *mask.Pieces    // what the first saidBy programs say literally
	saidBy   int

	// coverage records what is executed, in tests of blueprints; branches are those that it knows, by number.
	coverage *coverage.Recorder
	branches []coverage.Branch
}

// place is a node of a template.
type place struct {
	program *program
	offset  parse.Pos
	text    string
}

func (c Config) renderer(ctx context.Context, bindings map[string]any) (*renderer, context.CancelFunc) {
	meter, cancel := worklimit.NewMeter(ctx, c.Limits)
	r := &renderer{
		Library: function.Library{Meter: meter}, config: c, bindings: bindings,
		coverage: coverage.From(ctx), open: map[string]int{}, files: map[string]*program{}, literals: map[*byte]place{},
	}
	r.functions = r.allFunctions()
	return r, cancel
}

// Render renders a template. The bindings are plain values, and the template
// works on a copy of them. The error is an *Error.
func (c Config) Render(ctx context.Context, source Source, bindings map[string]any) (*Result, error) {
	r, cancel := c.renderer(ctx, bindings)
	defer cancel()
	p, err := r.parse(source, false)
	if err != nil {
		return nil, err
	}
	out, err := r.execute(p, operand.LocalCopy(bindings))
	if err != nil {
		return nil, err
	}
	return &Result{Text: out.text.Bytes(), output: out, renderer: r}, nil
}

// Check parses a template with the names of all functions. The error is an *Error.
func (c Config) Check(ctx context.Context, source Source) error {
	r, cancel := c.renderer(ctx, nil)
	defer cancel()
	_, err := r.parse(source, false)
	return err
}

// parse parses a template and puts the guards in.
func (r *renderer) parse(source Source, computed bool) (*program, error) {
	p := &program{Source: source, computed: computed}
	if err := checkSource(source.Text); err != nil {
		return nil, r.explain(err, p)
	}
	parsed, err := template.New(source.Name).Option("missingkey=zero").Funcs(r.mentioned(source.Text)).Parse(source.Text)
	if err != nil {
		return nil, r.explain(err, p)
	}
	p.template = parsed
	r.programs = append(r.programs, p)
	r.guard(p)
	return p, nil
}

// execute runs a program. It ends soon after the limits are reached, because
// every call of a function, every round of a loop and every print checks them.
func (r *renderer) execute(p *program, dot any) (out *output, err error) {
	defer func() {
		if recover() != nil {
			// text/template passes errors of the Go runtime on, for example in a
			// method that prints a value. Its text may hold values.
			out, err = nil, r.explain(errors.New("the template crashed"), p)
		}
	}()
	if r.open[p.Name] >= maxSameNesting || r.nested >= maxNesting {
		return nil, r.explain(&failure.Refusal{Reason: fmt.Sprintf("rendering template has a nested reference name: %s: unable to execute template", p.Name)}, p)
	}
	r.open[p.Name]++
	r.nested++
	outer, calls := r.out, r.calls
	r.out = &output{renderer: r, top: outer == nil}
	defer func() {
		r.open[p.Name]--
		r.nested--
		r.out, r.calls = outer, calls
	}()
	if err := p.template.Execute(r.out, dot); err != nil {
		return nil, r.explain(err, p)
	}
	return r.out, nil
}

// allFunctions returns what a template can call.
func (r *renderer) allFunctions() template.FuncMap {
	functions := r.All()
	for name, function := range r.own() {
		functions[name] = r.Native(name, function)
	}
	for name, function := range r.config.Functions {
		functions[name] = r.host(name, function)
	}
	return functions
}

// own are the functions that render or read files, and those whose message is the
// author's.
func (r *renderer) own() map[string]any {
	return map[string]any{
		"include": r.include, "tpl": r.tpl, "readFile": r.readFile, "readDir": r.readDir,
		"fail": r.fail, "required": r.required,
	}
}

// betweenWords reports whether a character belongs to no name of a function.
func betweenWords(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// mentioned returns the functions whose names are in a text. A template copies all
// that it is given, which is much for the short ones that "tpl" makes.
func (r *renderer) mentioned(text string) template.FuncMap {
	functions := template.FuncMap{}
	for name := range strings.FieldsFuncSeq(text, betweenWords) {
		// A name begins with a letter.
		name = strings.TrimLeftFunc(name, unicode.IsNumber)
		if function, known := r.functions[name]; known {
			functions[name] = function
		}
	}
	return functions
}

// masks returns the mask of the values of this rendering.
func (r *renderer) masks() *mask.Mask {
	if r.hides == nil {
		r.hides = mask.New(r.bindings)
	}
	return r.hides
}
