package yamlio

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/spiff/value"
)

// WriteYAML writes a value in block style with sorted keys.
func WriteYAML(w io.Writer, v value.Value) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(yamlNode(v)); err != nil {
		return fmt.Errorf("writing YAML: %w", err)
	}
	return enc.Close()
}

// YAML returns a value as YAML text.
func YAML(v value.Value) (string, error) {
	var b bytes.Buffer
	err := WriteYAML(&b, v)
	return b.String(), err
}

func scalarNode(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

func yamlNode(v value.Value) *yaml.Node {
	switch v := v.(type) {
	case value.Bool:
		return scalarNode("!!bool", strconv.FormatBool(bool(v)))
	case value.Int:
		return scalarNode("!!int", strconv.FormatInt(int64(v), 10))
	case value.Float:
		return scalarNode("!!float", yamlFloat(float64(v)))
	case value.String:
		return stringNode(v.Text)
	case value.Bytes:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!binary", Style: yaml.TaggedStyle,
			Value: base64.StdEncoding.EncodeToString(v)}
	case *value.List:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v.Items {
			if !value.IsUndefined(item.Value) {
				n.Content = append(n.Content, yamlNode(item.Value))
			}
		}
		return n
	case *value.Map:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for i, key := range v.Keys {
			if !value.IsUndefined(v.Items[i].Value) {
				n.Content = append(n.Content, stringNode(key), yamlNode(v.Items[i].Value))
			}
		}
		return n
	case value.Opaque:
		return yamlNode(v.Plain())
	}
	return scalarNode("!!null", "null")
}

func yamlFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		return text
	}
	if strings.Contains(text, "e") && !strings.Contains(text, ".") {
		text = strings.Replace(text, "e", ".0e", 1) // YAML 1.1 wants the point
	}
	return text
}

// stringNode chooses a style that every YAML reader takes for this string.
func stringNode(s string) *yaml.Node {
	n := scalarNode("!!str", s)
	switch {
	case strings.Contains(s, "\n") && literalSafe(s):
		n.Style = yaml.LiteralStyle
	case !plainSafe(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// literalSafe tells whether a block scalar keeps the text as it is.
func literalSafe(s string) bool {
	if !utf8.ValidString(s) || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") {
		return false
	}
	for _, line := range strings.Split(s, "\n") {
		if strings.HasSuffix(line, " ") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd)
	})
}

// plainSafe tells whether the string may stand without quotes: it must not
// read as another type in YAML 1.1 or 1.2 (dates and base 60 included).
func plainSafe(s string) bool {
	if s == "" || !utf8.ValidString(s) {
		return false
	}
	if _, isText := Plain(s).(value.String); !isText {
		return false
	}
	c := s[0]
	if strings.ContainsRune("+-.0123456789=<", rune(c)) {
		return !strings.ContainsAny(s[:1], "+-.=<") && strings.ContainsFunc(s, func(r rune) bool {
			return (r < '0' || r > '9') && !strings.ContainsRune("-+:._, TZtzeExXoObBaAcCdDfF", r)
		})
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x85 })
}

// WriteJSON writes a value as one line of JSON.
func WriteJSON(w io.Writer, v value.Value) error {
	text, err := JSON(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text+"\n")
	return err
}

// JSON returns a value as compact JSON with sorted keys.
func JSON(v value.Value) (string, error) {
	var b bytes.Buffer
	err := jsonValue(&b, v)
	return b.String(), err
}

func jsonValue(b *bytes.Buffer, v value.Value) error {
	switch v := v.(type) {
	case value.Bool, value.Int:
		text, _ := value.SimpleText(v)
		b.WriteString(text)
	case value.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("JSON cannot express the number %v", float64(v))
		}
		return jsonScalar(b, float64(v))
	case value.String:
		return jsonScalar(b, v.Text)
	case value.Bytes:
		return jsonScalar(b, base64.StdEncoding.EncodeToString(v))
	case *value.List:
		return jsonList(b, v)
	case *value.Map:
		return jsonMap(b, v)
	case value.Opaque:
		return jsonValue(b, v.Plain())
	default:
		b.WriteString("null")
	}
	return nil
}

func jsonScalar(b *bytes.Buffer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	b.Write(text)
	return nil
}

func jsonList(b *bytes.Buffer, l *value.List) error {
	b.WriteByte('[')
	first := true
	for _, item := range l.Items {
		if value.IsUndefined(item.Value) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if err := jsonValue(b, item.Value); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func jsonMap(b *bytes.Buffer, m *value.Map) error {
	b.WriteByte('{')
	first := true
	for i, key := range m.Keys {
		if value.IsUndefined(m.Items[i].Value) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if err := jsonScalar(b, key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := jsonValue(b, m.Items[i].Value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}
