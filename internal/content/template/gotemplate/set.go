package gotemplate

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// Member is a template of a set.
type Member struct {
	Source
	// Dot is what the template works with. The caller has made it for this rendering:
	// templates change what they get. See Local.
	Dot map[string]any
	// Partial is set for a template that only defines others and prints nothing.
	Partial bool
}

// Local returns a deep copy of plain values, as templates work with them.
func Local(values map[string]any) map[string]any { return operand.LocalCopy(values) }

// RenderSet renders templates that share their named templates, as those of a Helm
// chart do: "include" and "template" find what any of them defines, and of two with
// the same name the one that comes later wins. Values are what no message may repeat.
// The result has what each member printed, by its name; the limits bound all of them
// together. The error is an *Error.
func (c Config) RenderSet(ctx context.Context, members []Member, values map[string]any) (map[string]string, error) {
	r, cancel := c.renderer(ctx, values)
	defer cancel()
	r.set = template.New("chart").Option("missingkey=zero")
	r.functions = r.chartFunctions()
	r.set.Funcs(r.functions)
	programs, err := r.parseSet(members)
	if err != nil {
		return nil, err
	}
	printed := make(map[string]string, len(members))
	for _, member := range members {
		if member.Partial {
			continue
		}
		sandbox.At(ctx, "template "+member.Name)
		out, err := r.execute(programs[member.Name], member.Dot)
		if err != nil {
			return nil, err
		}
		printed[member.Name] = out.text.String()
	}
	return printed, nil
}

// parseSet parses all members and puts the guards in.
func (r *renderer) parseSet(members []Member) (map[string]*program, error) {
	programs := make(map[string]*program, len(members))
	for _, member := range members {
		p := &program{Source: member.Source}
		if err := checkSource(member.Text); err != nil {
			return nil, r.explain(err, p)
		}
		parsed, err := r.set.New(member.Name).Parse(member.Text)
		if err != nil {
			return nil, r.explain(err, p)
		}
		p.template = parsed
		programs[member.Name] = p
		r.programs = append(r.programs, p)
	}
	r.guardSet(r.set, func(file string) *program { return programs[file] })
	return programs, nil
}

// guardSet puts the guards into the templates of a set whose files are known; the
// others have theirs.
func (r *renderer) guardSet(set *template.Template, of func(file string) *program) {
	for _, t := range set.Templates() {
		if t.Tree == nil || t.Root == nil {
			continue
		}
		if p := of(t.ParseName); p != nil {
			(&guard{renderer: r, program: p}).tree(t)
		}
	}
	set.Funcs(r.guards())
}

// includeNamed executes a template that is defined somewhere in the set.
func (r *renderer) includeNamed(name string, dot any) (string, error) {
	named := r.set.Lookup(name)
	if named == nil || named.Tree == nil {
		return "", &failure.CallError{Name: "include", Reason: fmt.Sprintf("no template %s is defined", r.quoted(name))}
	}
	return r.nestedText(&program{Source: Source{Name: name}, template: named}, dot)
}

// computedName is the name of a text that a template of a set has made.
const computedName = "tpl"

// tplNamed renders a text as a template that sees all named templates. Only the text itself sees
// the templates that it defines.
func (r *renderer) tplNamed(text string, dot any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	p := &program{Source: Source{Name: computedName, Text: text}, computed: true}
	if err := checkSource(text); err != nil {
		return "", r.explain(err, p)
	}
	outer, programs, prints := r.set, len(r.programs), len(r.prints)
	inner, err := outer.Clone()
	if err != nil {
		return "", r.explain(err, p)
	}
	defer func() { r.set = outer }()
	r.set = inner.Option("missingkey=zero")
	if p.template, err = r.set.New(computedName).Parse(text); err != nil {
		return "", r.explain(err, p)
	}
	r.programs = append(r.programs, p)
	r.guardSet(r.set, func(file string) *program {
		if file != computedName {
			return nil
		}
		return p
	})
	out, err := r.nestedText(p, dot)
	if err != nil {
		return "", err
	}
	r.forget(p, programs, prints)
	return out, nil
}

var located = regexp.MustCompile(`^template: (.+?):(\d+)(?::\d+)?: `)

// relocate names the file of a set in which an error happened: it may be another one
// than that which was executed.
func (r *renderer) relocate(e *Error) {
	match := located.FindStringSubmatch(e.Message)
	if r.set == nil || match == nil || e.Computed {
		return
	}
	for _, p := range r.programs {
		if p.Name == match[1] && !p.computed {
			e.Source = p.Source
			return
		}
	}
}
