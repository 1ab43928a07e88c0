// Package tree prints the tree of a landscape as text.
package tree

import (
	"fmt"
	"io"
	"strings"

	"go.landscaper.dev/internal/inspect"
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
}

// glyphs are the pieces that a tree is drawn with, each four columns wide.
type glyphs struct {
	middle, last, through, empty string
	symbols                      map[symbol]string
}

var (
	unicode = glyphs{"├── ", "└── ", "│   ", "    ", map[symbol]string{good: "✅ ", busy: "🏗️ ", bad: "❌ "}}
	ascii   = glyphs{"|-- ", "`-- ", "|   ", "    ", nil}
)

func (p *printer) root(node *inspect.Node) error {
	if err := p.node(node, "", "", p.glyphs.empty); err != nil {
		return err
	}
	p.text.WriteByte('\n')
	return nil
}

// node prints a node behind its branch, and below it, behind the prefix and the
// continuation of the branch, its text and its children.
func (p *printer) node(node *inspect.Node, prefix, branch, continuation string) error {
	p.text.WriteString(prefix + branch + p.headline(node) + "\n")
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

func (p *printer) headline(node *inspect.Node) string {
	line := "[" + p.status(node) + "] " + string(node.Kind) + " "
	name := node.Name
	if p.options.Namespaces {
		name = node.Namespace + "/" + name
	}
	if p.options.Names == TemplateNames && node.TemplateName != "" {
		name = node.TemplateName + " (" + name + ")"
	}
	line += printable(name)
	if node.Orphaned {
		line += " (orphaned)"
	}
	return line
}

func (p *printer) status(node *inspect.Node) string {
	if node.State == inspect.Missing {
		return "?"
	}
	symbol := symbolOf(node.Phase)
	status := p.glyphs.symbols[symbol] + printable(node.Phase)
	if node.Outdated {
		status += " (outdated)"
	}
	if p.options.Color && symbol != none {
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", symbol, status)
	}
	return status
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
