// Package place says where something stands: its path in a document, and its
// counterparts in the stubs that are merged into it.
package place

import (
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// Path is a place in a document, from the inside out.
type Path struct {
	Parent *Path
	key    string // field name, or empty for a list entry
	index  int
	keyed  string // "field:value" of an entry of a keyed list
	Secret bool   // the key came from outside
}

// Field is the path of a field below.
func (p *Path) Field(key string) *Path { return &Path{Parent: p, key: key, index: -1} }

// Entry is the path of a list entry below; keyed is "field:value" in a keyed list.
func (p *Path) Entry(index int, keyed string) *Path {
	return &Path{Parent: p, index: index, keyed: keyed}
}

// PathOf makes a path of static steps.
func PathOf(steps []syntax.Step) *Path {
	var p *Path
	for _, s := range steps {
		if s.IsIndex {
			p = p.Entry(s.Index, "")
		} else {
			p = p.Field(s.Key)
		}
	}
	return p
}

// Steps are the steps from the root; keyed shows entries by their key, where they have one.
func (p *Path) Steps(keyed bool) []string {
	n := 0
	for q := p; q != nil; q = q.Parent {
		n++
	}
	list := make([]string, n)
	for q := p; q != nil; q = q.Parent {
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
func (p *Path) String() string { return strings.Join(p.Steps(false), ".") }

// StubString is the dotted form with key values.
func (p *Path) StubString() string { return strings.Join(p.Steps(true), ".") }

// Report is the form for error reports; keys from sensitive bindings are
// left out.
func (p *Path) Report(sensitive bool) string {
	if !sensitive {
		return p.String()
	}
	steps := p.Steps(false)
	i := len(steps) - 1
	for q := p; q != nil; q = q.Parent {
		if q.Secret {
			steps[i] = "<key>"
		}
		i--
	}
	return strings.Join(steps, ".")
}
