// Package fieldpath reads and writes values by the paths that configurations of
// deployers use: the JSONPath dialect of kubectl without its braces.
package fieldpath

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// maxLength is the length of the longest path.
const maxLength = 1024

// Path is a path that was checked.
type Path struct {
	text  string
	width width
}

// errPath is what every failure of a path means for those who wait for a value. The
// library's own texts quote values.
var errPath = errors.New("the path does not fit the object")

// Parse checks a path. A dot at the beginning may be left out.
func Parse(text string) (Path, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Path{}, errors.New("it is empty")
	case len(text) > maxLength:
		return Path{}, fmt.Errorf("it is longer than %d characters", maxLength)
	case strings.HasPrefix(text, "{"):
		return Path{}, errors.New("write it without braces")
	case severalPaths(text):
		return Path{}, errors.New("it has two paths: write one")
	}
	if !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "$") && !strings.HasPrefix(text, "@") {
		text = "." + text
	}
	path := Path{text: text, width: widthOf(text)}
	if err := path.width.check(); err != nil {
		return Path{}, err
	}
	if _, err := path.compiled(); err != nil {
		return Path{}, errors.New("it is not a path such as .status.conditions[?(@.type=='Ready')].status")
	}
	return path, nil
}

// severalPaths reports whether a blank separates two paths. Inside of brackets and
// quotes blanks are allowed.
func severalPaths(text string) bool {
	depth, quote := 0, rune(0)
	for _, letter := range text {
		switch {
		case quote != 0:
			if letter == quote {
				quote = 0
			}
		case letter == '\'' || letter == '"':
			quote = letter
		case letter == '[':
			depth++
		case letter == ']':
			depth--
		case depth == 0 && (letter == ' ' || letter == '\t' || letter == '\n' || letter == '}'):
			return true
		}
	}
	return false
}

// compiled returns the path for one use: the library keeps state in it.
func (p Path) compiled() (compiled *jsonpath.JSONPath, err error) {
	defer func() {
		if recover() != nil {
			err = errPath
		}
	}()
	compiled = jsonpath.New("path").AllowMissingKeys(true)
	return compiled, compiled.Parse("{" + p.text + "}")
}

// String is the path as it was written.
func (p Path) String() string { return p.text }

// Find returns all values at the path, possibly none. An error means that the path does not fit the
// object; it never quotes a value.
func (p Path) Find(object map[string]any) (values []any, err error) {
	defer func() {
		if recover() != nil {
			values, err = nil, errPath
		}
	}()
	compiled, err := p.compiled()
	if err != nil {
		return nil, errPath
	}
	if !p.width.fits(object) {
		return nil, errWide
	}
	results, err := compiled.FindResults(object)
	if err != nil {
		return nil, errPath
	}
	for _, group := range results {
		for _, result := range group {
			if !result.IsValid() {
				continue
			}
			values = append(values, result.Interface())
		}
	}
	return values, nil
}

// Key is the place of a value in a map of exports: names separated by dots.
type Key []string

// ParseKey checks a key.
func ParseKey(text string) (Key, error) {
	if text == "" {
		return nil, errors.New("it is missing")
	}
	if len(text) > maxLength {
		return nil, fmt.Errorf("it is longer than %d characters", maxLength)
	}
	if strings.ContainsAny(text, "[]{} \t\n'\"") {
		return nil, errors.New("it is a path of names such as database.host, without brackets, quotes and blanks")
	}
	key := Key(strings.Split(strings.TrimPrefix(text, "."), "."))
	for _, name := range key {
		if name == "" {
			return nil, errors.New("one of its names is empty")
		}
	}
	return key, nil
}

// Put stores a value in a map. Maps are merged; otherwise the later value wins.
func (k Key) Put(values map[string]any, value any) {
	for _, name := range k[:len(k)-1] {
		inner, ok := values[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			values[name] = inner
		}
		values = inner
	}
	last := k[len(k)-1]
	values[last] = merged(values[last], value)
}

func merged(old, value any) any {
	oldMap, oldIsMap := old.(map[string]any)
	newMap, newIsMap := value.(map[string]any)
	if !oldIsMap || !newIsMap {
		return value
	}
	all := make(map[string]any, len(oldMap)+len(newMap))
	for key, value := range oldMap {
		all[key] = value
	}
	for key, value := range newMap {
		all[key] = merged(all[key], value)
	}
	return all
}
