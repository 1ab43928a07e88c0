package worklimit

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// maxDepth bounds values.
const maxDepth = 500

// Weight is the size of a value with everything in it. Shared parts count as often as they occur,
// because they are written so often.
type Weight struct{ Bytes, Nodes, Depth int64 }

var errDepth = errors.New("a value is nested too deeply or contains itself")

// Measure returns the weight of values that a function follows to their leaves.
func (m *Meter) Measure(values ...any) (Weight, error) {
	found := measurement{most: m.Limits.Text}
	for _, value := range values {
		if err := found.add(value, 1); err != nil {
			return Weight{}, &failure.Refusal{Reason: err.Error()}
		}
	}
	return found.Weight, nil
}

type measurement struct {
	Weight
	most int64
}

func (m *measurement) add(value any, depth int64) error {
	m.Nodes++
	m.Depth = max(m.Depth, depth)
	if m.Bytes+m.Nodes > m.most {
		return fmt.Errorf("a value is longer than %d bytes", m.most)
	}
	if depth > maxDepth {
		return errDepth
	}
	switch value := value.(type) {
	case nil, bool, int, int64, float64:
		m.Bytes += 8
	case string:
		m.Bytes += int64(len(value))
	case json.Number:
		m.Bytes += int64(len(value))
	case map[string]any:
		for key, field := range value {
			m.Bytes += int64(len(key))
			if err := m.add(field, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range value {
			if err := m.add(element, depth+1); err != nil {
				return err
			}
		}
	default:
		return m.other(reflect.ValueOf(value), depth)
	}
	return nil
}

func (m *measurement) other(value reflect.Value, depth int64) error {
	m.Bytes += 64
	switch value.Kind() {
	case reflect.String:
		m.Bytes += int64(value.Len())
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			m.Bytes += int64(value.Len())
			return nil
		}
		for i := range value.Len() {
			if err := m.add(value.Index(i).Interface(), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for iter := value.MapRange(); iter.Next(); {
			if err := m.add(iter.Key().Interface(), depth+1); err != nil {
				return err
			}
			if err := m.add(iter.Value().Interface(), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
