// Package treeview prints the tree of a landscape as text.
package treeview

import (
	"fmt"
	"io"
	"strings"
	"time"

	"go.landscaper.dev/internal/landscape/inspect"
)

// Names says which names of objects are shown.
type Names string

const (
	// ObjectNames shows the names of the objects.
	ObjectNames Names = "object"
	// TemplateNames shows the names in the blueprint before those of the objects.
	TemplateNames Names = "template"
)

// Options say what is printed and how. The zero value prints what the public
// command line prints.
type Options struct {
	// Details prints the whole objects.
	Details bool
	// Wide prints what each object deploys.
	Wide bool
	// Namespaces prints namespaces before names.
	Namespaces bool
	// HideExecutions prints DeployItems directly below their Installation.
	HideExecutions bool
	// Names says which names are shown; ObjectNames if empty.
	Names Names
	// ASCII avoids characters that not every terminal knows.
	ASCII bool
	// Color prints states in colour.
	Color bool
	// Columns is the width of the terminal; 0 means that it is not known.
	Columns int
	// NoWrap leaves long lines as they are.
	NoWrap bool
	// Live is the present moment for a picture of what is going on: how long each object
	// has been in its phase and what it waits for; what is settled hides its parts.
	// Zero means that everything is shown, without times.
	Live time.Time
}

// Write prints trees, each followed by an empty line.
func Write(out io.Writer, trees []*inspect.Node, options Options) error {
	p := printer{options: options, glyphs: unicode}
	if options.ASCII {
		p.glyphs = ascii
	}
	for _, root := range trees {
		if err := p.root(root); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, p.text.String())
	return err
}

type printer struct {
	options Options
	glyphs  glyphs
	text    strings.Builder
	// said are the texts below the objects of the tree that is printed.
	said map[*inspect.Node][]said
}

// glyphs are the pieces that a tree is drawn with, each four columns wide.
type glyphs struct {
	middle, last, through, empty string
	// cut stands where a name was shortened.
	cut     string
	symbols map[symbol]string
}

var (
	unicode = glyphs{"├── ", "└── ", "│   ", "    ", "…", map[symbol]string{good: "✅ ", busy: "🏗️ ", bad: "❌ "}}
	ascii   = glyphs{"|-- ", "`-- ", "|   ", "    ", "~", nil}
)

func (p *printer) root(node *inspect.Node) error {
	p.explain(node)
	if err := p.node(node, "", "", p.glyphs.empty); err != nil {
		return err
	}
	p.text.WriteByte('\n')
	return nil
}

// node prints a node behind its branch, and below it, behind the prefix and the
// continuation of the branch, its text and its children.
func (p *printer) node(node *inspect.Node, prefix, branch, continuation string) error {
	p.text.WriteString(p.headline(prefix+branch, node) + "\n")
	prefix += continuation
	if err := p.description(node, prefix); err != nil {
		return err
	}
	children := p.children(node)
	for i, child := range children {
		branch, continuation := p.glyphs.middle, p.glyphs.through
		if i == len(children)-1 {
			branch, continuation = p.glyphs.last, p.glyphs.empty
		}
		if err := p.node(child, prefix, branch, continuation); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) children(node *inspect.Node) []*inspect.Node {
	if !p.options.Live.IsZero() && settled(node) {
		return nil
	}
	if !p.options.HideExecutions {
		return node.Children
	}
	var children []*inspect.Node
	for _, child := range node.Children {
		if child.Kind == inspect.KindExecution {
			children = append(children, child.Children...)
			continue
		}
		children = append(children, child)
	}
	return children
}

func (p *printer) headline(branch string, node *inspect.Node) string {
	status, color := p.status(node)
	before := branch + "[" + status + "] " + string(node.Kind) + " "
	name := node.Name
	if p.options.Namespaces {
		name = node.Namespace + "/" + name
	}
	if p.options.Names == TemplateNames && node.TemplateName != "" {
		name = node.TemplateName + " (" + name + ")"
	}
	after := ""
	if node.Orphaned {
		after = " (orphaned)"
	}
	after += p.live(node)
	text := p.fit(before, printable(name), after)
	if color != none {
		before = branch + fmt.Sprintf("[\x1b[%dm%s\x1b[0m] ", color, status) + string(node.Kind) + " "
	}
	return before + text
}

// status returns the text in brackets and its colour.
func (p *printer) status(node *inspect.Node) (string, symbol) {
	if node.State == inspect.Missing {
		return "?", none
	}
	symbol := symbolOf(node.Phase)
	status := p.glyphs.symbols[symbol] + printable(node.Standing())
	if !p.options.Color {
		symbol = none
	}
	return status, symbol
}

// symbol stands before a phase; its number is its colour on a terminal.
type symbol int

const (
	none symbol = 0
	bad  symbol = 31
	good symbol = 32
	busy symbol = 33
)

// symbolOf knows the phases that the public command line marks; others, also
// those of later releases, are shown as they are.
func symbolOf(phase string) symbol {
	switch phase {
	case "Succeeded":
		return good
	case "Init", "ObjectsCreated", "Progressing", "Completing", "InitDelete", "TriggerDelete", "Deleting":
		return busy
	case "Failed", "DeleteFailed":
		return bad
	}
	return none
}
