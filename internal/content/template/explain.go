package template

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/template/gotemplate"
)

const (
	// snippetLines is how many lines are shown before and after the failing one.
	snippetLines = 5
	// maxMessage bounds what ends up in a status.
	maxMessage = 16 << 10
	// maxLine bounds a line of a snippet.
	maxLine = 200
)

// describedError shows an explanation instead of the error itself, which may hold
// values.
type describedError struct {
	message string
	cause   error
}

func (e *describedError) Error() string { return e.message }

func (e *describedError) Unwrap() error { return e.cause }

// describe explains an error of a template: what it says, the lines around it, and
// the types of the bindings.
//
// The text of the template may be shown, since it comes from a blueprint; of the bindings
// only names and types.
func describe(err error, s source, bindings map[string]any) error {
	text, line, column := s.text, 0, 0
	var failed *gotemplate.Error
	if errors.As(err, &failed) {
		if failed.Source.Name != s.name() && !failed.Computed {
			s.file = failed.Source.Name
		}
		text, line, column = failed.Source.Text, failed.Line, failed.Column
	}
	if located := (*yamltext.Error)(nil); errors.As(err, &located) && bindings == nil {
		// The YAML of a spiff template.
		line, column = located.Line, max(0, located.Column-1)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s", s.what(), err)
	if line > 0 && text != "" {
		out.WriteString("\ntemplate source:\n" + snippet(linesOf(text), line, column))
	}
	if bindings != nil {
		out.WriteString("\ntemplate input:\n" + types(bindings))
	}
	return &describedError{message: bounded(out.String()), cause: err}
}

// explain explains that the output is not what is expected.
func (o *Output) explain(problem error, path []any) error {
	if problem == nil {
		problem = errMisfit
	}
	var out strings.Builder
	line := o.line(problem, path)
	if name := o.itemName(line); name != "" {
		fmt.Fprintf(&out, "item %q, ", name)
	}
	fmt.Fprintf(&out, "%s: error while decoding templated execution: ", o.source.what())
	if len(path) > 0 {
		out.WriteString(pathText(path) + ": ")
	}
	out.WriteString(problem.Error())
	if o.rendered != nil && line > 0 {
		if origin, at := o.rendered.Origin(line); at > 0 {
			out.WriteString("\ntemplate source:\n" + snippet(linesOf(origin.Text), at, 0))
		}
		out.WriteString("\ntemplated output:\n" + snippet(o.rendered.Line, line, 0))
	}
	return &describedError{message: bounded(out.String()), cause: problem}
}

// pathText shows a path without keys that may be values.
func pathText(path []any) string {
	var out strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", step)
		case key:
			out.WriteString("[...]")
		default:
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			fmt.Fprint(&out, step)
		}
	}
	return out.String()
}

// line is the line of the output that a problem is about, 0 if it is not known.
func (o *Output) line(problem error, path []any) int {
	var located *yamltext.Error
	if errors.As(problem, &located) {
		return located.Line
	}
	if o.rendered == nil || len(path) == 0 {
		return 0
	}
	var root yaml.Node
	if yaml.Unmarshal(o.rendered.Text, &root) != nil || len(root.Content) == 0 {
		return 0
	}
	node := root.Content[0]
	for _, step := range path {
		next := childNode(node, step)
		if next == nil {
			break
		}
		node = next
	}
	return node.Line
}

func childNode(node *yaml.Node, step any) *yaml.Node {
	if node.Alias != nil {
		node = node.Alias
	}
	if i, isIndex := step.(int); isIndex {
		if node.Kind == yaml.SequenceNode && i < len(node.Content) {
			return node.Content[i]
		}
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == fmt.Sprint(step) {
			return node.Content[i+1]
		}
	}
	return nil
}

var itemStart = regexp.MustCompile(`(?m)^\s*-\s+name:[ \t]*(\S.*)$`)

// itemName returns the name of the list entry that a line of the output belongs to,
// as far as the template says it literally.
func (o *Output) itemName(line int) string {
	if o.rendered == nil || line == 0 {
		return ""
	}
	before := o.rendered.Text
	for range line {
		_, after, found := bytes.Cut(before, []byte("\n"))
		if before = after; !found {
			break
		}
	}
	starts := itemStart.FindAllSubmatchIndex(o.rendered.Text[:len(o.rendered.Text)-len(before)], -1)
	if len(starts) == 0 {
		return ""
	}
	at := starts[len(starts)-1][2]
	shown, _ := o.rendered.Line(bytes.Count(o.rendered.Text[:at], []byte("\n")) + 1)
	match := itemStart.FindStringSubmatch(shown)
	if match == nil {
		return ""
	}
	return strings.Trim(strings.TrimSpace(match[1]), `"'`)
}

// linesOf gives the lines of a text by their number, counted from 1.
func linesOf(text string) func(number int) (string, bool) {
	lines := strings.Split(text, "\n")
	return func(number int) (string, bool) {
		if number < 1 || number > len(lines) {
			return "", false
		}
		return lines[number-1], true
	}
}

// snippet returns the lines around a position, and a mark below it.
func snippet(lines func(number int) (string, bool), line, column int) string {
	var out strings.Builder
	for i := max(1, line-snippetLines); i <= line+snippetLines; i++ {
		text, exists := lines(i)
		if !exists {
			break
		}
		number := fmt.Sprintf("%-6s", strconv.Itoa(i)+":")
		fmt.Fprintf(&out, "%s%s\n", number, clip(text))
		if i == line {
			fmt.Fprintf(&out, "%s\u02c6\u2248\u2248\u2248\u2248\u2248\u2248\u2248\n", strings.Repeat(" ", len(number)+min(column, maxLine)))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func clip(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + "…"
}

// named are bindings whose fields have names of the blueprint or the landscape.
// The fields of others are values of the user.
var named = map[string]bool{
	"imports": true, "cd": true, "components": true, "blueprint": true, "blueprintDef": true, "componentDescriptorDef": true,
	"deployitems": true, "dataobjects": true, "targets": true, "values": true,
}

// types lists the bindings of an execution with their types.
func types(bindings map[string]any) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(bindings)) {
		fields, ok := bindings[key].(map[string]any)
		if !ok || len(fields) == 0 || !named[key] {
			lines = append(lines, fmt.Sprintf("\t%s: %s", key, typeName(bindings[key])))
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			lines = append(lines, fmt.Sprintf("\t%s.%s: %s", key, field, typeName(fields[field])))
		}
	}
	return strings.Join(lines, "\n")
}

// names lists bindings that are all values of the user.
func names(bindings map[string]any) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(bindings)) {
		lines = append(lines, fmt.Sprintf("\t%s: %s", key, typeName(bindings[key])))
	}
	return strings.Join(lines, "\n")
}

func typeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return fmt.Sprintf("map of %d", len(value))
	case []any:
		return fmt.Sprintf("list of %d", len(value))
	case string:
		return "string"
	case bool:
		return "boolean"
	}
	return "number"
}

func bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "\n[cut]"
}
