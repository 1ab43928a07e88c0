package work

import (
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// InsertKeys are the two spellings of the insert key.
var InsertKeys = []string{"<<", "<<<"}

// InsertOf returns the insert key of a map, if it has one.
func InsertOf(m *value.Map) (key string, n *value.Node, err error) {
	if m.Data {
		return "", nil, nil
	}
	for _, k := range InsertKeys {
		found := m.Get(k)
		if found == nil {
			continue
		}
		if n != nil {
			return "", nil, outcome.Fail("multiple merge keys not allowed")
		}
		key, n = k, found
	}
	return key, n, nil
}

// InsertEntry returns the insert key of an entry that has no other key.
func InsertEntry(item *value.Node) (string, *value.Node, error) {
	m, ok := item.Value.(*value.Map)
	if !ok || item.Work != nil || m.Len() != 1 {
		return "", nil, nil
	}
	return InsertOf(m)
}

// IsKeyTag splits "key:field" and "key:!field".
func IsKeyTag(key string) (field string, off, ok bool) {
	rest, ok := strings.CutPrefix(key, value.KeyTag)
	if !ok || rest == "" {
		return "", false, false
	}
	if name, excluded := strings.CutPrefix(rest, "!"); excluded {
		return name, true, name != ""
	}
	return rest, false, true
}
