// Package yamlio reads YAML and JSON texts into value trees and writes value
// trees as YAML and JSON. It owns the typing and the quoting of scalars.
package yamlio

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Bounds of a document, anchors resolved.
const (
	MaxNodes = 2_000_000
	MaxDepth = 1_000
)

// Read parses a text with any number of documents. With data set, the text is
// data: none of its strings is ever an expression.
func Read(text []byte, source string, data bool) ([]*value.Node, error) {
	origin := &value.Source{Name: source}
	parsed, err := yamltext.Nodes(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing %s: %w%s", source, err, hint(text))
	}
	var docs []*value.Node
	for _, doc := range parsed {
		r := &reader{source: origin, data: data, anchors: map[*yaml.Node]*value.Node{}}
		node, err := r.document(doc)
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: %w", source, err)
		}
		docs = append(docs, node)
	}
	if len(docs) == 0 {
		docs = append(docs, &value.Node{Value: value.Null{}, Source: origin})
	}
	return docs, nil
}

// ReadOne parses a text that must hold a single document.
func ReadOne(text []byte, source string, data bool) (*value.Node, error) {
	docs, err := Read(text, source, data)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s has %d documents, but only one is allowed here", source, len(docs))
	}
	return docs[0], nil
}

// hint explains the usual reason why an expression breaks the YAML text.
func hint(text []byte) string {
	for i, line := range strings.Split(string(text), "\n") {
		key, rest, ok := strings.Cut(line, "((")
		if ok && !strings.ContainsAny(key, `"'`) && (strings.Contains(rest, ": ") || strings.Contains(rest, " #")) {
			return fmt.Sprintf(" (line %d has an unquoted expression with \": \" or \" #\": put the whole "+
				"expression in quotes, or write \"a ? b :c\")", i+1)
		}
	}
	return ""
}

// reader turns one YAML document into value nodes.
type reader struct {
	source  *value.Source
	data    bool
	anchors map[*yaml.Node]*value.Node // nil while the anchor is being read
	depth   int
}

func (r *reader) document(doc *yaml.Node) (*value.Node, error) {
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
		return r.node(doc.Content[0])
	}
	return &value.Node{Value: value.Null{}, Source: r.source}, nil
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) error {
	return &yamltext.Error{Line: n.Line, Reason: fmt.Sprintf(format, args...)}
}

func (r *reader) node(n *yaml.Node) (*value.Node, error) {
	if n.Kind == yaml.AliasNode {
		return r.alias(n)
	}
	if n.Anchor != "" {
		r.anchors[n] = nil
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > MaxDepth {
		return nil, r.fail(n, "document is nested deeper than %d levels", MaxDepth)
	}
	v, err := r.value(n)
	if err != nil {
		return nil, err
	}
	if value.ShapeOf(v).Size > MaxNodes {
		return nil, r.fail(n, "document has more than %d nodes after its aliases are resolved", MaxNodes)
	}
	result := &value.Node{Value: v, Source: r.source, Line: int32(n.Line)} //nolint:gosec // a text of so many lines fits no memory
	if n.Anchor != "" {
		r.anchors[n] = result
	}
	return result, nil
}

func (r *reader) alias(n *yaml.Node) (*value.Node, error) {
	target := r.anchors[n.Alias]
	if target == nil {
		return nil, r.fail(n, "an anchor contains itself")
	}
	shape := value.ShapeOf(target.Value)
	if r.depth+int(shape.Depth) > MaxDepth {
		return nil, r.fail(n, "document is nested deeper than %d levels", MaxDepth)
	}
	return target, nil
}

func (r *reader) value(n *yaml.Node) (value.Value, error) {
	switch n.Kind {
	case yaml.MappingNode:
		return r.mapping(n)
	case yaml.SequenceNode:
		return r.sequence(n)
	case yaml.ScalarNode:
		return r.scalar(n)
	}
	return nil, r.fail(n, "unexpected YAML node")
}

func (r *reader) scalar(n *yaml.Node) (value.Value, error) {
	if n.Style&yaml.TaggedStyle != 0 {
		v, err := tagged(n.ShortTag(), n.Value, r.data)
		if err != nil {
			return nil, r.fail(n, "%s", err)
		}
		return v, nil
	}
	if n.Style != 0 {
		return value.String{Text: n.Value, Data: r.data}, nil
	}
	v := Plain(n.Value)
	if s, ok := v.(value.String); ok {
		s.Data = r.data
		return s, nil
	}
	return v, nil
}

func (r *reader) sequence(n *yaml.Node) (value.Value, error) {
	items := make([]*value.Node, len(n.Content))
	for i, c := range n.Content {
		item, err := r.node(c)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return value.NewList(items), nil
}

func (r *reader) mapping(n *yaml.Node) (value.Value, error) {
	b := value.NewBuilder(len(n.Content) / 2)
	b.Data = r.data
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, r.fail(key, "map keys must be simple values")
		}
		item, err := r.node(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		b.Set(key.Value, item)
	}
	return b.Map(), nil
}
