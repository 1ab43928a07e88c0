package gotemplate

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"text/template/parse"

	"go.landscaper.dev/internal/base/textscan"
	"go.landscaper.dev/internal/content/template/mask"
)

// noValue is what a template prints for something that does not exist.
const noValue = "<no value>"

// maxSpans bounds what is remembered about the output. The rest counts as values.
const maxSpans = 200_000

// output is what a template prints, with the knowledge of what it says literally.
type output struct {
	*renderer
	// top is set for the template itself, not for one that it includes.
	top   bool
	text  bytes.Buffer
	spans []span
	// absent is the number of the action that is about to print noValue, plus one.
	absent int
}

// span is a part of the output up to an offset.
type span struct {
	end int
	// literal is the text of the template that was printed, without a program for
	// a value.
	literal place
	// absent is set where something is missing.
	absent *place
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if err := o.Step(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := o.text.Write(p)
	o.remember(p)
	return n, err
}

func (o *output) remember(p []byte) {
	if !o.top || len(o.spans) >= maxSpans {
		o.absent = 0
		return
	}
	next := span{end: o.text.Len(), literal: o.literals[&p[0]]}
	if o.absent > 0 {
		next.absent = &o.prints[o.absent-1]
		o.absent = 0
	}
	o.spans = append(o.spans, next)
}

// missing notes that the next print is noValue.
func (o *output) missing(number int) {
	o.absent = number + 1
	if !o.top {
		o.vanished = true
	}
}

// Result is what a template printed.
type Result struct {
	Text     []byte
	output   *output
	renderer *renderer
}

// Missing is a place of the output where the template printed something that does
// not exist.
type Missing struct {
	// Line counts from 1, Column from 0.
	Line, Column int
	// Action is the text of the action, and Source and At are its template and line,
	// if they are known.
	Action, Source string
	At             int
}

// Missing returns the places where "<no value>" stands for something that does not exist. Values
// that have this text do not count.
func (r *Result) Missing() []Missing {
	var found []Missing
	start, c := 0, cursor{text: r.Text, line: 1}
	for _, s := range r.output.spans {
		switch {
		case s.absent != nil:
			m := c.at(start)
			m.Action, m.Source, m.At = s.absent.text, s.absent.program.Name, s.absent.line()
			found = append(found, m)
		case s.literal.program == nil && r.renderer.vanished:
			// Text of an included template in which something is missing.
			for offset := start; ; offset += len(noValue) {
				i := bytes.Index(r.Text[offset:s.end], []byte(noValue))
				if i < 0 {
					break
				}
				offset += i
				found = append(found, c.at(offset))
			}
		}
		start = s.end
	}
	return found
}

// cursor counts the lines of a text up to growing offsets.
type cursor struct {
	text              []byte
	done, line, begin int
}

func (c *cursor) at(offset int) Missing {
	part := c.text[c.done:offset]
	if breaks := bytes.Count(part, []byte("\n")); breaks > 0 {
		c.line += breaks
		c.begin = c.done + bytes.LastIndexByte(part, '\n') + 1
	}
	c.done = offset
	return Missing{Line: c.line, Column: offset - c.begin}
}

// line is the line of a place, counted from 1.
func (p place) line() int {
	return strings.Count(p.program.Text[:min(int(p.offset), len(p.program.Text))], "\n") + 1
}

// Origin returns the template and the line that printed the beginning of a line
// of the output; 0 if it is not known.
func (r *Result) Origin(line int) (Source, int) {
	start, _ := r.bounds(line)
	if start < 0 {
		return Source{}, 0
	}
	i := sort.Search(len(r.output.spans), func(i int) bool { return r.output.spans[i].end > start })
	for ; i >= 0; i-- {
		if i == len(r.output.spans) || r.output.spans[i].literal.program == nil {
			continue
		}
		begin := 0
		if i > 0 {
			begin = r.output.spans[i-1].end
		}
		// From here on values were printed, which may have line breaks.
		literal := r.output.spans[i].literal
		literal.offset += parse.Pos(max(0, min(start, r.output.spans[i].end)-begin))
		return literal.program.Source, literal.line()
	}
	return Source{}, 0
}

// bounds returns where a line begins and ends; -1 if there is no such line.
func (r *Result) bounds(line int) (start, end int) {
	for ; line > 1; line-- {
		i := bytes.IndexByte(r.Text[start:], '\n')
		if i < 0 {
			return -1, -1
		}
		start += i + 1
	}
	end = bytes.IndexByte(r.Text[start:], '\n')
	if end < 0 {
		return start, len(r.Text)
	}
	return start, start + end
}

// maxShown bounds a line that is shown.
const maxShown = 200

// Line returns a line of the output as it may be shown: what the template says
// literally stays, values are hidden. The second result is false if there is no
// such line.
func (r *Result) Line(number int) (string, bool) {
	start, end := r.bounds(number)
	if start < 0 {
		return "", false
	}
	end = min(end, start+maxShown)
	pieces := r.renderer.pieces()
	var out strings.Builder
	i := sort.Search(len(r.output.spans), func(i int) bool { return r.output.spans[i].end > start })
	for ; start < end; i++ {
		if i == len(r.output.spans) {
			out.WriteString(r.showValue(string(r.Text[start:end]), pieces))
			break
		}
		s := r.output.spans[i]
		part := string(r.Text[start:min(s.end, end)])
		switch {
		case s.literal.program != nil || s.absent != nil:
			out.WriteString(part)
		default:
			out.WriteString(r.showValue(part, pieces))
		}
		start = s.end
	}
	return strings.ReplaceAll(out.String(), mask.Hidden+mask.Hidden, mask.Hidden), true
}

// Says reports whether a template or a file has a text literally, as a word.
func (r *Result) Says(text string) bool {
	return slices.ContainsFunc(r.renderer.programs, func(p *program) bool { return !p.computed && textscan.HasWord(p.Text, text) })
}

func (r *Result) showValue(text string, pieces mask.Pieces) string {
	if !r.renderer.vanished {
		return r.renderer.masks().Show(text, pieces)
	}
	parts := strings.Split(text, noValue)
	for i := range parts {
		parts[i] = r.renderer.masks().Show(parts[i], pieces)
	}
	return strings.Join(parts, noValue)
}

// pieces are what the templates of a rendering say literally.
func (r *renderer) pieces() mask.Pieces {
	if r.said != nil && r.saidBy == len(r.programs) {
		return *r.said
	}
	var literals []string
	for _, p := range r.programs {
		if p.computed {
			continue
		}
		for _, t := range p.template.Templates() {
			if t.Tree != nil && t.Root != nil {
				literals = append(literals, literalsOf(t.Root)...)
			}
		}
	}
	pieces := mask.NewPieces(literals)
	r.said, r.saidBy = &pieces, len(r.programs)
	return pieces
}

// literalsOf collects the texts and the constants of a part of a template.
func literalsOf(node parse.Node) []string {
	var found []string
	collect := func(nodes ...parse.Node) {
		for _, child := range nodes {
			found = append(found, literalsOf(child)...)
		}
	}
	branch := func(b parse.BranchNode) {
		collect(b.Pipe, b.List)
		if b.ElseList != nil {
			collect(b.ElseList)
		}
	}
	switch node := node.(type) {
	case *parse.TextNode:
		return []string{string(node.Text)}
	case *parse.StringNode:
		return []string{node.Text}
	case *parse.ListNode:
		collect(node.Nodes...)
	case *parse.ActionNode:
		collect(node.Pipe)
	case *parse.IfNode:
		branch(node.BranchNode)
	case *parse.WithNode:
		branch(node.BranchNode)
	case *parse.RangeNode:
		branch(node.BranchNode)
	case *parse.TemplateNode:
		if node.Pipe != nil {
			collect(node.Pipe)
		}
	case *parse.PipeNode:
		for _, c := range node.Cmds {
			collect(c.Args...)
		}
	case *parse.ChainNode:
		collect(node.Node)
	}
	return found
}
