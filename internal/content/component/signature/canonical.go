package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// entryLists writes a value with each object as a list of objects with one entry,
// sorted by key.
func entryLists(value any) ([]byte, error) {
	var out bytes.Buffer
	if err := writeEntries(&out, value); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeEntries(out *bytes.Buffer, value any) error {
	switch value := value.(type) {
	case map[string]any:
		return writeList(out, slices.Sorted(maps.Keys(value)), func(key string) error {
			// The encoder's own escapes are part of the form.
			name, err := json.Marshal(key)
			if err != nil {
				return fmt.Errorf("normalise: %w", err)
			}
			out.WriteByte('{')
			out.Write(name)
			out.WriteByte(':')
			if err := writeEntries(out, value[key]); err != nil {
				return err
			}
			out.WriteByte('}')
			return nil
		})
	case []any:
		return writeList(out, value, func(item any) error { return writeEntries(out, item) })
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("normalise: %w", err)
	}
	out.Write(text)
	return nil
}

func writeList[T any](out *bytes.Buffer, items []T, write func(T) error) error {
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := write(item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// canonical writes a value as RFC 8785 demands.
func canonical(value any) ([]byte, error) {
	var out bytes.Buffer
	if err := writeCanonical(&out, value); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeCanonical(out *bytes.Buffer, value any) error {
	switch value := value.(type) {
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(value), func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		out.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				out.WriteByte(',')
			}
			writeText(out, key)
			out.WriteByte(':')
			if err := writeCanonical(out, value[key]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	case []any:
		return writeList(out, value, func(item any) error { return writeCanonical(out, item) })
	case string:
		writeText(out, value)
		return nil
	case float64:
		return writeNumber(out, value)
	case bool, nil:
		text, err := json.Marshal(value)
		out.Write(text)
		if err != nil {
			return fmt.Errorf("normalise: %w", err)
		}
		return nil
	}
	return errors.New("normalise: a value is neither an object, an array, a string, a number, a boolean nor null")
}

func writeText(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	for _, r := range text {
		switch r {
		case '"', '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case '\b':
			out.WriteString(`\b`)
		case '\t':
			out.WriteString(`\t`)
		case '\n':
			out.WriteString(`\n`)
		case '\f':
			out.WriteString(`\f`)
		case '\r':
			out.WriteString(`\r`)
		default:
			if r < ' ' {
				fmt.Fprintf(out, `\u%04x`, r)
				continue
			}
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// writeNumber writes a number as ECMAScript does.
func writeNumber(out *bytes.Buffer, number float64) error {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return fmt.Errorf("normalise: %v is no JSON number", number)
	}
	if number == 0 {
		out.WriteByte('0')
		return nil
	}
	if size := math.Abs(number); size >= 1e-6 && size < 1e21 {
		out.WriteString(strconv.FormatFloat(number, 'f', -1, 64))
		return nil
	}
	text := strconv.FormatFloat(number, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	sign, digits := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	out.WriteString(mantissa + "e" + sign + digits)
	return nil
}
