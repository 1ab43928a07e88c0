package link

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// pointer is a JSON pointer: "" or /a/b, with ~0 for ~ and ~1 for /.
type pointer string

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func (p pointer) child(names ...string) pointer {
	for _, name := range names {
		p += pointer("/" + escaper.Replace(name))
	}
	return p
}

func (p pointer) names() []string {
	if p == "" {
		return nil
	}
	names := strings.Split(string(p[1:]), "/")
	for i, name := range names {
		names[i] = unescaper.Replace(name)
	}
	return names
}

// parent returns the pointer to what holds the element; "" has none.
func (p pointer) parent() (pointer, bool) {
	slash := strings.LastIndexByte(string(p), '/')
	if slash < 0 {
		return "", false
	}
	return p[:slash], true
}

// parsePointer reads the fragment of a URI.
func parsePointer(fragment string) (pointer, error) {
	text, err := url.PathUnescape(fragment)
	if err != nil {
		return "", fmt.Errorf("fragment %s: %w", fragment, err)
	}
	for i, r := range text {
		if r == '~' && !strings.HasPrefix(text[i+1:], "0") && !strings.HasPrefix(text[i+1:], "1") {
			return "", fmt.Errorf("fragment %s: write ~0 for ~, and ~1 for / in a name", fragment)
		}
	}
	return pointer(text), nil
}

// find returns the element at a pointer.
func find(root any, at pointer) (any, error) {
	value, path := root, pointer("")
	for _, name := range at.names() {
		next, found := any(nil), false
		switch holder := value.(type) {
		case map[string]any:
			next, found = holder[name]
		case []any:
			index, err := strconv.Atoi(name)
			if found = err == nil && index >= 0 && index < len(holder) && strconv.Itoa(index) == name; found {
				next = holder[index]
			}
		default:
			return nil, fmt.Errorf("unable to resolve fragment %s: element at %q is not an object", at, path)
		}
		if !found {
			return nil, fmt.Errorf("error resolving fragment %s: element at %q doesn't have a field %q", at, path, name)
		}
		value, path = next, path.child(name)
	}
	return value, nil
}

// Path returns the names that lead to a place as messages show it.
func Path(names []string) string {
	if len(names) == 0 {
		return "(root)"
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = Name(name)
		if strings.ContainsAny(name, ". ") || name == "" {
			shown[i] = strconv.Quote(Shortened(name))
		}
	}
	return strings.Join(shown, ".")
}

// maxName is how much of a name messages show.
const maxName = 100

// Name returns a name as messages show it; any user may have written it.
func Name(name string) string {
	quoted := strconv.Quote(Shortened(name))
	if quoted[1:len(quoted)-1] == name {
		return name
	}
	return quoted
}

// Shortened returns at most 100 bytes of a text.
func Shortened(name string) string {
	if len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "") + "..."
	}
	return name
}
