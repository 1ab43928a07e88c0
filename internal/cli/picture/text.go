// Package picture draws how values flow between Installations: as text, for Graphviz and
// Mermaid, and as SVG.
package picture

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/dataflow"
)

// short names of kinds of values.
var short = map[dataflow.Kind]string{
	dataflow.KindDataObject: "data", dataflow.KindTarget: "target", dataflow.KindSecret: "secret", dataflow.KindConfigMap: "configmap",
}

// Text writes each Installation with what it imports and exports.
func Text(out io.Writer, scope *flowview.Scope, ascii bool) error {
	in, from := "← ", "→ "
	if ascii {
		in, from = "<- ", "-> "
	}
	var text strings.Builder
	var write func(scope *flowview.Scope, indent string)
	write = func(scope *flowview.Scope, indent string) {
		for _, unit := range scope.Units {
			line := fmt.Sprintf("%s[%s] %s", indent, unit.Phase, unit.Title)
			if unit.Why != "" {
				line += ": " + strings.Join(strings.Fields(unit.Why), " ")
			}
			text.WriteString(terminal.Printable(line) + "\n")
			for _, value := range scope.Values {
				if slices.Contains(value.Importers, unit.Name) {
					text.WriteString(indent + "    " + in + label(value) + origin(scope, value) + "\n")
				}
			}
			for _, value := range scope.Values {
				if slices.Contains(value.Exporters, unit.Name) {
					text.WriteString(indent + "    " + from + label(value) + goal(scope, value) + "\n")
				}
			}
			if unit.Inside != nil {
				write(unit.Inside, indent+"    ")
			}
		}
	}
	write(scope, "")
	_, err := io.WriteString(out, text.String())
	return err
}

func label(value *flowview.Value) string {
	kind := short[value.Kind]
	if kind == "" {
		kind = string(value.Kind)
	}
	return kind + " " + terminal.Printable(value.Name)
}

func origin(scope *flowview.Scope, value *flowview.Value) string {
	if value.Outside() {
		return " (from outside)"
	}
	return " from " + titles(scope, value.Exporters)
}

func goal(scope *flowview.Scope, value *flowview.Value) string {
	if len(value.Importers) == 0 {
		return ""
	}
	return " to " + titles(scope, value.Importers)
}

func titles(scope *flowview.Scope, names []string) string {
	var list []string
	for _, unit := range scope.Units {
		if slices.Contains(names, unit.Name) {
			list = append(list, terminal.Printable(unit.Title))
		}
	}
	return strings.Join(list, ", ")
}

// look is how a state looks in all pictures: a class, and its colours.
type look struct {
	class, fill, line, text string
}

// looks make what has failed and what waits stand out; what is done steps back.
var looks = map[inspect.State]look{
	inspect.Ready:   {"ready", "#eef7f0", "#4c9a6a", "#1d3d2a"},
	inspect.Running: {"running", "#e8f1fd", "#3273c5", "#12335c"},
	inspect.Waiting: {"waiting", "#fff4dc", "#d18a00", "#5c3d00"},
	inspect.Failed:  {"failed", "#fde8e6", "#cc2f22", "#6b120b"},
	inspect.Stalled: {"failed", "#fde8e6", "#cc2f22", "#6b120b"},
	inspect.Missing: {"failed", "#fde8e6", "#cc2f22", "#6b120b"},
}

func lookOf(state inspect.State) look {
	if found, ok := looks[state]; ok {
		return found
	}
	return looks[inspect.Waiting]
}
