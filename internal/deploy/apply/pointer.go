package apply

import (
	"errors"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901) to a field of an object, through maps.
type Pointer []string

// ParsePointer reads a JSON pointer.
func ParsePointer(text string) (Pointer, error) {
	if !strings.HasPrefix(text, "/") || len(text) == 1 {
		return nil, errors.New("it is not a JSON pointer such as /spec/replicas")
	}
	parts := strings.Split(text[1:], "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	if parts[0] == "apiVersion" || parts[0] == "kind" || (parts[0] == "metadata" && (len(parts) == 1 || parts[1] == "name" || parts[1] == "namespace")) {
		return nil, errors.New("it would hide which object this is")
	}
	return parts, nil
}

// find returns the map that holds the field, or nil.
func (p Pointer) find(content map[string]any) map[string]any {
	for _, name := range p[:len(p)-1] {
		inner, ok := content[name].(map[string]any)
		if !ok {
			return nil
		}
		content = inner
	}
	return content
}

// remove removes the field.
func (p Pointer) remove(content map[string]any) {
	if holder := p.find(content); holder != nil {
		delete(holder, p[len(p)-1])
	}
}

// carry gives an object the field of another one, also if that has none.
func (p Pointer) carry(from, to map[string]any) {
	last := p[len(p)-1]
	value, there := p.find(from)[last]
	if !there {
		p.remove(to)
		return
	}
	for _, name := range p[:len(p)-1] {
		inner, ok := to[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			to[name] = inner
		}
		to = inner
	}
	to[last] = value
}
