package yamlio

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// FromGo turns plain Go data (as encoding/json produces it) into a value. With
// data set, its texts are never expressions.
func FromGo(v any, data bool) (value.Value, error) {
	switch v := v.(type) {
	case nil:
		return value.Null{}, nil
	case bool:
		return value.Bool(v), nil
	case string:
		return value.String{Text: v, Data: data}, nil
	case []byte:
		return value.Bytes(v), nil
	case int:
		return value.Int(v), nil
	case int32:
		return value.Int(v), nil
	case int64:
		return value.Int(v), nil
	case uint64:
		return fromUnsigned(v), nil
	case float64:
		return fromFloat(v), nil
	case json.Number:
		return Plain(v.String()), nil
	case []any:
		return fromList(v, data)
	case []string:
		return fromTexts(v, data), nil
	case map[string]any:
		return fromMap(v, data)
	case value.Value:
		return v, nil
	}
	return nil, errors.New("data must be strings, numbers, booleans, lists and maps of them, or nothing")
}

// fromUnsigned makes a float of what is too large for an integer.
func fromUnsigned(u uint64) value.Value {
	if u > math.MaxInt64 {
		return value.Float(u)
	}
	return value.Int(u)
}

// fromFloat keeps integral numbers of data structures as integers, because
// JSON knows only one kind of number.
func fromFloat(f float64) value.Value {
	if i, certain := number.Certain(f); certain {
		return value.Int(i)
	}
	return value.Float(f)
}

func fromList(list []any, data bool) (value.Value, error) {
	items := make([]*value.Node, len(list))
	for i, entry := range list {
		v, err := FromGo(entry, data)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		items[i] = value.New(v)
	}
	return value.NewList(items), nil
}

func fromTexts(texts []string, data bool) value.Value {
	items := make([]*value.Node, len(texts))
	for i, s := range texts {
		items[i] = value.New(value.String{Text: s, Data: data})
	}
	return value.NewList(items)
}

func fromMap(m map[string]any, data bool) (value.Value, error) {
	b := value.NewBuilder(len(m))
	b.Data = data
	for _, k := range slices.Sorted(maps.Keys(m)) {
		entry := m[k]
		v, err := FromGo(entry, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		b.SetValue(k, v)
	}
	return b.Map(), nil
}

// ToGo turns a value into plain Go data: nil, bool, int64, float64, string,
// []any and map[string]any.
func ToGo(v value.Value) any {
	switch v := v.(type) {
	case value.Bool:
		return bool(v)
	case value.Int:
		return int64(v)
	case value.Float:
		return float64(v)
	case value.String:
		return v.Text
	case value.Bytes:
		return []byte(v)
	case *value.List:
		list := make([]any, 0, len(v.Items))
		for _, n := range v.Items {
			if !value.IsUndefined(n.Value) {
				list = append(list, ToGo(n.Value))
			}
		}
		return list
	case *value.Map:
		m := make(map[string]any, v.Len())
		for i, k := range v.Keys {
			if !value.IsUndefined(v.Items[i].Value) {
				m[k] = ToGo(v.Items[i].Value)
			}
		}
		return m
	case value.Opaque:
		return ToGo(v.Plain())
	}
	return nil
}
