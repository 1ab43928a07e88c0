package eval

import (
	"strconv"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
)

// path is a place in a document, from the inside out.
type path struct {
	parent *path
	key    string // field name, or empty for a list entry
	index  int
	keyed  string // "field:value" of an entry of a keyed list
	secret bool   // the key came from outside
}

func (p *path) field(key string) *path { return &path{parent: p, key: key, index: -1} }

func (p *path) entry(index int, keyed string) *path {
	return &path{parent: p, index: index, keyed: keyed}
}

// pathOf makes a path of static steps.
func pathOf(steps []syntax.Step) *path {
	var p *path
	for _, s := range steps {
		if s.IsIndex {
			p = p.entry(s.Index, "")
		} else {
			p = p.field(s.Key)
		}
	}
	return p
}

func (p *path) steps(keyed bool) []string {
	n := 0
	for q := p; q != nil; q = q.parent {
		n++
	}
	list := make([]string, n)
	for q := p; q != nil; q = q.parent {
		n--
		switch {
		case q.index < 0:
			list[n] = q.key
		case keyed && q.keyed != "":
			list[n] = q.keyed
		default:
			list[n] = "[" + strconv.Itoa(q.index) + "]"
		}
	}
	return list
}

// String is the dotted form used in reports.
func (p *path) String() string { return strings.Join(p.steps(false), ".") }

// stubString is the dotted form with key values.
func (p *path) stubString() string { return strings.Join(p.steps(true), ".") }

// report is the form for error reports; keys from sensitive bindings are
// left out.
func (p *path) report(sensitive bool) string {
	if !sensitive {
		return p.String()
	}
	steps := p.steps(false)
	i := len(steps) - 1
	for q := p; q != nil; q = q.parent {
		if q.secret {
			steps[i] = "<key>"
		}
		i--
	}
	return strings.Join(steps, ".")
}

// shown is a path in a message.
func (r *run) shown(p *path) string { return p.report(r.Settings.Sensitive) }

// shownStub is a path in the stubs in a message. Key values of lists can come
// from bindings, so they are left out if these are sensitive.
func (r *run) shownStub(p *path) string {
	if r.Settings.Sensitive {
		return p.report(true)
	}
	return p.stubString()
}

// stepsText is the dotted form of static steps.
func stepsText(steps []syntax.Step) string {
	parts := make([]string, len(steps))
	for i, s := range steps {
		parts[i] = syntax.StepText(s)
	}
	return strings.Join(parts, ".")
}
