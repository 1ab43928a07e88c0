package picture

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
)

// language is the syntax of a drawing program.
type language struct {
	head, foot string
	open       func(text *strings.Builder, indent, id string, unit *flowview.Unit)
	shut       string
	unit       func(text *strings.Builder, indent, id string, unit *flowview.Unit)
	value      func(text *strings.Builder, indent, id string, value *flowview.Value)
	edge       string
}

// DOT writes the picture for Graphviz.
func DOT(out io.Writer, scope *flowview.Scope) error { return dot.write(out, scope) }

// Mermaid writes the picture for Mermaid.
func Mermaid(out io.Writer, scope *flowview.Scope) error { return mermaid.write(out, scope) }

func (l language) write(out io.Writer, scope *flowview.Scope) error {
	var text strings.Builder
	text.WriteString(l.head)
	l.scope(&text, scope, "i", "  ")
	text.WriteString(l.foot)
	_, err := io.WriteString(out, text.String())
	return err
}

// scope writes what is in a scope. IDs are numbers, because names may be anything.
func (l language) scope(text *strings.Builder, scope *flowview.Scope, prefix, indent string) {
	ids := map[string]string{}
	for i, unit := range scope.Units {
		id := prefix + strconv.Itoa(i)
		ids[unit.Name] = id
		if unit.Inside == nil {
			l.unit(text, indent, id, unit)
			continue
		}
		l.open(text, indent, id, unit)
		l.unit(text, indent+"  ", id, unit)
		l.scope(text, unit.Inside, id+"_", indent+"  ")
		text.WriteString(indent + l.shut + "\n")
	}
	for i, value := range scope.Values {
		id := prefix + "v" + strconv.Itoa(i)
		l.value(text, indent, id, value)
		for _, exporter := range value.Exporters {
			fmt.Fprintf(text, "%s%s %s %s\n", indent, ids[exporter], l.edge, id)
		}
		for _, importer := range value.Importers {
			fmt.Fprintf(text, "%s%s %s %s\n", indent, id, l.edge, ids[importer])
		}
	}
}

var dot = language{
	head: "digraph landscaper {\n  rankdir=LR\n  node [fontname=\"sans-serif\", fontsize=11]\n  edge [color=\"#8a94a3\"]\n",
	foot: "}\n", shut: "}", edge: "->",
	open: func(text *strings.Builder, indent, id string, unit *flowview.Unit) {
		fmt.Fprintf(text, "%ssubgraph cluster_%s {\n%s  label=%s; color=%q\n", indent, id, indent, dotText(unit.Title), lookOf(unit.State).line)
	},
	unit: func(text *strings.Builder, indent, id string, unit *flowview.Unit) {
		look := lookOf(unit.State)
		fmt.Fprintf(text, "%s%s [shape=box, style=\"rounded,filled\", fillcolor=%q, color=%q, fontcolor=%q, label=%s, tooltip=%s]\n",
			indent, id, look.fill, look.line, look.text, dotText(unit.Title+"\n"+unit.Phase), dotText(unit.Why))
	},
	value: func(text *strings.Builder, indent, id string, value *flowview.Value) {
		style := "solid"
		if value.Outside() {
			style = "dashed"
		}
		fmt.Fprintf(text, "%s%s [shape=note, style=%s, color=\"#8a94a3\", label=%s]\n", indent, id, style, dotText(label(value)))
	},
}

func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", " ").Replace(terminal.PrintableLines(text)) + `"`
}

var mermaid = language{
	head: "flowchart LR\n" + mermaidClasses(), shut: "end", edge: "-->",
	open: func(text *strings.Builder, indent, id string, unit *flowview.Unit) {
		fmt.Fprintf(text, "%ssubgraph s_%s[%s]\n", indent, id, mermaidText(unit.Title))
	},
	unit: func(text *strings.Builder, indent, id string, unit *flowview.Unit) {
		fmt.Fprintf(text, "%s%s[%s]:::%s\n", indent, id, mermaidText(unit.Title+"\n"+unit.Phase), lookOf(unit.State).class)
	},
	value: func(text *strings.Builder, indent, id string, value *flowview.Value) {
		class := "value"
		if value.Outside() {
			class = "outside"
		}
		fmt.Fprintf(text, "%s%s([%s]):::%s\n", indent, id, mermaidText(label(value)), class)
	},
}

func mermaidClasses() string {
	var text strings.Builder
	for _, state := range []inspect.State{inspect.Ready, inspect.Running, inspect.Waiting, inspect.Failed} {
		look := looks[state]
		fmt.Fprintf(&text, "  classDef %s fill:%s,stroke:%s,color:%s\n", look.class, look.fill, look.line, look.text)
	}
	return text.String() + "  classDef value fill:#fff,stroke:#8a94a3,color:#333\n  classDef outside fill:#fff,stroke:#8a94a3,color:#333,stroke-dasharray:4\n"
}

// mermaidText writes a text in quotes; what could end it is written as an entity.
func mermaidText(text string) string {
	return `"` + strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", "<br/>").Replace(terminal.PrintableLines(text)) + `"`
}
