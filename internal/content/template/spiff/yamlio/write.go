package yamlio

import (
	"bufio"
	"io"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/value"
)

// WriteYAML writes a value in block style with sorted keys. It writes as it
// goes, so that large values need no second tree in memory.
func WriteYAML(w io.Writer, v value.Value) error {
	b := &blockWriter{Writer: bufio.NewWriter(w)}
	b.node(v, 0, atStart)
	return b.Flush()
}

// YAML returns a value as YAML text.
func YAML(v value.Value) (string, error) {
	var b strings.Builder
	err := WriteYAML(&b, v)
	return b.String(), err
}

// position is what stands on the line before a node.
type position int

const (
	atStart   position = iota // nothing
	afterKey                  // "key:"
	afterDash                 // "- "
)

// indentStep is the indentation of one level.
const indentStep = 2

// blockWriter writes block style. Errors are kept by the bufio.Writer.
type blockWriter struct{ *bufio.Writer }

func (b *blockWriter) add(parts ...string) {
	for _, s := range parts {
		_, _ = b.WriteString(s)
	}
}

func (b *blockWriter) indent(n int) {
	for range n {
		_ = b.WriteByte(' ')
	}
}

// node writes a node whose lines are indented by n.
func (b *blockWriter) node(v value.Value, n int, at position) {
	switch v := v.(type) {
	case *value.List:
		if items := live(v.Items); len(items) > 0 {
			b.list(items, n, at)
			return
		}
	case *value.Map:
		if keys, items := liveFields(v); len(keys) > 0 {
			b.fields(keys, items, n, at)
			return
		}
	case value.Opaque:
		b.node(v.Plain(), n, at)
		return
	}
	if at == afterKey {
		b.add(" ")
	}
	if s, ok := v.(value.String); ok && strings.Contains(s.Text, "\n") && literalSafe(s.Text) {
		b.literal(s.Text, n, at)
		return
	}
	b.add(scalarText(v), "\n")
}

// list writes entries. Below a key the dashes stand at the indentation of the
// key.
func (b *blockWriter) list(items []*value.Node, n int, at position) {
	if at == afterKey {
		b.add("\n")
		n -= indentStep
	}
	for i, item := range items {
		if i > 0 || at != afterDash {
			b.indent(n)
		}
		b.add("- ")
		b.node(item.Value, n+indentStep, afterDash)
	}
}

// longestKey is the length up to which a key may stand in front of its colon.
const longestKey = 1000

func (b *blockWriter) fields(keys []string, items []*value.Node, n int, at position) {
	if at == afterKey {
		b.add("\n")
	}
	for i, key := range keys {
		if i > 0 || at != afterDash {
			b.indent(n)
		}
		text := stringText(key)
		if len(text) > longestKey {
			b.add("? ", text, "\n")
			b.indent(n)
			text = ""
		}
		b.add(text, ":")
		b.node(items[i].Value, n+indentStep, afterKey)
	}
}

// literal writes a text as a block scalar.
func (b *blockWriter) literal(text string, n int, at position) {
	body := strings.TrimRight(text, "\n")
	switch len(text) - len(body) {
	case 0:
		b.add("|-\n")
	case 1:
		b.add("|\n")
	default:
		b.add("|+\n")
	}
	if at == atStart {
		n += indentStep
	}
	for _, line := range strings.Split(body, "\n") {
		if line != "" {
			b.indent(n)
		}
		b.add(line, "\n")
	}
	for range len(text) - len(body) - 1 {
		b.add("\n")
	}
}

// live leaves out the undefined entries.
func live(items []*value.Node) []*value.Node {
	for _, item := range items {
		if value.IsUndefined(item.Value) {
			var kept []*value.Node
			for _, item := range items {
				if !value.IsUndefined(item.Value) {
					kept = append(kept, item)
				}
			}
			return kept
		}
	}
	return items
}

func liveFields(m *value.Map) (keys []string, items []*value.Node) {
	if len(live(m.Items)) == len(m.Items) {
		return m.Keys, m.Items
	}
	for i, item := range m.Items {
		if !value.IsUndefined(item.Value) {
			keys, items = append(keys, m.Keys[i]), append(items, item)
		}
	}
	return keys, items
}
