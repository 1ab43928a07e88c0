package yamlio

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/value"
)

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
		return jsonText(b, v.Text)
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

// jsonText escapes what JSON allows in a text, but YAML does not: we read JSON as YAML,
// and so do others.
func jsonText(b *bytes.Buffer, text string) error {
	var escaped bytes.Buffer
	if err := jsonScalar(&escaped, text); err != nil {
		return err
	}
	if !strings.ContainsFunc(text, unreadable) {
		b.Write(escaped.Bytes())
		return nil
	}
	for _, r := range escaped.String() {
		if unreadable(r) {
			fmt.Fprintf(b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return nil
}

// unreadable reports whether YAML does not take a character as it is inside of quotes.
func unreadable(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff
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
		if err := jsonText(b, key); err != nil {
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
