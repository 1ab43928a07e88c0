package yamltext

import (
	"encoding/json"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Document is one document of a text, with the places of its values.
type Document struct {
	root   *yaml.Node
	limits Limits
	// used is what all documents of the text have used of the limits, own what this one has.
	used *usage
	own  usage
}

// usage is how much of the limits was used.
type usage struct{ values, bytes int }

// Documents returns all documents of a YAML or JSON text that hold something. The limits are those of
// the text: all documents share them, because a text of a few KB has thousands. Its error is an *Error.
func Documents(text []byte, limits Limits) ([]*Document, error) {
	if err := limits.Check(text); err != nil {
		return nil, err
	}
	nodes, err := Nodes(text)
	if err != nil {
		return nil, err
	}
	var all []*Document
	used := &usage{}
	for _, document := range nodes {
		if len(document.Content) > 0 && document.Content[0].ShortTag() != "!!null" {
			all = append(all, &Document{root: document.Content[0], limits: limits, used: used})
		}
	}
	return all, nil
}

// JSON returns the document as ToJSON does.
func (d *Document) JSON() ([]byte, error) {
	r := newReader(d.limits)
	r.values, r.bytes = d.used.values-d.own.values, d.used.bytes-d.own.bytes
	before := usage{r.values, r.bytes}
	value, err := r.value(d.root)
	*d.used, d.own = usage{r.values, r.bytes}, usage{r.values - before.values, r.bytes - before.bytes}
	if err != nil {
		return nil, err
	}
	return appendJSON(nil, value)
}

// Line returns the line of the value at a path of keys and indexes, or of the last
// value on the way that is there.
func (d *Document) Line(path ...any) int {
	at, line := d.root, d.root.Line
	for _, step := range path {
		if at = below(at, step); at == nil {
			break
		}
		line = at.Line
	}
	return line
}

// below returns the value behind a key or an index; nil if there is no such value.
func below(n *yaml.Node, step any) *yaml.Node {
	n = resolved(n)
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Unknown is a field that a Go type does not have.
type Unknown struct {
	Name string
	Line int
	// Known are the fields that there could be.
	Known []string
}

// Unknown returns the first field that a Go type does not have; nil if all are known. A type with
// an unmarshaller of its own is not looked into.
func (d *Document) Unknown(of reflect.Type) *Unknown {
	return unknown(d.root, of, 0)
}

var readsItself = reflect.TypeFor[json.Unmarshaler]()

func unknown(n *yaml.Node, of reflect.Type, depth int) *Unknown {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	n = resolved(n)
	if depth > maxUnknown || of.Implements(readsItself) || reflect.PointerTo(of).Implements(readsItself) {
		return nil
	}
	switch {
	case n.Kind == yaml.SequenceNode && of.Kind() == reflect.Slice:
		for _, element := range n.Content {
			if found := unknown(element, of.Elem(), depth+1); found != nil {
				return found
			}
		}
	case n.Kind == yaml.MappingNode && of.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if found := unknown(n.Content[i+1], of.Elem(), depth+1); found != nil {
				return found
			}
		}
	case n.Kind == yaml.MappingNode && of.Kind() == reflect.Struct:
		return unknownField(n, Fields(of), depth)
	}
	return nil
}

// maxUnknown bounds how deep unknown fields are looked for; an alias can lead back.
const maxUnknown = 100

func unknownField(n *yaml.Node, fields map[string]reflect.Type, depth int) *Unknown {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		if key.ShortTag() == "!!merge" {
			continue
		}
		of, known := fields[key.Value]
		if !known {
			names := make([]string, 0, len(fields))
			for name := range fields {
				names = append(names, name)
			}
			slices.Sort(names)
			return &Unknown{Name: key.Value, Line: key.Line, Known: names}
		}
		if found := unknown(n.Content[i+1], of, depth+1); found != nil {
			return found
		}
	}
	return nil
}
