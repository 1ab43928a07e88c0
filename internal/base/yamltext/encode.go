package yamltext

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// Encode writes a value as YAML: keys sorted, and all digits of numbers. A value
// that contains itself, or that YAML cannot say, is an error.
func Encode(value any) (string, error) {
	return EncodeEscaped(value, func(char rune) bool { return char == nextLine })
}

// EncodeEscaped is Encode, but characters that are to be escaped are, in texts and keys:
// of those of two bytes that JSON may have as they are.
func EncodeEscaped(value any, escape func(rune) bool) (string, error) {
	e := encoder{mark: "number" + rand.Text(), escape: escape}
	prepared, err := e.prepare(value, DefaultLimits().Depth)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(prepared)
	if err != nil {
		return "", errors.New("the value cannot be written as YAML")
	}
	return e.restore(string(text)), nil
}

// encoder replaces by words what the library would change: numbers that it would round, and bytes
// that are not UTF-8.
type encoder struct {
	// mark begins these words; it cannot be guessed.
	mark     string
	literals []string
	escape   func(rune) bool
}

// markEnd is behind the index of a literal.
const markEnd = "x"

// prepare returns a copy of a value with words for literals. The depth is bounded,
// since the indentation grows with its square.
func (e *encoder) prepare(value any, depth int) (any, error) {
	if depth < 0 {
		return nil, fmt.Errorf("the value is more than %d levels deep", DefaultLimits().Depth)
	}
	var err error
	switch value := value.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return value, nil
		}
		return e.literal(value.String()), nil
	case string:
		if !utf8.ValidString(value) {
			return e.literal("!!binary " + base64.StdEncoding.EncodeToString([]byte(value))), nil
		}
		return e.text(value)
	case []any:
		if len(value) == 0 {
			return value, nil
		}
		list := make([]any, len(value))
		for i, element := range value {
			if list[i], err = e.prepare(element, depth-1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		if len(value) == 0 {
			return value, nil
		}
		fields := make(map[string]any, len(value))
		// In order, since the words for keys are sorted by when they were made.
		for _, key := range slices.Sorted(maps.Keys(value)) {
			field := value[key]
			if key, err = e.key(key); err != nil {
				return nil, err
			}
			if fields[key], err = e.prepare(field, depth-1); err != nil {
				return nil, err
			}
		}
		return fields, nil
	}
	return value, nil
}

// mergeKey is a key that the library writes without quotes, although it is then read as
// the order to put the map behind it into the one around it.
const mergeKey = "<<"

func (e *encoder) key(name string) (string, error) {
	if name == mergeKey {
		return name + e.mark, nil
	}
	return e.text(name)
}

// nextLine is a character that the library writes as it is, although it is read as the
// end of a line.
const nextLine = '\u0085'

// text puts one with characters that are to be escaped into quotes.
func (e *encoder) text(text string) (string, error) {
	if !strings.ContainsFunc(text, e.escape) {
		return text, nil
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return "", fmt.Errorf("write a text: %w", err)
	}
	var escaped strings.Builder
	for _, char := range string(quoted) {
		if e.escape(char) {
			fmt.Fprintf(&escaped, `\u%04x`, char)
			continue
		}
		escaped.WriteRune(char)
	}
	return e.literal(escaped.String()), nil
}

func (e *encoder) literal(text string) string {
	e.literals = append(e.literals, text)
	return e.mark + strconv.Itoa(len(e.literals)-1) + markEnd
}

// restore puts the literals back, and quotes the keys that would merge.
func (e *encoder) restore(text string) string {
	text = strings.ReplaceAll(text, mergeKey+e.mark, `"`+mergeKey+`"`)
	before, marked, found := strings.Cut(text, e.mark)
	if !found {
		return text
	}
	var out strings.Builder
	out.WriteString(before)
	for part := range strings.SplitSeq(marked, e.mark) {
		index, rest, _ := strings.Cut(part, markEnd)
		// The index is one of those that prepare wrote.
		i, _ := strconv.Atoi(index)
		out.WriteString(e.literals[i] + rest)
	}
	return out.String()
}
