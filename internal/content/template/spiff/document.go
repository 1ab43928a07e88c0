package spiff

import (
	"fmt"

	"go.landscaper.dev/internal/content/template/spiff/eval"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// Document is a parsed document. It is never changed by processing.
type Document struct {
	name    string
	content *value.Node
}

func (d Document) input() eval.Input { return eval.Input{Name: d.name, Content: d.content} }

// Parse reads a YAML text with any number of documents.
func Parse(text []byte, name string) ([]Document, error) {
	nodes, err := yamlio.Read(text, name, false)
	if err != nil {
		return nil, err
	}
	docs := make([]Document, len(nodes))
	for i, n := range nodes {
		docs[i] = Document{name: name, content: n}
	}
	return docs, nil
}

// ParseOne reads a YAML text that must be a single document, such as a stub.
func ParseOne(text []byte, name string) (Document, error) {
	n, err := yamlio.ReadOne(text, name, false)
	return Document{name: name, content: n}, err
}

// ParseData reads a YAML text that is data, such as a state document or a
// binding file: texts in it are never expressions.
func ParseData(text []byte, name string) (Document, error) {
	n, err := yamlio.ReadOne(text, name, true)
	return Document{name: name, content: n}, err
}

// FromData makes a document of plain Go data; texts in it can be expressions.
func FromData(data any, name string) (Document, error) {
	v, err := yamlio.FromGo(data, false)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", name, err)
	}
	return Document{name: name, content: &value.Node{Value: v, Source: &value.Source{Name: name}}}, nil
}

// Data returns the content as plain Go data, expressions as their text.
func (d Document) Data() any { return yamlio.ToGo(d.content.Value) }

// empty reports whether the document is nil or an empty map.
func (d Document) empty() bool {
	m, isMap := d.content.Value.(*value.Map)
	return value.IsNull(d.content.Value) || isMap && m.Len() == 0
}
