package render

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// snippetLines is how many lines are shown before and after the failing one.
	snippetLines = 5
	// maxMessage bounds what ends up in a status.
	maxMessage = 16 << 10
	// noValue is what a template prints for something that does not exist.
	noValue = "<no value>"
)

var position = regexp.MustCompile(`:(\d+)(?::(\d+))?:`)

// describe explains an error of a template: what it says, the lines around it,
// and the types of the bindings. Values of bindings are hidden wherever the
// message repeats them.
func describe(err error, source Source, bindings map[string]any) error {
	name, text := source.name(), source.Text
	var inner *templateError
	if errors.As(err, &inner) {
		name, text = inner.name, inner.text
	}
	var out strings.Builder
	fmt.Fprintf(&out, "execution %q", source.Execution)
	if name != source.Execution {
		fmt.Fprintf(&out, " (file %q)", name)
	}
	fmt.Fprintf(&out, ": %s", hide(err.Error(), bindings))
	if line, column := positionOf(err.Error()); line > 0 {
		out.WriteString("\ntemplate source:\n" + snippet(text, line, column))
	}
	out.WriteString("\ntemplate input:\n" + types(bindings))
	return &describedError{message: bounded(out.String()), cause: err}
}

// describedError shows an explanation instead of the error itself, which may hold
// values.
type describedError struct {
	message string
	cause   error
}

func (e *describedError) Error() string { return e.message }

func (e *describedError) Unwrap() error { return e.cause }

// DecodeError explains that the output of a template is not what was expected.
func DecodeError(err error, source Source, output []byte, bindings map[string]any) error {
	var out strings.Builder
	fmt.Fprintf(&out, "execution %q", source.Execution)
	if source.File != "" {
		fmt.Fprintf(&out, " (file %q)", source.File)
	}
	fmt.Fprintf(&out, ": error while decoding templated execution: %s", err)
	if line, column := positionOf(err.Error()); line > 0 {
		out.WriteString("\ntemplated output:\n" + snippet(string(output), line, column))
	}
	return &describedError{message: bounded(hide(out.String(), bindings)), cause: err}
}

func noValueLines(output []byte) []int {
	if !bytes.Contains(output, []byte(noValue)) {
		return nil
	}
	var lines []int
	for i, line := range bytes.Split(output, []byte("\n")) {
		if bytes.Contains(line, []byte(noValue)) {
			lines = append(lines, i+1)
		}
	}
	return lines
}

func noValueError(source Source, output []byte, lines []int, bindings map[string]any) error {
	var out strings.Builder
	fmt.Fprintf(&out, "execution %q: the template contains fields with %q: a name is misspelt, or a value does not exist\n", source.Execution, "no value")
	all := strings.Split(string(output), "\n")
	for _, line := range lines {
		column := strings.Index(all[line-1], noValue)
		fmt.Fprintf(&out, "line %d:%d\n%s\n", line, column, snippet(string(output), line, column))
	}
	out.WriteString("template input:\n" + types(bindings))
	return errors.New(bounded(hide(out.String(), bindings)))
}

// positionOf finds the line, counted from 1, and the column of an error.
func positionOf(message string) (line, column int) {
	match := position.FindStringSubmatch(message)
	if match == nil {
		match = regexp.MustCompile(`line (\d+)()`).FindStringSubmatch(message)
	}
	if match == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(match[1])
	column, _ = strconv.Atoi(match[2])
	return line, column
}

// snippet returns the lines around a position, and a mark below it.
func snippet(text string, line, column int) string {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return ""
	}
	var out strings.Builder
	for i := max(1, line-snippetLines); i <= min(len(lines), line+snippetLines); i++ {
		number := fmt.Sprintf("%-6s", strconv.Itoa(i)+":")
		fmt.Fprintf(&out, "%s%s\n", number, lines[i-1])
		if i == line {
			fmt.Fprintf(&out, "%s\u02c6\u2248\u2248\u2248\u2248\u2248\u2248\u2248\n", strings.Repeat(" ", len(number)+column))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// types lists the bindings two levels deep with their types.
func types(bindings map[string]any) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(bindings)) {
		fields, ok := bindings[key].(map[string]any)
		if !ok || len(fields) == 0 {
			fmt.Fprintf(&out, "\t%s: %s\n", key, typeName(bindings[key]))
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintf(&out, "\t%s.%s: %s\n", key, field, typeName(fields[field]))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
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

// minHidden is the length from which a value is hidden. Shorter ones are parts of
// ordinary words.
const minHidden = 4

// hide replaces values of bindings that a message repeats.
func hide(message string, bindings map[string]any) string {
	values := map[string]bool{}
	for key, value := range bindings {
		if !public[key] {
			collect(value, values, 0)
		}
	}
	// Longer values first: a shorter one may be a part of it.
	ordered := slices.SortedFunc(maps.Keys(values), func(a, b string) int { return len(b) - len(a) })
	for _, value := range ordered {
		message = strings.ReplaceAll(message, value, "[...]")
	}
	return message
}

// public are bindings that describe the component and hold no data of a user.
var public = map[string]bool{"cd": true, "components": true, "blueprint": true, "blueprintDef": true, "componentDescriptorDef": true}

func collect(value any, into map[string]bool, depth int) {
	if depth > 32 {
		return
	}
	switch value := value.(type) {
	case string:
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minHidden {
				into[line] = true
			}
		}
	case map[string]any:
		if value["kind"] == "Target" {
			// The name of a Target is no secret, its content is.
			collect(value["spec"], into, depth+1)
			return
		}
		for _, field := range value {
			collect(field, into, depth+1)
		}
	case []any:
		for _, element := range value {
			collect(element, into, depth+1)
		}
	}
}

func bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "\n[cut]"
}
